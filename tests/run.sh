#!/usr/bin/env bash
# Builds voxshard and runs its fast tests; the last lines are ctest's counts. Fails if a test fails.
#
#   bash tests/run.sh                 fast tests, release build
#   bash tests/run.sh --slow          slow tests too
#   bash tests/run.sh --asan          in the address and undefined-behaviour sanitizer build
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
exclude='slow|bench'
for option in "$@"; do
  case "$option" in
    --slow) exclude='bench' ;;
    --asan) preset=asan ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "unknown option $option; try --help" >&2; exit 2 ;;
  esac
done

bash apps/install_packages.sh
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" -LE "$exclude" -j "$(nproc)"
