// The library's programs at every optimisation level.
#include <gtest/gtest.h>

#include <cmath>

#include "dsl/trace.h"
#include "pass/passes.h"
#include "tilewright/kernels.h"
#include "tilewright/numerics.h"
#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

constexpr int kLevels[] = {0, 1, 2, 3};

/// Compiles a traced program at a level (with LLVM's verifier) and runs it on two threads.
void run_at(int level, const KernelRef& traced, const std::vector<Argument>& arguments) {
  CpuTarget target({.opt_level = level, .verify = true});
  Compilation compilation = run_pipeline(traced, target);
  CpuDevice device(2);
  device.load(target.emit(compilation.final_stage, compilation.plan))->launch(arguments, {});
}

std::vector<float> wave(int64_t count, double step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(3 * std::sin(step * static_cast<double>(i)));
  return values;
}

TEST(CpuLevels, GemmOfWholeNumbersIsTheSame) {
  constexpr int64_t kM = 37, kN = 53, kK = 41;
  KernelRef gemm = trace("gemm", gemm_signature(f32, f32, false), [](Buffer a, Buffer b, Buffer c) {
    gemm_kernel(a, b, c, false, {.m = 16, .n = 32, .k = 16});
  });
  std::vector<float> a(kM * kK), b(kK * kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
  std::vector<float> wanted(kM * kN);
  for (int64_t i = 0; i < kM; ++i)
    for (int64_t k = 0; k < kK; ++k)
      for (int64_t j = 0; j < kN; ++j) wanted[i * kN + j] += a[i * kK + k] * b[k * kN + j];
  for (int level : kLevels) {
    std::vector<float> c(kM * kN);
    run_at(level, gemm, {tensor(a, f32, {kM, kK}), tensor(b, f32, {kK, kN}), tensor(c, f32, {kM, kN})});
    EXPECT_EQ(c, wanted) << "level " << level;
  }
}

TEST(CpuLevels, SoftmaxAgreesWithinRounding) {
  constexpr int64_t kRows = 5, kColumns = 203;
  KernelRef softmax = trace("softmax", softmax_signature(f32),
                            [](Buffer x, Buffer y) { softmax_kernel(x, y, {.rows = 2, .columns = 64}); });
  std::vector<float> x = wave(kRows * kColumns, 0.7);
  for (int level : kLevels) {
    std::vector<float> y(x.size());
    run_at(level, softmax, {tensor(x, f32, {kRows, kColumns}), tensor(y, f32, {kRows, kColumns})});
    for (int64_t r = 0; r < kRows; ++r) {
      double sum = 0;
      for (int64_t j = 0; j < kColumns; ++j) sum += std::exp(static_cast<double>(x[r * kColumns + j]));
      for (int64_t j = 0; j < kColumns; ++j) {
        const double wanted = std::exp(static_cast<double>(x[r * kColumns + j])) / sum;
        SoftmaxShape shape{.length = kColumns, .range = 6, .exp_ulps = 2, .rescales = 4};
        ASSERT_NEAR(y[r * kColumns + j], wanted, softmax_bound(wanted, shape, f32, f32)) << "level " << level;
      }
    }
  }
}

/// Every row attends to equal keys, so that the result is the mean of the values, which are whole numbers.
TEST(CpuLevels, CausalAttentionOverEqualKeysIsTheMean) {
  constexpr int64_t kLength = 50, kDepth = 16;
  KernelRef attention = trace(
      "attention", attention_signature(f32, kDepth),
      [](Buffer q, Buffer k, Buffer v, Buffer o) { attention_kernel(q, k, v, o, kDepth, true, {.m = 16, .n = 16}); });
  std::vector<float> q = wave(kLength * kDepth, 0.3), k(q.size(), 0.f), v(q.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 11);
  const std::vector<int64_t> shape{1, 1, kLength, kDepth};
  for (int level : kLevels) {
    std::vector<float> o(q.size(), -1.f);
    run_at(level, attention,
           {tensor(q, f32, shape), tensor(k, f32, shape), tensor(v, f32, shape), tensor(o, f32, shape)});
    for (int64_t l = 0; l < kDepth; ++l) {
      double sum = 0;
      for (int64_t i = 0; i < kLength; ++i) {
        sum += v[i * kDepth + l];
        const double wanted = sum / static_cast<double>(i + 1);
        ASSERT_NEAR(o[i * kDepth + l], wanted, gamma(4, f32) * wanted) << "level " << level << " row " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::cpu
