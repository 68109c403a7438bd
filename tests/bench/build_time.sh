#!/usr/bin/env bash
# tests/bench/build_time.sh OLD_TREE NEW_TREE: clean release builds of two checkouts, each with one compiler at a time, side by
# side (so other load on the machine meets both), and the ratio new / old of CPU seconds and of wall clock.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() {  # build TREE RESULT: "CPU seconds, wall seconds" into RESULT
  local TIMEFORMAT='%U %S %R'
  cmake -S "$1" -B "$work/$2.build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" >/dev/null
  { time ninja -C "$work/$2.build" -j1 >"$work/$2.log" 2>&1 || { tail -30 "$work/$2.log" >&2; exit 1; }; } 2>"$work/$2"
}
build "$1" old & old=$!
build "$2" new & new=$!
status=0
wait $old || status=1
wait $new || status=1
[ $status -eq 0 ] || { cat "$work/old" "$work/new" >&2; exit 1; }
paste -d' ' "$work/old" "$work/new" | awk '{
  printf "old %.0f s CPU, %.0f s wall; new %.0f s CPU, %.0f s wall; ratio %.3f CPU, %.3f wall\n",
         $1 + $2, $3, $4 + $5, $6, ($4 + $5) / ($1 + $2), $6 / $3 }'
