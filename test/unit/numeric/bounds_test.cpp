#include "tilewright/numerics.h"

#include <gtest/gtest.h>

#include <vector>

#include "numeric/format.h"
#include "types.h"

namespace tilewright::test {
namespace {

TEST(Bounds, GammaIsTheFormula) {
  const double u = std::ldexp(1, -24);
  EXPECT_EQ(gamma(0, f32), 0);
  EXPECT_DOUBLE_EQ(gamma(1, f32), u / (1 - u));
  EXPECT_DOUBLE_EQ(gamma(1000, f32), 1000 * u / (1 - 1000 * u));
  EXPECT_DOUBLE_EQ(gamma(100, f16), 100.0 / 2048 / (1 - 100.0 / 2048));
  EXPECT_EQ(gamma(2048, f16), kInf);
  EXPECT_EQ(gamma(1000, i32), 0);
}

TEST(Bounds, RoundingBoundHoldsAndIsReachedInEveryFormat) {
  for (DType t : {tf32, f16, bf16, e5m6, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e3m2, e2m3, e2m1}) {
    double worst = 0;
    for (uint64_t code = 0; code < largest_code(t); ++code) {
      const double low = decode(t, code), high = decode(t, code + 1);
      for (double part : {0.0, 0.25, 0.4999, 0.5, 0.5001, 0.75}) {
        const double value = low + part * (high - low);
        const double error = std::fabs(real(t, value).as_double() - value), bound = rounding_bound(value, t);
        ASSERT_LE(error, bound) << to_string(t) << " " << value;
        worst = std::max(worst, error / bound);
      }
    }
    EXPECT_GT(worst, t == e8m0 ? 0.6 : 0.94) << to_string(t);  // the bound is not idle
  }
  EXPECT_EQ(rounding_bound(123, i32), 0);
}

/// Sum of products in f32, in order, as the operators compute it.
double dot_f32(const std::vector<double>& a, const std::vector<double>& b, bool fused) {
  Scalar sum = real(f32, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    const Scalar x = real(f32, a[i]), y = real(f32, b[i]);
    sum = fused ? fma(x, y, sum) : evaluate(BinaryOp::add, sum, evaluate(BinaryOp::mul, x, y));
  }
  return sum.as_double();
}

TEST(Bounds, DotProductsStayInside) {
  Random random(21);
  for (int64_t k : {1, 2, 3, 7, 33, 100, 1000}) {
    for (double scale : {1.0, 1e-22}) {  // the second one makes subnormal products
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> a, b;
        long double exact = 0, sum_abs = 0;
        for (int64_t i = 0; i < k; ++i) {
          a.push_back(real(f32, random.unit() * scale).as_double());
          b.push_back(real(f32, random.unit() * scale).as_double());
          exact += static_cast<long double>(a.back()) * b.back();
          sum_abs += std::fabs(static_cast<long double>(a.back()) * b.back());
        }
        for (bool fused : {false, true}) {
          const double got = dot_f32(a, b, fused), e = static_cast<double>(exact), s = static_cast<double>(sum_abs);
          EXPECT_LE(std::fabs(got - e), dot_bound(s, k, f32, f32)) << k;
          EXPECT_LE(std::fabs(got - e), dot_bound_at(e, s, k, f32, f32)) << k;
          for (DType out : {f16, bf16}) {
            const double stored = real(out, got).as_double();
            EXPECT_LE(std::fabs(stored - e), dot_bound_at(e, s, k, f32, out)) << k << to_string(out);
            EXPECT_LE(dot_bound_at(e, s, k, f32, out), dot_bound(s, k, f32, out));
          }
        }
      }
    }
  }
}

TEST(Bounds, AWrongDotProductLiesOutside) {
  // One missing product among 1000, and products rounded to f16 first: both must be caught.
  Random random(22);
  double exact = 0, sum_abs = 0, missing = 0, narrow = 0;
  for (int i = 0; i < 1000; ++i) {
    const double a = real(f16, 0.5 + 0.5 * random.unit()).as_double(),
                 b = real(f16, 0.5 + 0.5 * random.unit()).as_double();
    exact += a * b;
    sum_abs += std::fabs(a * b);
    if (i != 500) missing += a * b;
    narrow += real(bf16, a * b * 1.001).as_double();
  }
  EXPECT_GT(std::fabs(missing - exact), dot_bound(sum_abs, 1000, f32, f32));
  EXPECT_GT(std::fabs(narrow - exact), dot_bound(sum_abs, 1000, f32, f32));
}

TEST(Bounds, TheSumBoundIsNearlyReachedByAnAdversary) {
  // Each addition of slightly less than half an ulp is lost: the error grows by u each time.
  const int64_t n = 1001;
  const double small = std::ldexp(0.999, -24);
  Scalar sum = real(f32, 1);
  double exact = 1;
  for (int64_t i = 1; i < n; ++i) {
    const Scalar x = real(f32, small);
    sum = evaluate(BinaryOp::add, sum, x);
    exact += x.as_double();
  }
  const double error = std::fabs(sum.as_double() - exact), bound = reduce_bound(exact, n, f32, f32);
  EXPECT_LE(error, bound);
  EXPECT_GT(error, 0.9 * bound);
}

TEST(Bounds, ConversionsOfOperandsAddTheirShare) {
  Random random(23);
  for (int i = 0; i < 10000; ++i) {
    const double a = random.unit(), b = random.unit();
    const double got = real(tf32, a).as_double() * real(tf32, b).as_double();
    ASSERT_LE(std::fabs(got - a * b), operand_bound(std::fabs(a * b), tf32));
  }
}

TEST(Bounds, SoftmaxStaysInside) {
  Random random(24);
  for (int n : {1, 2, 5, 33, 257, 1000}) {
    for (double scale : {1.0, 20.0, 80.0}) {
      std::vector<Scalar> x;
      Scalar top = real(f32, -kInf);
      for (int i = 0; i < n; ++i) {
        x.push_back(real(f32, random.unit() * scale));
        top = evaluate(BinaryOp::max, top, x.back());
      }
      Scalar sum = real(f32, 0);
      double exact_sum = 0, range = 0;
      std::vector<Scalar> e;
      for (Scalar v : x) {
        e.push_back(evaluate(UnaryOp::exp, evaluate(BinaryOp::sub, v, top)));
        sum = evaluate(BinaryOp::add, sum, e.back());
        exact_sum += std::exp(v.as_double() - top.as_double());
        range = std::max(range, top.as_double() - v.as_double());
      }
      const SoftmaxShape shape{.length = n, .range = range, .exp_ulps = 1, .rescales = 0};
      for (int i = 0; i < n; ++i) {
        const double exact = std::exp(x[i].as_double() - top.as_double()) / exact_sum;
        const Scalar got = evaluate(BinaryOp::div, e[i], sum);
        EXPECT_LE(std::fabs(got.as_double() - exact), softmax_bound(exact, shape, f32, f32)) << n << " " << scale;
        EXPECT_LE(std::fabs(cast(got, f16).as_double() - exact), softmax_bound(exact, shape, f32, f16))
            << n << " " << scale;
        EXPECT_LT(softmax_bound(exact, shape, f32, f32), 1e-3 * exact + 1e-30) << "the bound is not idle";
      }
    }
  }
}

}  // namespace
}  // namespace tilewright::test
