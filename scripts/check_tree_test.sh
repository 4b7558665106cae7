#!/bin/sh
# Tests check_tree.sh: a small tree that keeps every rule passes; then each planted fault is reported, and nothing else.
set -eu
check=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)/check_tree.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# file NAME LINE...: writes a file of the tree.
file() {
  mkdir -p "$tree/$(dirname "$1")"
  name=$1
  shift
  printf '%s\n' "$@" >"$tree/$name"
}

# lines N: N lines of text.
lines() { awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print "// line " i }'; }

# --- What is allowed ---
file include/tilewright/error.h '#include <string>' '#include <cstdint>'
file include/tilewright/dsl.h '#include "tilewright/error.h"' '#include <source_location>'
file src/base/check.h '#include "tilewright/error.h"'
file src/base/error.cpp '#include "base/check.h"' '#include <fmt/format.h>'
file src/numeric/ops.h '#include "base/check.h"'
file src/ir/node.h '#include "numeric/ops.h"' '#include "layout/layout.h"'
file src/dsl/trace.cpp '#include "tilewright/dsl.h"' '#include "ir/node.h"'
file src/machine/caps.h '#include "ir/node.h"' '#include "runtime/plan.h"'
file src/pass/place.cpp '#include "machine/caps.h"' '// The limit of 65,535 is that of cuda.' \
  'int relationship, pitched, scpu, metallic;' 'auto u = "https://x.org/a";'
file src/pass/lower.cpp '#include "pass/lower.h"'
file src/target/cuda/emit.cpp '#include "target/cuda/emit.h"' '#include "target/common/printer.h"' '#include "pass/passes.h"' \
  'auto text = R"(' '#include "target/ascend/inside_a_raw_string.h"' ')";' 'auto one = R"x(a)x";' '#include "base/check.h"'
file src/target/common/emulator/simt/thread.h '#include "warp.h"'
file src/target/common/emulator/simt/warp.h '#include <vector>'
file src/jit/compile.cpp '#include "target/cuda/emit.h"' '#include "dsl/trace.h"' '#include "tilewright/jit.h"'
file src/kernels/gemm.cpp '#include "kernels/tiles.h"' '#include "tilewright/dsl.h"' '#include <vector>'
file tools/main.cpp '#include "commands.h"' '#include "tilewright/error.h"' '#include <CLI/CLI.hpp>'
file tools/commands.h '#include <string>'
file test/unit/ir/node_test.cpp '#include "ir/node.h"' '#include "target/cuda/emit.h"'
# shellcheck disable=SC2016  # the text is meant as it stands
file docs/index.md 'Put it in /usr/lib or ${TMPDIR:-/tmp}.' 'A method, a todos list.' 'The cache is /tmp/tilewright-UID.'
lines 800 >"$tree/src/ir/long_enough.cpp"
mkdir "$tree/build"
file build/generated.cpp '#include "nothing/at_all.h"'
if ! out=$("$check" "$tree"); then
  printf 'a tree without faults was refused:\n%s\n' "$out"
  exit 1
fi

# --- One fault of each kind; expect says the start of the line that reports it ---
expect() { printf '%s\n' "$*" >>"$tree.expected"; }
trap 'rm -rf "$tree" "$tree.expected" "$tree.got"' EXIT

