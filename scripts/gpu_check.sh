#!/usr/bin/env bash
# Builds without LLVM in build-gpu/ and runs, on a machine with an NVIDIA GPU: the tests labelled gpu, the conformance table on
# the machine `cuda`, and small conformance rows under compute-sanitizer where it runs. Needs g++, CMake, Ninja, GoogleTest,
# CLI11, nlohmann-json, fmt and libnvrtc. Installs nothing and uses no network.
#   scripts/gpu_check.sh [LOG_FOLDER]      default build-gpu/logs
# LOG_FOLDER gets configure.log, build.log, test.log, conformance.log, one for each tool of the sanitizer, run.log, and cuda.json and cuda.md, which
# also land in bench/results. TILEWRIGHT_COMMIT names the commit where the folder is no git repository.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=${1:-build-gpu/logs}
mkdir -p "$logs"
jobs=$(nproc)

if ! gpu=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1); then
  echo "gpu_check: no GPU: nvidia-smi says: $gpu" >&2
  exit 1
fi
IFS=, read -r device driver memory <<<"$(head -n 1 <<<"$gpu" | sed 's/, */,/g')"
echo "gpu_check: $device, driver $driver, $memory"

# The run-time compiler of the toolkit, unless the caller names another.
if [ -z "${TILEWRIGHT_NVRTC:-}" ]; then
  toolkit=${CUDA_HOME:-/usr/local/cuda}
  [ -d "$toolkit" ] && export TILEWRIGHT_NVRTC=$toolkit
fi

cmake -S . -B build-gpu -G Ninja -DCMAKE_CXX_COMPILER=/usr/bin/g++ -DCMAKE_BUILD_TYPE=Release -DTW_WITH_LLVM=OFF 2>&1 |
  tee "$logs/configure.log" | grep -A9 '^-- Tilewright' || {
  cat "$logs/configure.log"
  exit 1
}
started=$SECONDS
if ! cmake --build build-gpu -j "$jobs" --target tests_gpu tests_conformance tilewright bench_cuda >"$logs/build.log" 2>&1; then
  tail -n 60 "$logs/build.log"
  exit 1
fi
echo "gpu_check: built in $((SECONDS - started)) s"

status=0
# verdict NAME COMMAND...: runs the command with its output in NAME.log and keeps what it says last.
verdicts=()
verdict() {
  local name=$1 result=passed
  shift
  started=$SECONDS
  "$@" >"$logs/$name.log" 2>&1 || { result="FAILED with status $?"; status=1; }
  [ "$result" = passed ] || tail -n 60 "$logs/$name.log"
  counts=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\.$/\1 passed/p; s/^\[  FAILED  \] \([0-9]*\) tests\{0,1\}, listed.*/\1 failed/p; s/^\[  SKIPPED \] \([0-9]*\) tests\{0,1\}, listed.*/\1 skipped/p; s/^=* *\(ERROR SUMMARY.*\)/\1/p; s/^=* *\(RACECHECK SUMMARY.*\)/\1/p' "$logs/$name.log" | paste -sd, | sed 's/,/, /g')
  verdicts+=("$name|$*|$result|$counts|$((SECONDS - started)) s")
  echo "gpu_check: $name: $result ($counts), $((SECONDS - started)) s"
}
export TW_SOURCE_DIR=$PWD
rows='*/cuda_*-*/cuda_emulator*'
small='*/cuda_vector_add_*_129_*:*/cuda_reverse_*_129_*:*/cuda_softmax_f32_5_229_*:*/cuda_rms_norm_bf16_5_229_*:*/cuda_gemm_*_33_31_96_*:*/cuda_attention_*_1_2_1_33_33_64_*'
verdict test build-gpu/bin/gpu
verdict conformance build-gpu/bin/conformance "--gtest_filter=$rows"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck synccheck; do
    verdict "$tool" compute-sanitizer --tool "$tool" --error-exitcode 9 build-gpu/bin/conformance "--gtest_filter=$small"
  done
  # The instrument itself: a text without its barrier must be reported.
  reported() { ! "$@"; }
  verdict planted reported compute-sanitizer --tool racecheck --error-exitcode 9 build-gpu/bin/gpu \
    --gtest_also_run_disabled_tests --gtest_filter='*ReverseWithoutItsBarrier'
else
  verdicts+=("sanitizer|compute-sanitizer|not installed||")
fi
verdict run build-gpu/bin/tilewright run -t cuda --json "$logs/rows.json"
# cuBLAS and the run-time library are found by name.
export LD_LIBRARY_PATH=${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
verdict speed build-gpu/bin/bench_cuda
grep '^{' "$logs/speed.log" >"$logs/speed.jsonl" || true

machine=$(build-gpu/bin/tilewright devices | sed -n 's/^cuda  *cuda  *NVIDIA GPU  *yes  *//p')
commit=${TILEWRIGHT_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
{
  printf '{\n  "device": "%s",\n  "driver": "%s",\n  "machine": "%s",\n  "commit": "%s",\n  "checks": [\n' \
    "$device" "$driver" "$machine" "$commit"
  for i in "${!verdicts[@]}"; do
    IFS='|' read -r name command result counts seconds <<<"${verdicts[$i]}"
    printf '    {"name": "%s", "command": "%s", "result": "%s", "counts": "%s", "time": "%s"}%s\n' \
      "$name" "${command//\"/\\\"}" "$result" "$counts" "$seconds" "$([ "$i" -lt $((${#verdicts[@]} - 1)) ] && echo ,)"
  done
  printf '  ],\n  "rows": '
  cat "$logs/rows.json"
  printf ',\n  "speed": [\n'
  sed -e 's/^/    /' -e '$!s/$/,/' "$logs/speed.jsonl"
  printf '  ]\n}\n'
} >"$logs/cuda.json"
{
  printf '# CUDA on a GPU\n\nMade by `scripts/gpu_check.sh` at commit %s: %s, driver %s; the machine: %s.\n\n' \
    "$commit" "$device" "$driver" "$machine"
  printf '| check | command | result | counts | time |\n|---|---|---|---|---|\n'
  for line in "${verdicts[@]}"; do
    IFS='|' read -r name command result counts seconds <<<"$line"
    printf '| %s | `%s` | %s | %s | %s |\n' "$name" "$command" "$result" "$counts" "$seconds"
  done
  printf '\nThe small programs through `tilewright run -t cuda` (correctness):\n\n```\n'
  grep -v '^\[' "$logs/run.log"
  printf '```\n\nSpeed (`build-gpu/bin/bench_cuda`: medians of launches with a wait after each; the ratio is the time of the peer by ours):\n\n'
  printf '| kernel | case | type | time, us | TFLOP/s | GB/s | peer | its time, us | ratio |\n|---|---|---|---|---|---|---|---|---|\n'
  sed -E 's/\{"family": "([^"]*)", "case": "([^"]*)", "type": "([^"]*)", "us": ([^,]*), "tflops": ([^,]*), "gbs": ([^,]*), "peer": "([^"]*)", "peer_us": ([^,]*), "ratio": ([^}]*)\}/| \1 | \2 | \3 | \4 | \5 | \6 | \7 | \8 | \9 |/' \
    "$logs/speed.jsonl"
} >"$logs/cuda.md"
mkdir -p bench/results
cp "$logs/cuda.json" "$logs/cuda.md" bench/results/
exit $status
