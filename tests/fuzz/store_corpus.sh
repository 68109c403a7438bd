#!/usr/bin/env bash
# Stores the corpus that fuzz.sh grew, made as small as covers the same, as tests/fuzz/corpus/READER.tar.xz: inputs of at most
# 16 KiB. The tests run every reader over its stored corpus.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=build/fuzz/bin/voxshard_fuzz
export LLVM_PROFILE_FILE=/dev/null ASAN_OPTIONS=allocator_may_return_null=1
mkdir -p tests/fuzz/corpus
small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
for reader in $("$program" list); do
  rm -rf "${small:?}/$reader"
  mkdir "$small/$reader"
  "$program" "$reader" "$small/$reader" "build/fuzz/corpus/$reader" -merge=1 -max_len=16384 -timeout=60 -rss_limit_mb=2560 2>/dev/null
  tar -C "$small/$reader" --sort=name --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -c . | xz -9 >"tests/fuzz/corpus/$reader.tar.xz"
  echo "$reader: $(ls "$small/$reader" | wc -l) inputs, $(stat -c %s "tests/fuzz/corpus/$reader.tar.xz") bytes"
done
