#pragma once
// Hand-written kernel texts and a way to run them, shared by the emulator's tests.
#include <map>
#include <string>
#include <vector>

#include "target/common/emulator/simt/simt.h"

namespace tilewright::simt {

/// c[i] = a[i] + 1 for i < n, through shared memory; 128 elements a block.
inline const char* kVectorAdd = R"(
extern "C" __global__ void __launch_bounds__(128) vector_add(tw::global<const float> A, tw::global<float> C, long long n) {
  tw::shared<float> a = tw::shared_at<float>(0, 128, "a");
  for (long long i = threadIdx.x; i < 128; i += blockDim.x) a[i] = blockIdx.x * 128 + i < n ? (float)A[blockIdx.x * 128 + i] : 0.0f;
  __syncthreads();  // 1
  for (long long i = threadIdx.x; i < 128; i += blockDim.x) {
    long long at = blockIdx.x * 128 + i;
    if (at < n) C[at] = a[127 - (127 - i)] + 1.0f;
  }
}
)";

/// c[i] = a[n - 1 - i] inside each block of blockDim.x elements.
inline const char* kReverse = R"(
__global__ void reverse(tw::global<const int> A, tw::global<int> C) {
  tw::shared<int> s = tw::shared_at<int>(0, blockDim.x, "s");
  int t = threadIdx.x, n = blockDim.x;
  s[t] = A[blockIdx.x * n + t];
  tw::barrier();  // 1
  C[blockIdx.x * n + t] = s[n - 1 - t];
}
)";

/// out[block] = sum of `per_block` elements; a tree over a thread count that need not be a power of two.
inline const char* kBlockSum = R"(
__global__ void block_sum(tw::global<const float> A, tw::global<float> out, int per_block) {
  tw::shared<float> s = tw::shared_at<float>(0, blockDim.x, "s");
  int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < per_block; i += blockDim.x) sum += A[(long long)blockIdx.x * per_block + i];
  s[t] = sum;
  for (int n = blockDim.x; n > 1;) {
    int half = (n + 1) / 2;
    tw::barrier();  // 1
    if (t + half < n) s[t] += s[t + half];
    n = half;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
)";

/// b (columns, rows) = a (rows, columns) transposed, 16 x 16 tiles, 16 x 4 threads.
inline const char* kTranspose = R"(
__global__ void transpose(tw::global<const tw::f16> A, tw::global<tw::f16> B, int rows, int columns) {
  tw::shared<tw::f16> tile = tw::shared_at<tw::f16>(64, 16 * 17, "tile");
  int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int y = threadIdx.y; y < 16; y += 4)
    if (y0 + y < rows && x0 + threadIdx.x < columns) tile[y * 17 + threadIdx.x] = A[(y0 + y) * columns + x0 + threadIdx.x];
  tw::barrier();  // 1
  for (int y = threadIdx.y; y < 16; y += 4)
    if (x0 + y < columns && y0 + threadIdx.x < rows) B[(x0 + y) * rows + y0 + threadIdx.x] = tile[threadIdx.x * 17 + y];
}
)";

/// out[t] = sum over steps of in[step][63 - t], one shared row reused by every step.
inline const char* kRowLoop = R"(
__global__ void row_loop(tw::global<const int> in, tw::global<int> out, int steps) {
  tw::shared<int> row = tw::shared_at<int>(0, 64, "row");
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < steps; ++k) {
    row[t] = in[k * 64 + t];
    tw::barrier();  // 1
    sum += row[63 - t];
    tw::barrier();  // 2
  }
  out[t] = sum;
}
)";

/// `text` without its barrier number `which` (the line that ends in "// which"); line numbers stay.
std::string without_barrier(std::string text, int which);

/// Kernels compiled one batch a test program: registered by key, compiled together at the first use.
class Batch {
 public:
  static Batch& instance();
  /// Registers a text while the program starts.
  static bool add(const char* key, const char* name, const std::string& text);
  const Kernel& operator[](const std::string& key);

 private:
  std::vector<std::string> keys_;
  std::vector<KernelText> texts_;
  std::map<std::string, Kernel> kernels_;
};

template <class T>
Argument buffer(const char* name, std::vector<T>& data) {
  return Argument::buffer(name, data.data(), static_cast<int64_t>(data.size() * sizeof(T)));
}

}  // namespace tilewright::simt
