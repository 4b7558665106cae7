// Errors of every mathematical function over dense samples, subnormal and huge arguments included, against long double;
// and that loops which call them are vector code.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

struct Function {
  const char* name;
  DType type;
  long double (*exact)(long double);
  double low, high;
  double bound;  // units in the last place
};

/// Sample points in [low, high], as many in each binade, subnormal ones too; and both ends.
template <class T, class Word>
std::vector<T> samples(T low, T high, Word stride) {
  std::vector<T> points{low, high};
  auto up_to = [&](T from, T to, T sign) {
    const Word last = std::bit_cast<Word>(to);
    for (Word bits = std::bit_cast<Word>(from); bits <= last && last - bits >= stride; bits += stride)
      points.push_back(sign * std::bit_cast<T>(bits));
  };
  if (high > 0) up_to(std::max(low, T(0)), high, 1);
  if (low < 0) up_to(std::max(-high, T(0)), -low, -1);
  return points;
}

TestKernel elementwise(const char* function, DType type, Options options = {}) {
  return TestKernel(fmt::format(R"(kernel apply stage loops {{
    scalar n: i64
    param X: {1}[n] strides [1]
    param Y: {1}[n] strides [1]
    for blocks b in 1 {{
      for parallel i in n {{
        store Y[i] = {0}(X[i])
      }}
    }}
  }})",
                                function, to_string(type)),
                    options);
}

template <class T, class Word>
double worst_error(const Function& f, Word stride, double& at) {
  TestKernel kernel = elementwise(f.name, f.type);
  std::vector<T> x = samples(static_cast<T>(f.low), static_cast<T>(f.high), stride), y(x.size());
  int64_t n = static_cast<int64_t>(x.size());
  kernel({tensor(x, f.type, {n}), tensor(y, f.type, {n})});
  const int least = std::numeric_limits<T>::min_exponent - 1, digits = std::numeric_limits<T>::digits - 1;
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const long double exact = f.exact(x[i]);
    const long double spacing = std::ldexp(1.0L, std::max(exact == 0 ? least : std::ilogb(exact), least) - digits);
    double error = static_cast<double>(std::fabs(y[i] - exact) / spacing);
    if (!(error <= 1e9)) error = 1e9;  // NaN or infinity
    if (error > worst) worst = error, at = static_cast<double>(x[i]);
  }
  return worst;
}

class CpuMath : public testing::TestWithParam<Function> {};

TEST_P(CpuMath, ErrorIsWithinTheBound) {
  const Function& f = GetParam();
  double at = 0;
  const double worst =
      f.type == f32 ? worst_error<float>(f, uint32_t{2011}, at) : worst_error<double>(f, uint64_t{1} << 44 | 2011, at);
  fmt::print("{} {}: {:.3f} ulp at {}, bound {}\n", f.name, to_string(f.type), worst, at, f.bound);
  EXPECT_LE(worst, f.bound) << f.name << "(" << at << ")";
}

long double exact_rsqrt(long double x) { return 1 / std::sqrt(x); }

constexpr double kHuge = 0x1.fffffep127, kTiny = 0x1p-149;                // of f32
constexpr double kHugest = 0x1.fffffffffffffp1023, kTiniest = 0x1p-1074;  // of f64

INSTANTIATE_TEST_SUITE_P(
    All, CpuMath,
    testing::Values(
        Function{"exp", f32, std::exp, -104, 88.72, 1.1}, Function{"exp2", f32, std::exp2, -150, 127.99, 1.0},
        Function{"log", f32, std::log, kTiny, kHuge, 1.0}, Function{"log2", f32, std::log2, kTiny, kHuge, 1.1},
        Function{"tanh", f32, std::tanh, -kHuge, kHuge, 1.5}, Function{"sin", f32, std::sin, -kHuge, kHuge, 0.51},
        Function{"cos", f32, std::cos, -kHuge, kHuge, 0.51}, Function{"erf", f32, std::erf, -kHuge, kHuge, 0.51},
        Function{"sqrt", f32, std::sqrt, 0, kHuge, 0.5}, Function{"rsqrt", f32, exact_rsqrt, kTiny, kHuge, 1.5},
        Function{"exp", f64, std::exp, -745.1, 709.78, 1.0}, Function{"exp2", f64, std::exp2, -1074.9, 1023.99, 1.0},
        Function{"log", f64, std::log, kTiniest, kHugest, 1.0},
        Function{"log2", f64, std::log2, kTiniest, kHugest, 1.0},
        Function{"tanh", f64, std::tanh, -kHugest, kHugest, 2.5},
        Function{"sin", f64, std::sin, -kHugest, kHugest, 1.0}, Function{"cos", f64, std::cos, -kHugest, kHugest, 1.0},
        Function{"erf", f64, std::erf, -kHugest, kHugest, 1.5}, Function{"sqrt", f64, std::sqrt, 0, kHugest, 0.5},
        Function{"rsqrt", f64, exact_rsqrt, kTiniest, kHugest, 1.5}),
    [](const auto& info) { return fmt::format("{}_{}", info.param.name, to_string(info.param.type)); });

