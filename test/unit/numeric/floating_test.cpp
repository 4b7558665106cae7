#include <gtest/gtest.h>

#include "types.h"

namespace tilewright::test {
namespace {

double run(BinaryOp op, DType t, double a, double b) { return evaluate(op, real(t, a), real(t, b)).as_double(); }
double run(UnaryOp op, DType t, double a) { return evaluate(op, real(t, a)).as_double(); }
bool holds(BinaryOp op, DType t, double a, double b) { return evaluate(op, real(t, a), real(t, b)).as_bool(); }

TEST(Floating, SinglePrecisionIsComputedInSinglePrecision) {
  EXPECT_EQ(run(BinaryOp::add, f32, 16777216, 1), 16777216);
  EXPECT_EQ(run(BinaryOp::add, f64, 16777216, 1), 16777217);
  EXPECT_EQ(run(BinaryOp::mul, f32, 0.1, 0.1), 0.1f * 0.1f);
  EXPECT_EQ(run(BinaryOp::mul, f32, 1e30, 1e30), kInf);
  EXPECT_EQ(run(BinaryOp::div, f32, 1, 3), 1.0f / 3.0f);
  EXPECT_EQ(run(UnaryOp::exp, f32, 100), kInf);
  EXPECT_LT(run(UnaryOp::exp, f64, 100), kInf);
  EXPECT_EQ(run(UnaryOp::sqrt, f32, 2), std::sqrt(2.0f));
  EXPECT_EQ(run(UnaryOp::rsqrt, f32, 3), 1.0f / std::sqrt(3.0f));
}

TEST(Floating, ArithmeticIsIeee) {
  for (DType t : {f32, f64}) {
    EXPECT_EQ(run(BinaryOp::div, t, 1, 0), kInf);
    EXPECT_EQ(run(BinaryOp::div, t, 1, -0.0), -kInf);
    EXPECT_TRUE(std::isnan(run(BinaryOp::div, t, 0, 0)));
    EXPECT_TRUE(std::isnan(run(BinaryOp::sub, t, kInf, kInf)));
    EXPECT_TRUE(std::isnan(run(UnaryOp::sqrt, t, -1)));
    EXPECT_EQ(run(UnaryOp::log, t, 0), -kInf);
    EXPECT_EQ(run(UnaryOp::rsqrt, t, 0), kInf);
    EXPECT_TRUE(std::signbit(run(UnaryOp::neg, t, 0)));
    EXPECT_FALSE(std::signbit(run(BinaryOp::add, t, -0.0, 0)));
    EXPECT_TRUE(std::signbit(run(UnaryOp::ceil, t, -0.5)));
  }
  EXPECT_EQ(run(BinaryOp::mul, f32, std::ldexp(1, -100), std::ldexp(1, -40)), std::ldexp(1, -140));  // subnormal
}

TEST(Floating, RoundingOperatorsDifferAsNamed) {
  const double in[] = {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.75};
  const double even[] = {-2, -2, -0.0, 0, 2, 2, 3};
  for (DType t : {f32, f64}) {
    for (int i = 0; i < 7; ++i) {
      EXPECT_EQ(run(UnaryOp::round_even, t, in[i]), even[i]);
      EXPECT_EQ(run(UnaryOp::floor, t, in[i]), std::floor(in[i]));
      EXPECT_EQ(run(UnaryOp::ceil, t, in[i]), std::ceil(in[i]));
      EXPECT_EQ(run(UnaryOp::trunc, t, in[i]), std::trunc(in[i]));
    }
    EXPECT_EQ(run(UnaryOp::abs, t, -2.5), 2.5);
  }
}

TEST(Floating, MinAndMaxReturnTheNumberAndOrderZeroes) {
  for (DType t : {f32, f64}) {
    for (double x : {-kInf, -1.5, -0.0, 0.0, 2.0, kInf}) {
      for (BinaryOp op : {BinaryOp::min, BinaryOp::max}) {
        EXPECT_EQ(evaluate(op, real(t, kNan), real(t, x)), real(t, x)) << name_of(op) << x;
        EXPECT_EQ(evaluate(op, real(t, x), real(t, kNan)), real(t, x)) << name_of(op) << x;
      }
      for (BinaryOp op : {BinaryOp::min_nan, BinaryOp::max_nan}) {
        EXPECT_EQ(evaluate(op, real(t, kNan), real(t, x)), real(t, kNan)) << name_of(op) << x;
        EXPECT_EQ(evaluate(op, real(t, x), real(t, kNan)), real(t, kNan)) << name_of(op) << x;
      }
    }
    for (BinaryOp op : {BinaryOp::min, BinaryOp::max, BinaryOp::min_nan, BinaryOp::max_nan}) {
      EXPECT_TRUE(std::isnan(run(op, t, kNan, kNan)));
    }
    // In the order of the language; equal bits mean that -0 and +0 are told apart.
    const double ordered[] = {-kInf, -1.5, -0.0, 0.0, 2.0, kInf};
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 6; ++j) {
        const Scalar a = real(t, ordered[i]), b = real(t, ordered[j]);
        const Scalar low = real(t, ordered[i < j ? i : j]), high = real(t, ordered[i < j ? j : i]);
        EXPECT_EQ(evaluate(BinaryOp::min, a, b), low) << i << j;
        EXPECT_EQ(evaluate(BinaryOp::min_nan, a, b), low) << i << j;
        EXPECT_EQ(evaluate(BinaryOp::max, a, b), high) << i << j;
        EXPECT_EQ(evaluate(BinaryOp::max_nan, a, b), high) << i << j;
      }
    }
  }
}

