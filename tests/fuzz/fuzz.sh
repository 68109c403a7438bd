#!/usr/bin/env bash
# Every reader of outside bytes under libFuzzer, from the stored corpus and the reader's own seeds; then what the inputs cover
# of the readers in io. Ends with 1 if an input crashed a reader, hung it, took over 2.5 GB or leaked, or if less is covered
# than coverage.py asks for. Called by tests/run.sh --fuzz SECONDS.
#
#   bash tests/fuzz/fuzz.sh SECONDS [READER...]   all readers unless some are named; SECONDS 0 only measures what is covered
#
# What was found stays in build/fuzz/found, the grown corpus in build/fuzz/corpus: store_corpus.sh stores it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
shift

bash apps/install_packages.sh clang llvm libclang-rt-14-dev
cmake --preset fuzz
cmake --build --preset fuzz
program=build/fuzz/bin/voxshard_fuzz
corpus=build/fuzz/corpus found=build/fuzz/found profiles=build/fuzz/profiles logs=build/fuzz/logs
export program corpus found profiles logs seconds
unset VOXSHARD_TEST_DATA  # only seeds of our own making: the corpus is stored, and what it covers is the same everywhere
export LLVM_PROFILE_FILE=/dev/null  # but where a profile is wanted
export ASAN_OPTIONS="allocator_may_return_null=1:${ASAN_OPTIONS:-}"
mkdir -p "$corpus" "$found" "$profiles" "$logs"
if [ $# -gt 0 ]; then readers=("$@"); else mapfile -t readers < <("$program" list); fi

# Fuzzes one reader, then runs it over its corpus for the profile of what is covered.
fuzz_reader() {
  local reader=$1 status=0
  mkdir -p "$corpus/$reader"
  if [ -e "tests/fuzz/corpus/$reader.tar.xz" ]; then
    cmake -E chdir "$corpus/$reader" cmake -E tar xf "$PWD/tests/fuzz/corpus/$reader.tar.xz"
  fi
  "$program" "$reader" seeds "$corpus/$reader"
  if [ "$seconds" -gt 0 ]; then
    "$program" "$reader" "$corpus/$reader" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2560 \
      -print_final_stats=1 -verbosity=1 -artifact_prefix="$found/$reader." >"$logs/$reader" 2>&1 || status=$?
    local inputs
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$reader")
    printf '%-24s %9s inputs, %5s kept%s\n' "$reader" "${inputs:-?}" "$(ls "$corpus/$reader" | wc -l)" \
      "$([ "$status" -eq 0 ] || echo "  FAILED, see $logs/$reader and $found/$reader.*")"
  fi
  LLVM_PROFILE_FILE="$profiles/$reader.profraw" "$program" "$reader" "$corpus/$reader" -runs=0 -timeout=60 -rss_limit_mb=2560 \
    >"$logs/$reader.covered" 2>&1 || { status=1; echo "$reader: an input of the corpus fails, see $logs/$reader.covered"; }
  return "$status"
}
export -f fuzz_reader

status=0
printf '%s\0' "${readers[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'fuzz_reader "$1" || exit 1' fuzz || status=1
llvm-profdata merge -sparse "$profiles"/*.profraw -o build/fuzz/covered.profdata
if [ $# -eq 0 ]; then
  python3 tests/fuzz/coverage.py "$program" build/fuzz/covered.profdata || status=1
fi
exit "$status"
