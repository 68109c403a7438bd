#!/usr/bin/env bash
# Runs tests of MPI as the user nobody, in copies of the programs that this user can read.
#
#   tests/mpi/as_plain_user.sh build/release/bin 'MpiRanks.*'
#
# Exits with 77, and says why, where nothing of that can be done: not root (then all tests ran as a plain user), root that
# may not become another user, no programs in the folder of temporary files, no MPI.
set -euo pipefail
programs=$1 filter=$2

skip() { printf "%s: Skipped\n%s\n" "$0" "$1"; exit 77; }  # as GoogleTest says it
[ "$(id -u)" -eq 0 ] || skip "not root: all tests run as a plain user"
command -v runuser >/dev/null || skip "no runuser (Debian: util-linux)"
id nobody >/dev/null 2>&1 || skip "no user nobody"
why=$(runuser -u nobody -- true 2>&1) || skip "no right to become the user nobody (CAP_SETUID, CAP_SETGID): $why"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$(type -P true)" "$folder/try"
why=$(runuser -u nobody -- "$folder/try" 2>&1) || skip "no programs run as nobody in ${TMPDIR:-/tmp} (noexec, or closed to others): $why"
cp "$programs"/{test_mpi,rank_program,voxshard} "$folder"
mkdir "$folder/tmp"
chown nobody "$folder/tmp"
cd "$folder/tmp"
runuser -u nobody -- env HOME="$folder/tmp" TMPDIR="$folder/tmp" "$folder/test_mpi" --gtest_filter="$filter" | tee log.txt
! grep -q '^\[  SKIPPED \]' log.txt || skip "$(grep -A1 ': Skipped$' log.txt | tail -n 1)"
grep -q '^\[  PASSED  \] [1-9]' log.txt