/// Worst cases of the reduction: floats near multiples of pi / 2, and around the ends of its branches.
TEST(CpuMathSpecial, SineNearMultiplesOfHalfPi) {
  std::vector<float> x;
  for (long double k = 1; k < 0x1p104L; k = k * 1.37L + 1) {
    const float near = static_cast<float>(std::round(k) * 1.57079632679489661923L);
    for (float v : {std::nextafter(near, 0.f), near, std::nextafter(near, INFINITY)}) x.push_back(v), x.push_back(-v);
  }
  for (float v : {0.49999997f, 0.5f, 0.78539813f, 0.7853982f, 16367173.f * 0x1p72f, 0x1.921fb6p0f, 0x1.921fb6p1f})
    x.push_back(v);
  const int64_t n = static_cast<int64_t>(x.size());
  std::vector<float> s(x.size()), c(x.size());
  elementwise("sin", f32)({tensor(x, f32, {n}), tensor(s, f32, {n})});
  elementwise("cos", f32)({tensor(x, f32, {n}), tensor(c, f32, {n})});
  auto ulps = [](float got, long double exact) {
    return std::fabs(got - exact) / std::ldexp(1.0L, std::ilogb(exact) - 23);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(ulps(s[i], std::sin(static_cast<long double>(x[i]))), 0.51) << "sin " << x[i];
    EXPECT_LE(ulps(c[i], std::cos(static_cast<long double>(x[i]))), 0.51) << "cos " << x[i];
  }
}

/// No calls but those that move memory, and arithmetic on vectors, for a processor with them.
TEST(CpuMathSpecial, LoopsOverF32AreVectorCode) {
  for (const char* name : {"exp", "exp2", "log", "log2", "tanh", "sin", "cos", "erf", "sqrt", "rsqrt"}) {
    TestKernel kernel = elementwise(name, f32, {.cpu = "x86-64-v3"});
    EXPECT_EQ(kernel.texts().assembly.find("call"), std::string::npos) << name << "\n" << kernel.texts().assembly;
    EXPECT_NE(kernel.texts().artifact.text.find("vector.body"), std::string::npos) << name;
    EXPECT_TRUE(kernel.texts().notes.empty()) << name << ": " << kernel.texts().notes[0];
  }
}

TEST(CpuMathSpecial, InfinityNanAndZero) {
  TestKernel kernel(R"(kernel special stage loops {
    param X: f32[8] strides [1]
    param E: f32[8] strides [1]
    param E2: f32[8] strides [1]
    param L: f32[8] strides [1]
    param L2: f32[8] strides [1]
    param T: f32[8] strides [1]
    param S: f32[8] strides [1]
    param C: f32[8] strides [1]
    param F: f32[8] strides [1]
    for blocks b in 1 {
      for parallel i in 8 {
        store E[i] = exp(X[i])
        store E2[i] = exp2(X[i])
        store L[i] = log(X[i])
        store L2[i] = log2(X[i])
        store T[i] = tanh(X[i])
        store S[i] = sin(X[i])
        store C[i] = cos(X[i])
        store F[i] = erf(X[i])
      }
    }
  })");
  const float inf = INFINITY;
  std::vector<float> x{inf, -inf, NAN, 0.f, -0.f, 1.f, -1.f, 1000.f};
  std::vector<std::vector<float>> out(8, std::vector<float>(8));
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
  for (int f : {4, 7}) {
    EXPECT_EQ(out[f][0], 1.f);
    EXPECT_EQ(out[f][1], -1.f);
    EXPECT_EQ(out[f][7], 1.f);
  }
  for (int f : {4, 5, 7}) {
    EXPECT_TRUE(std::isnan(out[f][2]));
    EXPECT_EQ(std::bit_cast<uint32_t>(out[f][3]), 0u);
    EXPECT_EQ(std::bit_cast<uint32_t>(out[f][4]), 0x80000000u);
  }
  for (int f : {5, 6})
    for (int i : {0, 1, 2}) EXPECT_TRUE(std::isnan(out[f][i]));
  for (int i : {3, 4}) EXPECT_EQ(out[6][i], 1.f);
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
