// Errors of the inline f32 functions over dense samples, against double precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

struct Function {
  const char* name;
  double (*exact)(double);
  float low, high;
  double bound;  // units in the last place
};

/// Sample points: all f32 of [low, high] at a stride in their bits, so that each binade is equally dense.
std::vector<float> samples(float low, float high, uint32_t stride) {
  std::vector<float> points;
  auto up_to = [&](float from, float to, float sign) {
    for (uint32_t bits = std::bit_cast<uint32_t>(from); bits <= std::bit_cast<uint32_t>(to); bits += stride)
      points.push_back(sign * std::bit_cast<float>(bits));
  };
  if (high > 0) up_to(std::max(low, 0.f), high, 1.f);
  if (low < 0) up_to(std::max(-high, 0.f), -low, -1.f);
  return points;
}

double worst_error(const Function& f, uint32_t stride, float& at) {
  TestKernel kernel(fmt::format(R"(kernel apply stage loops {{
    scalar n: i64
    param X: f32[n] strides [1]
    param Y: f32[n] strides [1]
    for blocks b in 1 {{
      for parallel i in n {{
        store Y[i] = {}(X[i])
      }}
    }}
  }})",
                                f.name));
  std::vector<float> x = samples(f.low, f.high, stride), y(x.size());
  int64_t n = static_cast<int64_t>(x.size());
  kernel({tensor(x, f32, {n}), tensor(y, f32, {n})});
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double exact = f.exact(static_cast<double>(x[i]));
    double spacing = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
    double error = std::fabs(static_cast<double>(y[i]) - exact) / spacing;
    if (std::isnan(y[i]) || error > worst) worst = std::isnan(y[i]) ? 1e9 : error, at = x[i];
  }
  return worst;
}

class CpuMath : public testing::TestWithParam<Function> {};

TEST_P(CpuMath, ErrorIsWithinTheBound) {
  const Function& f = GetParam();
  float at = 0;
  double worst = worst_error(f, 2011, at);
  RecordProperty("worst_ulp", fmt::format("{:.3f}", worst));
  EXPECT_LE(worst, f.bound) << f.name << "(" << at << ")";
}

double exact_exp(double x) { return std::exp(x); }
double exact_exp2(double x) { return std::exp2(x); }
double exact_log(double x) { return std::log(x); }
double exact_log2(double x) { return std::log2(x); }
double exact_tanh(double x) { return std::tanh(x); }

INSTANTIATE_TEST_SUITE_P(All, CpuMath,
                         testing::Values(Function{"exp", exact_exp, -103.9f, 88.72f, 1.1},
                                         Function{"exp2", exact_exp2, -149.f, 127.99f, 1.0},
                                         Function{"log", exact_log, 0x1p-149f, 0x1.fffffep127f, 2.0},
                                         Function{"log2", exact_log2, 0x1p-149f, 0x1.fffffep127f, 2.0},
                                         Function{"tanh", exact_tanh, -20.f, 20.f, 2.0}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CpuMathSpecial, InfinityNanAndZero) {
  TestKernel kernel(R"(kernel special stage loops {
    param X: f32[8] strides [1]
    param E: f32[8] strides [1]
    param E2: f32[8] strides [1]
    param L: f32[8] strides [1]
    param L2: f32[8] strides [1]
    param T: f32[8] strides [1]
    for blocks b in 1 {
      for parallel i in 8 {
        store E[i] = exp(X[i])
        store E2[i] = exp2(X[i])
        store L[i] = log(X[i])
        store L2[i] = log2(X[i])
        store T[i] = tanh(X[i])
      }
    }
  })");
  const float inf = INFINITY;
  std::vector<float> x{inf, -inf, NAN, 0.f, -0.f, 1.f, -1.f, 1000.f};
  std::vector<std::vector<float>> out(5, std::vector<float>(8));
  std::vector<Argument> arguments{tensor(x, f32, {8})};
  for (auto& o : out) arguments.push_back(tensor(o, f32, {8}));
  kernel(arguments);
  for (int f : {0, 1}) {
    EXPECT_EQ(out[f][0], inf);
    EXPECT_EQ(std::bit_cast<uint32_t>(out[f][1]), 0u);
    EXPECT_TRUE(std::isnan(out[f][2]));
    EXPECT_EQ(out[f][3], 1.f);
    EXPECT_EQ(out[f][4], 1.f);
    EXPECT_EQ(out[f][7], inf);
  }
  for (int f : {2, 3}) {
    EXPECT_EQ(out[f][0], inf);
    EXPECT_TRUE(std::isnan(out[f][1]));
    EXPECT_TRUE(std::isnan(out[f][2]));
    EXPECT_EQ(out[f][3], -inf);
    EXPECT_EQ(out[f][4], -inf);
    EXPECT_EQ(std::bit_cast<uint32_t>(out[f][5]), 0u);
    EXPECT_TRUE(std::isnan(out[f][6]));
  }
  EXPECT_EQ(out[4][0], 1.f);
  EXPECT_EQ(out[4][1], -1.f);
  EXPECT_TRUE(std::isnan(out[4][2]));
  EXPECT_EQ(std::bit_cast<uint32_t>(out[4][3]), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(out[4][4]), 0x80000000u);
  EXPECT_EQ(out[4][7], 1.f);
  for (int k = -149; k <= 127; ++k) {  // powers of two are exact
    std::vector<float> p(8, static_cast<float>(k));
    std::vector<Argument> again{tensor(p, f32, {8})};
    for (auto& o : out) again.push_back(tensor(o, f32, {8}));
    kernel(again);
    EXPECT_EQ(out[1][0], std::ldexp(1.f, k)) << k;
    p.assign(8, std::ldexp(1.f, k));
    kernel(again);
    EXPECT_EQ(out[3][0], static_cast<float>(k));
  }
}

}  // namespace
}  // namespace tilewright::cpu
