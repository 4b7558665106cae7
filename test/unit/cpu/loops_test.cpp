#include <fmt/format.h>
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

/// The loop `parallel i in n { store Y[i] = VALUE }` for a processor with AVX2.
CodeTexts texts_of_loop(const std::string& x_type, const std::string& y_type, const std::string& value) {
  TestKernel kernel(fmt::format(R"(kernel loop stage loops {{
    scalar n: i64
    param X: {}[n] strides [1]
    param Y: {}[n] strides [1]
    for blocks b in 1 {{
      for parallel i in n {{
        store Y[i] = {}
      }}
    }}
  }})",
                                x_type, y_type, value),
                    {.cpu = "x86-64-v3"});
  return kernel.texts();
}

TEST(CpuLoops, ConversionsAreVectorCode) {
  for (const char* type : {"f16", "bf16", "e4m3", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0", "e3m2", "i8", "u8", "i32"})
    for (bool to_f32 : {true, false}) {
      CodeTexts texts = to_f32 ? texts_of_loop(type, "f32", "cast<f32>(X[i])")
                               : texts_of_loop("f32", type, fmt::format("cast<{}>(X[i])", type));
      const std::string what = fmt::format("{} {}", to_f32 ? "from" : "to", type);
      EXPECT_EQ(texts.assembly.find("call"), std::string::npos) << what;
      EXPECT_NE(texts.artifact.text.find("vector.body"), std::string::npos) << what;
      EXPECT_TRUE(texts.notes.empty()) << what;
    }
}

TEST(CpuLoops, ALoopThatStaysScalarIsNoted) {
  CodeTexts texts = texts_of_loop("i4", "i4", "X[i]");  // two elements share a byte
  ASSERT_EQ(texts.notes.size(), 1u);
  EXPECT_NE(texts.notes[0].find("loop not vectorized"), std::string::npos) << texts.notes[0];
}

}  // namespace
}  // namespace tilewright::cpu
