#include <gtest/gtest.h>

#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

TEST(CpuLoops, VectorAddOfAnOddSize) {
  TestKernel add(R"(kernel vadd stage loops {
    scalar n: i64
    param A: f32[n] strides [1]
    param B: f32[n] strides [1]
    param C: f32[n] strides [1]
    for blocks b in ceildiv(n, 128) {
      for parallel i in min(128, (n - (b * 128))) {
        store C[((b * 128) + i)] = (A[((b * 128) + i)] + B[((b * 128) + i)])
      }
    }
  })");
  for (int64_t n : {1, 127, 128, 129, 1000}) {
    std::vector<float> a(n), b(n), c(n + 2, -7.f);
    for (int64_t i = 0; i < n; ++i) a[i] = float(i), b[i] = float(3 * i + 1);
    add({tensor(a, f32, {n}), tensor(b, f32, {n}), Tensor{c.data() + 1, f32, {n}, {}}});
    EXPECT_EQ(c[0], -7.f);
    EXPECT_EQ(c[n + 1], -7.f);
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(c[i + 1], float(4 * i + 1)) << i;
  }
}

}  // namespace
}  // namespace tilewright::cpu
