#!/usr/bin/env bash
# Builds voxshard and runs its fast tests; the last lines say what was left out and why (no data: VOXSHARD_TEST_DATA names
# them; no ffmpeg, no MPI, no right to make network namespaces), and how many passed and failed. Fails if a test fails.
#
#   bash tests/run.sh                 fast tests, release build
#   bash tests/run.sh --slow          slow tests too
#   bash tests/run.sh --asan          in the address and undefined-behaviour sanitizer build
#   VOXSHARD_MPI=OFF bash tests/run.sh   without MPI, which is then not installed
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
exclude='slow|bench'
for option in "$@"; do
  case "$option" in
    --slow) exclude='bench' ;;
    --asan)
      preset=asan
      # oneDNN's AMX kernels read one entry behind a table of their own as they are made, which the sanitizer's heap reports at times.
      export ONEDNN_MAX_CPU_ISA=${ONEDNN_MAX_CPU_ISA:-AVX512_CORE_BF16} ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "unknown option $option; try --help" >&2; exit 2 ;;
  esac
done

bash apps/install_packages.sh
cmake --preset "$preset" -DVOXSHARD_MPI="${VOXSHARD_MPI:-ON}"
cmake --build --preset "$preset"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
ctest --preset "$preset" -LE "$exclude" -j "$(nproc)" | tee "$log" || status=$?
count() { grep -cE "^ *[0-9]+/[0-9]+ Test .*$1" "$log" || true; }
skipped=$(count '\*\*\*Skipped')
all=$(count '')
passed=$(count ' Passed ')
grep -A1 ': Skipped$' "build/$preset/Testing/Temporary/LastTest.log" | grep -vE ': Skipped$|^--$' | sort | uniq -c | sort -rn |
  sed 's/^ */skipped: /; s/^\(skipped: [0-9]*\) /\1 x /' || true
echo "$passed of $all tests passed, $((all - passed - skipped)) failed ($skipped skipped)"
exit "$status"