TEST(Floating, ComparisonsAreIeee) {
  for (DType t : {f32, f64}) {
    const double values[] = {-kInf, -1.5, -0.0, 0.0, 2.0, kInf, kNan};
    for (double a : values) {
      for (double b : values) {
        EXPECT_EQ(holds(BinaryOp::eq, t, a, b), a == b);
        EXPECT_EQ(holds(BinaryOp::ne, t, a, b), a != b);
        EXPECT_EQ(holds(BinaryOp::lt, t, a, b), a < b);
        EXPECT_EQ(holds(BinaryOp::le, t, a, b), a <= b);
        EXPECT_EQ(holds(BinaryOp::gt, t, a, b), a > b);
        EXPECT_EQ(holds(BinaryOp::ge, t, a, b), a >= b);
      }
    }
    EXPECT_TRUE(evaluate(UnaryOp::is_nan, real(t, kNan)).as_bool());
    EXPECT_FALSE(evaluate(UnaryOp::is_nan, real(t, kInf)).as_bool());
  }
}

TEST(Floating, FmaRoundsOnce) {
  const double a = 1 + std::ldexp(1, -12);
  EXPECT_EQ(fma(real(f32, a), real(f32, a), real(f32, -1)).as_double(), std::ldexp(1, -11) + std::ldexp(1, -24));
  EXPECT_EQ(run(BinaryOp::sub, f32, run(BinaryOp::mul, f32, a, a), 1), std::ldexp(1, -11));
  const double d = 1 + std::ldexp(1, -30);
  EXPECT_EQ(fma(real(f64, d), real(f64, d), real(f64, -1)).as_double(), std::ldexp(1, -29) + std::ldexp(1, -60));
  EXPECT_EQ(fma(real(f32, kInf), real(f32, 0), real(f32, 1)), real(f32, kNan));
}

TEST(Floating, ResultsHaveOneNan) {
  const Scalar payload{f32, uint64_t{0xfff1234} << 36}, one = real(f32, 1);
  ASSERT_TRUE(std::isnan(payload.as_double()));
  EXPECT_EQ(evaluate(BinaryOp::add, payload, one), real(f32, kNan));
  EXPECT_EQ(evaluate(BinaryOp::add, one, payload), real(f32, kNan));
  EXPECT_EQ(evaluate(UnaryOp::neg, payload), real(f32, kNan));
  EXPECT_EQ(evaluate(BinaryOp::mul, real(f32, kInf), real(f32, 0)), real(f32, kNan));
  EXPECT_EQ(evaluate(BinaryOp::max, payload, payload), real(f32, kNan));
}

TEST(Floating, FunctionsOfSinglePrecisionLieWithinTwoUlpsOfDouble) {
  const UnaryOp ops[] = {UnaryOp::exp, UnaryOp::exp2, UnaryOp::log, UnaryOp::log2, UnaryOp::sin,
                         UnaryOp::cos, UnaryOp::tanh, UnaryOp::erf, UnaryOp::sqrt, UnaryOp::rsqrt};
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double x = std::fabs(random.unit()) * 20 + 1e-3;
    for (UnaryOp op : ops) {
      const Scalar in = real(f32, x);
      const double exact = evaluate(op, cast(in, f64)).as_double(), got = evaluate(op, in).as_double();
      EXPECT_NEAR(got, exact, 2 * std::ldexp(std::fabs(exact), -23)) << name_of(op) << " " << x;
    }
  }
}

}  // namespace
}  // namespace tilewright::test
