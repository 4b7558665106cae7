// The plain loops and OpenBLAS that `run` is timed against are right, on odd sizes and any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tilewright/reference.h"
#include "tools/baseline/loops.h"
#include "tools/baseline/openblas.h"

namespace tilewright::test {
namespace {

std::vector<float> random_values(int64_t n, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = normal(bits);
  return values;
}

Tensor view(std::vector<float>& values, std::vector<int64_t> shape) {
  return {values.data(), f32, std::move(shape), {}};
}

void expect_agreement(const Agreement& a) {
  EXPECT_TRUE(a.ok()) << a.got << ", wanted " << a.wanted << ", error " << a.error << " of " << a.tolerance;
  EXPECT_GT(a.elements, 0);
}

class Baseline : public testing::TestWithParam<int> {};

TEST_P(Baseline, Vectors) {
  auto x = random_values(129, 1), y = random_values(129, 2), z = std::vector<float>(129);
  baseline::vector_add(x.data(), y.data(), z.data(), 129, GetParam());
  expect_agreement(check_vector_add(view(x, {129}), view(y, {129}), view(z, {129})));
  baseline::reverse(x.data(), z.data(), 129, GetParam());
  expect_agreement(check_reverse(view(x, {129}), view(z, {129})));
}

TEST_P(Baseline, Rows) {
  auto x = random_values(5 * 229, 1), w = random_values(229, 2), y = std::vector<float>(5 * 229);
  baseline::softmax(x.data(), y.data(), 5, 229, GetParam());
  expect_agreement(check_softmax(view(x, {5, 229}), view(y, {5, 229}), 229));
  baseline::rms_norm(x.data(), w.data(), 1e-5f, y.data(), 5, 229, GetParam());
  expect_agreement(check_rms_norm(view(x, {5, 229}), view(w, {229}), 1e-5, view(y, {5, 229})));
}

TEST_P(Baseline, Attention) {
  const std::vector<int64_t> shape{1, 3, 37, 24};
  const int64_t n = element_count(shape);
  auto q = random_values(n, 1), k = random_values(n, 2), v = random_values(n, 3), o = std::vector<float>(n);
  for (bool causal : {false, true}) {
    baseline::attention(q.data(), k.data(), v.data(), o.data(), 3, 37, 24, causal, GetParam());
    expect_agreement(check_attention(view(q, shape), view(k, shape), view(v, shape), view(o, shape), causal, 37));
  }
}

TEST_P(Baseline, OpenBlas) {
  if (baseline::openblas_name().empty()) GTEST_SKIP() << "this build found no OpenBLAS";
  EXPECT_TRUE(baseline::openblas_name().starts_with("OpenBLAS ")) << baseline::openblas_name();
  auto a = random_values(33 * 97, 1), b = random_values(97 * 65, 2), c = std::vector<float>(33 * 65);
  baseline::openblas_sgemm(a.data(), b.data(), c.data(), 33, 65, 97, GetParam());
  expect_agreement(check_gemm(view(a, {33, 97}), view(b, {97, 65}), view(c, {33, 65}), false));
}

TEST_P(Baseline, Widen) {
  const std::vector<uint16_t> x{0x3f80, 0xc040, 0x7f80, 0x0001, 0x8000};
  std::vector<float> y(x.size());
  baseline::widen(x.data(), y.data(), 5, GetParam());
  EXPECT_EQ(y, (std::vector<float>{1.f, -3.f, INFINITY, 0x1p-133f, -0.f}));
  EXPECT_TRUE(std::signbit(y[4]));
}

INSTANTIATE_TEST_SUITE_P(Threads, Baseline, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace tilewright::test