file include/tilewright/bad.h '#pragma once' '#include "base/check.h"' '#include <fmt/format.h>'
expect 'include/tilewright/bad.h:2: includes "base/check.h"; a public header may include only public headers'
expect 'include/tilewright/bad.h:3: includes <fmt/format.h>; a public header may include only public headers'
file src/base/bad.h '#include "ir/node.h"'
expect 'src/base/bad.h:1: includes "ir/node.h"; src/base may include nothing of ours but the public headers of base'
file src/layout/bad.h '#include "numeric/ops.h"'
expect 'src/layout/bad.h:1: includes "numeric/ops.h"; src/layout may include: base'
file src/ir/bad.cpp '// two faults' '#  include "tilewright/dsl.h"' '#include "node.h"'
expect 'src/ir/bad.cpp:2: includes "tilewright/dsl.h" (of dsl); src/ir may include: numeric layout base'
expect 'src/ir/bad.cpp:3: includes "node.h"; write it relative to include/ or src/'
file src/runtime/bad.cpp '#include "../ir/node.h"'
expect 'src/runtime/bad.cpp:1: includes "../ir/node.h"; write it relative to include/ or src/'
file src/pass/bad.cpp '#include "dsl/trace.h"' 'if (name == "cuda") return;' 'bool isAscendLike = false;' 'int WEBGPU_LIMIT;'
expect 'src/pass/bad.cpp:1: includes "dsl/trace.h"; src/pass may include: machine ir runtime numeric layout base'
expect 'src/pass/bad.cpp:2: names the target "cuda"'
expect 'src/pass/bad.cpp:3: names the target "ascend"'
expect 'src/pass/bad.cpp:4: names the target "webgpu"'
file src/target/ascend/bad.cpp '#include "target/cuda/emit.h"' '#include "jit/compile.h"'
expect 'src/target/ascend/bad.cpp:1: includes "target/cuda/emit.h"; src/target/ascend may include its own folder, target/common and:'
expect 'src/target/ascend/bad.cpp:2: includes "jit/compile.h"; src/target/ascend may include'
file src/target/common/bad.cpp '#include "target/cuda/emit.h"'
expect 'src/target/common/bad.cpp:1: includes "target/cuda/emit.h"'
file src/target/cuda/bad.cpp '#include "pass/lower.h"'
expect 'src/target/cuda/bad.cpp:1: includes "pass/lower.h"; only src/pass may include it; others include pass/passes.h'
file src/jit/bad.cpp '#include "kernels/gemm.h"'
expect 'src/jit/bad.cpp:1: includes "kernels/gemm.h"; src/jit may include: target'
file src/kernels/bad.cpp '#include "jit/compile.h"'
expect 'src/kernels/bad.cpp:1: includes "jit/compile.h"; src/kernels may include only public headers ("tilewright/...") and its own folder'
file src/unheard/bad.cpp '#include "base/check.h"'
expect 'src/unheard/bad.cpp:1: includes "base/check.h"; src/unheard has no line in the table'
file tools/bad.cpp '#include "base/check.h"'
expect 'tools/bad.cpp:1: includes "base/check.h"; tools may include only public headers'
file examples/bad.cpp '#include "ir/node.h"'
expect 'examples/bad.cpp:1: includes "ir/node.h"; examples may include only public headers'
lines 801 >"$tree/test/unit/ir/too_long_test.cpp"
expect 'test/unit/ir/too_long_test.cpp:801: the file is longer than 800 lines'
for folder in work home root tmp; do
  file "docs/bad_$folder.md" "" "See /$folder/notes."
  expect "docs/bad_$folder.md:2: names a path outside the repository: See /$folder/notes."
done
# Spelt in two parts, so that this file itself is no fault.
file docs/unfinished.md "TO""DO: write" "FIX""ME"
expect "docs/unfinished.md:1: a note of unfinished work: TO""DO: write"
expect "docs/unfinished.md:2: a note of unfinished work"

if "$check" "$tree" >"$tree.got"; then
  echo "a tree with faults was accepted"
  exit 1
fi
wrong=0
while IFS= read -r line; do
  grep -qF -- "$line" "$tree.got" || {
    echo "not reported: $line"
    wrong=1
  }
done <"$tree.expected"
want=$(wc -l <"$tree.expected")
grep -qF "check_tree: $want faults" "$tree.got" || wrong=1
if [ $wrong -ne 0 ]; then
  printf 'wanted %d faults; check_tree.sh printed:\n' "$want"
  cat "$tree.got"
  exit 1
fi
echo "check_tree_test: each of $want planted faults is reported, and no other"
