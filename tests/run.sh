#!/usr/bin/env bash
# Builds voxshard and runs its tests; the last lines say what was left out and why (no data: VOXSHARD_TEST_DATA names them; no
# ffmpeg, no chromium, no MPI, no right to make network namespaces), and how many passed and failed. Fails if a test fails.
#
#   bash tests/run.sh                 the fast tests; those of kernels, parity, models and verify once per instruction set
#                                     that the processor has, the others once
#   bash tests/run.sh --slow          the fast tests and the slow ones
#   bash tests/run.sh --asan          the fast tests in the address and undefined-behaviour sanitizer build
#   bash tests/run.sh --tsan          tests of kernels, runtime, ranks, engine, training and readers in the thread sanitizer build
#   bash tests/run.sh --fuzz SECONDS  every reader of outside bytes under libFuzzer for so long, and what that covers
#   bash tests/run.sh --hospital      what is read from DICOM, held against pydicom, dcm2niix and plastimatch; nnU-Net's numbers against SciPy
#   bash tests/run.sh --package       the Debian package: made, looked at by lintian, installed in a root of its own, used, purged
#   bash tests/run.sh --debian RELEASE   the fast tests and the package in a bare root of that Debian, like trixie, by debootstrap
#   VOXSHARD_MPI=OFF bash tests/run.sh   without MPI, which is then not installed
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
what=fast
modes=0
while [ $# -gt 0 ]; do
  case "$1" in
    --slow | --hospital | --package) what=${1#--} modes=$((modes + 1)) ;;
    --asan | --tsan) preset=${1#--} modes=$((modes + 1)) ;;
    --fuzz)
      what=fuzz modes=$((modes + 1))
      case "${2:-}" in '' | *[!0-9]*) echo "--fuzz takes a number of seconds per reader; try --help" >&2; exit 2 ;; esac
      seconds=$2
      shift ;;
    --debian)
      what=debian modes=$((modes + 1))
      case "${2:-}" in '' | *[!a-z]*) echo "--debian takes the name of a release, like trixie; try --help" >&2; exit 2 ;; esac
      release=$2
      shift ;;
    -h | --help) sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "unknown option $1; try --help" >&2; exit 2 ;;
  esac
  shift
done
if [ "$modes" -gt 1 ]; then
  echo "one of --slow, --asan, --tsan, --fuzz, --hospital, --package and --debian at a time; try --help" >&2
  exit 2
fi
if [ "$what" = fuzz ]; then
  exec bash tests/fuzz/fuzz.sh "$seconds"
fi
if [ "$what" = debian ]; then
  exec bash tests/package/debian.sh "$release"
fi

bash apps/install_packages.sh
cmake --preset "$preset" -DVOXSHARD_MPI="${VOXSHARD_MPI:-ON}"
threaded=(base io kernels mpi ranks runtime check) # what the thread sanitizer is for
targets=()
if [ "$preset" = tsan ]; then targets=(--target "${threaded[@]/#/test_}" test_pipelines); fi
case "$what" in hospital | package) targets=(--target voxshard) ;; esac
cmake --build --preset "$preset" "${targets[@]}"
case "$what" in hospital | package) exec bash "tests/$what/$what.sh" ;; esac

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# What doctor measured for this user decides how a training computes: one that is written meanwhile would part equal runs.
export XDG_CONFIG_HOME="$logs/config"
# Suites that train begin with copies of the prepared data set that the first of them leaves there (tests/prepared_copy.h).
export VOXSHARD_TEST_SCENES="$logs/scenes"
mkdir "$VOXSHARD_TEST_SCENES"
status=0
runs=0
# Runs ctest with these arguments; its log is kept beside those of the runs before.
run_tests() {
  runs=$((runs + 1))
  ctest --preset "$preset" -j "$(nproc)" --no-tests=error --test-output-size-passed 100000000 --test-output-size-failed 100000000 "$@" | tee "$logs/$runs.run" || status=$?
  cp "build/$preset/Testing/Temporary/LastTest.log" "$logs/$runs.log"
}
# The instruction sets that the kernels can be limited to here, the one that they use unless told last.
instruction_sets() {
  "build/$preset/bin/voxshard" doctor --check --json --quiet |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["instruction_sets"])'
}

# oneDNN's AMX kernels read one entry behind a table of their own as they are made: the heaps of the sanitizers report that
# at times, or end there. Our own AMX kernels stay, and suites of other instruction sets run in the release build.
if [ "$preset" != release ]; then export ONEDNN_MAX_CPU_ISA=${ONEDNN_MAX_CPU_ISA:-AVX512_CORE_BF16}; fi
case "$preset" in
  tsan)
    export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp history_size=4 ${TSAN_OPTIONS:-}"
    run_tests -L "^($(IFS='|'; echo "${threaded[*]}"))\$"
    suites=$(sed -nE 's/^TEST(_F|_P)?\((\w+).*/\2/p' tests/pipelines/engine/*.cc tests/pipelines/tasks/{feed,sample_feed}_test.cc \
      tests/pipelines/training/{train_ranks,training_rows}_test.cc | sort -u | paste -sd '|')
    run_tests -R "^test_pipelines\.([A-Za-z0-9_]+/)?($suites)\$" ;;
  asan)
    run_tests -LE 'slow|verify|mpi'
    # Open MPI unloads its plugins at the end: what they leave behind has no name any more that a list could hold. What the
    # ranks compute is searched for leaks in one process.
    ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}" run_tests -L '^mpi$' ;;
  *)
    if [ "$what" = slow ]; then run_tests -LE verify; else run_tests -LE 'slow|verify'; fi
    if [ -z "${VOXSHARD_ISA:-}" ]; then
      sets=$(instruction_sets)
      for set in ${sets% *}; do
        [ "$set" != "$sets" ] || continue  # the only one
        echo "== VOXSHARD_ISA=$set"
        export VOXSHARD_ISA=$set VOXSHARD_TESTS_REPEATED=1  # what knows no instruction set has been tested
        run_tests -L '^(kernels|parity|models|check|verify)$'
      done
    fi ;;
esac

# Lines of the logs, which hold what every suite printed: a test that ended its program has begun, and neither passed nor was skipped.
count() { cat "$logs"/*.log | grep -oE "$1" | wc -l || true; }
all=$(count '\[ RUN      \] ')
passed=$(count '\[       OK \] .*\([0-9]+ ms\)')
skipped=$(count '\[  SKIPPED \] .*\([0-9]+ ms\)')
cat "$logs"/*.log | grep -A1 ': Skipped$' | grep -vE ': Skipped$|^--$' | sort | uniq -c | sort -rn |
  sed 's/^ */skipped: /; s/^\(skipped: [0-9]*\) /\1 x /' || true
# Numbers that are not whether a test passed: which random cases were verified, where planted faults were found.
if [ "$what" = slow ]; then cat "$logs"/*.log | grep -E '^(seed [0-9]+ case|\| )' || true; fi
echo "$passed of $all tests passed, $((all - passed - skipped)) failed ($skipped skipped)"
exit "$status"
