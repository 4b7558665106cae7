#!/usr/bin/env bash
# What tilewright/dsl.h costs a file that includes nothing else: the best of three user times of g++ -fsyntax-only must be
# under one second, and none of our headers that it reaches may include a costly standard header.
# Exits 77 (skipped) while the header does not exist.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=1.0
costly='functional|memory|iostream|sstream|regex'
compiler=${CXX:-g++}

if [ ! -f include/tilewright/dsl.h ]; then
  echo "check_dsl_cost: skipped: there is no include/tilewright/dsl.h"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '#include "tilewright/dsl.h"' >"$folder/only_dsl.cpp"
flags=(-std=c++20 -Iinclude)
failed=0

ours=$("$compiler" "${flags[@]}" -MM "$folder/only_dsl.cpp" | tr -s ' ' '\n' | grep '^include/')
# shellcheck disable=SC2086  # a list of names without spaces
if grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<($costly)>" /dev/null $ours; then
  echo "check_dsl_cost: the headers above are reached from tilewright/dsl.h and may not include <${costly//|/>, <}>"
  failed=1
fi

TIMEFORMAT=%U
for _ in 1 2 3; do
  { time "$compiler" "${flags[@]}" -fsyntax-only "$folder/only_dsl.cpp" 2>"$folder/errors"; } 2>"$folder/seconds" || {
    cat "$folder/errors"
    echo "check_dsl_cost: tilewright/dsl.h does not compile alone"
    exit 1
  }
  cat "$folder/seconds" >>"$folder/all"
done
best=$(sort -n "$folder/all" | head -n 1)
lines=$("$compiler" "${flags[@]}" -E -P "$folder/only_dsl.cpp" | wc -l)
echo "check_dsl_cost: $best s of user time (limit $limit s), $lines lines after the preprocessor, $(wc -w <<<"$ours") headers of ours"
if awk -v t="$best" -v limit=$limit 'BEGIN { exit !(t + 0 >= limit) }'; then
  echo "check_dsl_cost: too slow: every kernel file pays this"
  failed=1
fi
exit $failed
