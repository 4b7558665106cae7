#!/usr/bin/env bash
# Builds without LLVM in build-gpu/ and runs the tests labelled gpu, for a machine with an NVIDIA GPU, the CUDA toolkit, g++,
# CMake, Ninja, GoogleTest, CLI11, nlohmann-json and fmt. Installs nothing and uses no network.
#   scripts/gpu_check.sh [LOG_FOLDER]      default build-gpu/logs; configure.log, build.log, test.log and gpu.txt land there
set -euo pipefail
cd "$(dirname "$0")/.."
logs=${1:-build-gpu/logs}
mkdir -p "$logs"
jobs=$(nproc)

if ! nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader >"$logs/gpu.txt" 2>&1; then
  echo "gpu_check: no GPU: nvidia-smi says: $(head -n 1 "$logs/gpu.txt")" >&2
  exit 1
fi
echo "gpu_check: $(head -n 1 "$logs/gpu.txt")"

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
cmake --build build-gpu -j "$jobs" --target tests_gpu 2>&1 | tee "$logs/build.log"
echo "gpu_check: built in $((SECONDS - started)) s"

# One test at a time: they share one GPU.
status=0
ctest --test-dir build-gpu -L '^gpu$' --output-on-failure --no-tests=error -j 1 2>&1 | tee "$logs/test.log" || status=$?
scripts/list_skips.sh build-gpu
exit $status
