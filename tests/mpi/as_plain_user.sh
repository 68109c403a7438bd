#!/usr/bin/env bash
# Runs tests of MPI as the user nobody, in copies of the programs that this user can read.
#
#   tests/mpi/as_plain_user.sh build/release/bin 'MpiRanks.*'
#
# Exits with 77, and says why, where nothing of that can be done: not root (then all tests ran as a plain user), no MPI.
set -euo pipefail
programs=$1 filter=$2

skip() { printf "%s: Skipped\n%s\n" "$0" "$1"; exit 77; }  # as GoogleTest says it
[ "$(id -u)" -eq 0 ] || skip "not root: all tests run as a plain user"
command -v runuser >/dev/null || skip "no runuser (Debian: util-linux)"
id nobody >/dev/null 2>&1 || skip "no user nobody"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$programs"/{test_mpi,rank_program,voxshard} "$folder"
mkdir "$folder/tmp"
chown nobody "$folder/tmp"
cd "$folder/tmp"
runuser -u nobody -- env HOME="$folder/tmp" TMPDIR="$folder/tmp" "$folder/test_mpi" --gtest_filter="$filter" | tee log.txt
! grep -q '^\[  SKIPPED \]' log.txt || skip "$(grep -A1 ': Skipped$' log.txt | tail -n 1)"
grep -q '^\[  PASSED  \] [1-9]' log.txt
