// Integer operators against definitions in 128-bit arithmetic.
#include <gtest/gtest.h>

#include "tilewright/error.h"
#include "types.h"

namespace tilewright::test {
namespace {

__extension__ using Wide = __int128;

Wide value_of(Scalar s) { return s.type.is_signed_int() ? static_cast<Wide>(s.as_int()) : static_cast<Wide>(s.bits); }

/// The representative of `v` modulo 2^bits in the range of the type.
Wide reduced(DType t, Wide v) {
  const Wide modulus = Wide{1} << t.bits;
  v %= modulus;
  if (v < 0) v += modulus;
  return t.is_signed_int() && v >= modulus / 2 ? v - modulus : v;
}

/// floor(a / b) for b != 0, found from the truncated quotient by its defining inequality.
Wide floor_quotient(Wide a, Wide b) {
  Wide q = a / b;
  const Wide positive = b < 0 ? -1 : 1;
  while (positive * (a - q * b) < 0) --q;
  while (positive * (a - (q + 1) * b) >= 0) ++q;
  return q;
}

/// a << n modulo 2^128 of a value that fits 65 bits, for any n.
Wide shifted(DType t, Wide a, Wide n) { return n < 0 || n >= t.bits ? Wide{0} : a * (Wide{1} << n); }

Wide shifted_right(DType t, Wide a, Wide n) {
  if (n < 0 || n >= t.bits) return a < 0 ? -1 : 0;
  return floor_quotient(a, Wide{1} << n);
}

Wide expected(BinaryOp op, DType t, Wide a, Wide b) {
  switch (op) {
    case BinaryOp::add:
      return reduced(t, a + b);
    case BinaryOp::sub:
      return reduced(t, a - b);
    case BinaryOp::mul:
      return reduced(t, a * reduced(make_int(true, t.bits), b));
    case BinaryOp::floordiv:
      return b == 0 ? 0 : reduced(t, floor_quotient(a, b));
    case BinaryOp::floormod:
      return b == 0 ? 0 : reduced(t, a - floor_quotient(a, b) * b);
    case BinaryOp::truncdiv:
      return b == 0 ? 0 : reduced(t, a / b);
    case BinaryOp::truncmod:
      return b == 0 ? 0 : reduced(t, a % b);
    case BinaryOp::ceildiv:
      return b == 0 ? 0 : reduced(t, -floor_quotient(-a, b));
    case BinaryOp::min:
    case BinaryOp::min_nan:
      return a < b ? a : b;
    case BinaryOp::max:
    case BinaryOp::max_nan:
      return a > b ? a : b;
    case BinaryOp::bit_and:
      return reduced(t, a & b);
    case BinaryOp::bit_or:
      return reduced(t, a | b);
    case BinaryOp::bit_xor:
      return reduced(t, a ^ b);
    case BinaryOp::shl:
      return reduced(t, shifted(t, a, b));
    case BinaryOp::shr:
      return shifted_right(t, a, b);
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::ge:
      return a >= b;
    default:
      ADD_FAILURE() << name_of(op);
      return 0;
  }
}

constexpr BinaryOp kAllBinary[] = {
#define TW_X(name, spelling) BinaryOp::name,
    TW_BINARY_OPS(TW_X)
#undef TW_X
};

void check(BinaryOp op, DType t, Scalar a, Scalar b) {
  const Scalar got = evaluate(op, a, b);
  ASSERT_EQ(got.type, result_type(op, t));
  ASSERT_TRUE(value_of(got) == expected(op, t, value_of(a), value_of(b)))
      << to_string(a) << " " << name_of(op) << " " << to_string(b) << " = " << to_string(got);
}

TEST(Integer, EveryPairOfSmallTypesAgreesWithWideArithmetic) {
  for (DType t : {i4, u4, i8, u8}) {
    const int64_t count = int64_t{1} << t.bits;
    for (BinaryOp op : kAllBinary) {
      if (!is_defined(op, t)) continue;
      for (int64_t a = 0; a < count; ++a) {
        for (int64_t b = 0; b < count; ++b) {
          check(op, t, integer(t, a), integer(t, b));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Integer, EdgesAndRandomPairsOfWideTypesAgreeWithWideArithmetic) {
  Random random(11);
  for (DType t : {i16, u16, i32, u32, i64, u64}) {
    std::vector<Scalar> values;
    for (int64_t v : {0, 1, 2, 3, 7, t.bits - 1, t.bits + 0, t.bits + 1, -1, -2, -3, -7, -t.bits})
      values.push_back(integer(t, v));
    for (int shift : {7, 8, 15, 16, 31, 32, 62, 63}) {
      for (int64_t d : {-1, 0, 1})
        values.push_back(integer(t, static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(d))));
    }
    for (int i = 0; i < 60; ++i)
      values.push_back(integer(t, static_cast<int64_t>(random.next()) >> (random.next() % 64)));
    for (BinaryOp op : kAllBinary) {
      if (!is_defined(op, t)) continue;
      for (Scalar a : values) {
        for (Scalar b : values) {
          check(op, t, a, b);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Integer, DivisionFamiliesRoundAsNamedForAllSigns) {
  for (DType t : {i8, i16, i32, i64}) {
    const auto run = [t](BinaryOp op, int64_t a, int64_t b) {
      return evaluate(op, integer(t, a), integer(t, b)).as_int();
    };
    EXPECT_EQ(run(BinaryOp::floordiv, -3, 4), -1);
    EXPECT_EQ(run(BinaryOp::ceildiv, 7, -3), -2);
    EXPECT_EQ(run(BinaryOp::floormod, -3, 4), 1);
    EXPECT_EQ(run(BinaryOp::truncmod, -7, 3), -1);
    EXPECT_EQ(run(BinaryOp::floormod, 7, -3), -2);
    for (int64_t a = -7; a <= 7; ++a) {
      for (int64_t b = -3; b <= 3; ++b) {
        const int64_t q = run(BinaryOp::floordiv, a, b), r = run(BinaryOp::floormod, a, b);
        const int64_t tq = run(BinaryOp::truncdiv, a, b), tr = run(BinaryOp::truncmod, a, b);
        const int64_t up = run(BinaryOp::ceildiv, a, b);
        if (b == 0) {
          EXPECT_TRUE(q == 0 && r == 0 && tq == 0 && tr == 0 && up == 0) << a << " / 0";
          continue;
        }
        const double exact = static_cast<double>(a) / static_cast<double>(b);
        EXPECT_EQ(q, std::floor(exact)) << a << " " << b;
        EXPECT_EQ(tq, std::trunc(exact)) << a << " " << b;
        EXPECT_EQ(up, std::ceil(exact)) << a << " " << b;
        EXPECT_EQ(a, q * b + r) << a << " " << b;
        EXPECT_EQ(a, tq * b + tr) << a << " " << b;
        EXPECT_TRUE(r == 0 || (r < 0) == (b < 0)) << a << " " << b;
        EXPECT_TRUE(tr == 0 || (tr < 0) == (a < 0)) << a << " " << b;
      }
    }
  }
}

TEST(Integer, TheLeastValueDividedByMinusOneWraps) {
  for (DType t : {i4, i8, i16, i32, i64}) {
    const Scalar least = integer(t, INT64_MIN >> (64 - t.bits)), minus_one = integer(t, -1);
    for (BinaryOp op : {BinaryOp::floordiv, BinaryOp::truncdiv, BinaryOp::ceildiv}) {
      EXPECT_EQ(evaluate(op, least, minus_one), least) << to_string(t) << " " << name_of(op);
    }
    EXPECT_EQ(evaluate(BinaryOp::floormod, least, minus_one).as_int(), 0) << to_string(t);
    EXPECT_EQ(evaluate(BinaryOp::truncmod, least, minus_one).as_int(), 0) << to_string(t);
    EXPECT_EQ(evaluate(UnaryOp::neg, least), least) << to_string(t);
    EXPECT_EQ(evaluate(UnaryOp::abs, least), least) << to_string(t);
  }
}

TEST(Integer, ShiftsByTheWidthOrMoreLeaveOnlyTheSign) {
  for (DType t : kIntegers) {
    const bool is_signed = t.is_signed_int();
    for (int64_t amount : {int64_t{t.bits}, int64_t{t.bits} + 1, int64_t{100}, int64_t{-1}}) {
      const Scalar n = integer(t, amount);
      if (n.bits < t.bits) continue;  // the amount wrapped into the range of a 4-bit type
      EXPECT_EQ(evaluate(BinaryOp::shl, integer(t, 3), n).bits, 0u) << to_string(t) << " " << amount;
      EXPECT_EQ(evaluate(BinaryOp::shr, integer(t, 3), n).bits, 0u) << to_string(t) << " " << amount;
      EXPECT_EQ(evaluate(BinaryOp::shr, integer(t, -3), n).as_int(), is_signed ? -1 : 0)
          << to_string(t) << " " << amount;
    }
  }
  EXPECT_EQ(evaluate(BinaryOp::shl, integer(i32, 1), integer(i32, 31)).as_int(), INT32_MIN);
  EXPECT_EQ(evaluate(BinaryOp::shr, integer(i8, -128), integer(i8, 3)).as_int(), -16);
  EXPECT_EQ(evaluate(BinaryOp::shr, integer(u8, -128), integer(u8, 3)).as_int(), 16);
}

TEST(Integer, UnaryOperatorsWrap) {
  for (DType t : {i4, u4, i8, u8}) {
    for (int64_t v = 0; v < (int64_t{1} << t.bits); ++v) {
      const Scalar a = integer(t, v);
      const Wide x = value_of(a);
      EXPECT_TRUE(value_of(evaluate(UnaryOp::neg, a)) == reduced(t, -x)) << to_string(a);
      EXPECT_TRUE(value_of(evaluate(UnaryOp::bit_not, a)) == reduced(t, -1 - x)) << to_string(a);
      EXPECT_TRUE(value_of(evaluate(UnaryOp::abs, a)) == reduced(t, x < 0 ? -x : x)) << to_string(a);
    }
  }
}

TEST(Integer, FmaWraps) {
  EXPECT_EQ(fma(integer(i8, 100), integer(i8, 3), integer(i8, -50)).as_int(), -6);
  EXPECT_EQ(fma(integer(u32, -1), integer(u32, -1), integer(u32, 4)).bits, 5u);
  EXPECT_EQ(fma(integer(i64, INT64_MAX), integer(i64, 2), integer(i64, 3)).as_int(), 1);
}

TEST(Integer, UnsignedSixtyFourBitsCompareAndDivideAsUnsigned) {
  const Scalar big{u64, uint64_t{1} << 63}, one{u64, 1}, three{u64, 3};
  EXPECT_TRUE(evaluate(BinaryOp::gt, big, one).as_bool());
  EXPECT_EQ(evaluate(BinaryOp::max, big, one), big);
  EXPECT_EQ(evaluate(BinaryOp::floordiv, big, three).bits, 3074457345618258602u);
  EXPECT_EQ(evaluate(BinaryOp::ceildiv, big, three).bits, 3074457345618258603u);
  EXPECT_EQ(evaluate(UnaryOp::abs, big), big);
}

TEST(Boolean, LogicAndEquality) {
  for (int a : {0, 1}) {
    for (int b : {0, 1}) {
      const Scalar x = integer(boolean, a), y = integer(boolean, b);
      EXPECT_EQ(evaluate(BinaryOp::logical_and, x, y).as_bool(), a && b);
      EXPECT_EQ(evaluate(BinaryOp::logical_or, x, y).as_bool(), a || b);
      EXPECT_EQ(evaluate(BinaryOp::eq, x, y).as_bool(), a == b);
      EXPECT_EQ(evaluate(BinaryOp::ne, x, y).as_bool(), a != b);
    }
    EXPECT_EQ(evaluate(UnaryOp::logical_not, integer(boolean, a)).as_bool(), !a);
  }
}

constexpr UnaryOp kAllUnary[] = {
#define TW_X(name) UnaryOp::name,
    TW_UNARY_OPS(TW_X)
#undef TW_X
};

TEST(Operators, EvaluateAcceptsWhatIsDefinedAndNothingElse) {
  for (DType t : kTypes) {
    const Scalar one = integer(t, 1);
    for (BinaryOp op : kAllBinary) {
      if (is_defined(op, t)) {
        EXPECT_EQ(evaluate(op, one, one).type, result_type(op, t)) << name_of(op) << " " << to_string(t);
      } else {
        EXPECT_THROW(evaluate(op, one, one), InternalError) << name_of(op) << " " << to_string(t);
      }
    }
    for (UnaryOp op : kAllUnary) {
      if (is_defined(op, t)) {
        EXPECT_EQ(evaluate(op, one).type, result_type(op, t)) << name_of(op) << " " << to_string(t);
      } else {
        EXPECT_THROW(evaluate(op, one), InternalError) << name_of(op) << " " << to_string(t);
      }
    }
  }
}

TEST(Operators, DefinedSetsAreTheDocumentedOnes) {
  EXPECT_TRUE(is_defined(BinaryOp::floordiv, u4));
  EXPECT_FALSE(is_defined(BinaryOp::div, i32));
  EXPECT_TRUE(is_defined(BinaryOp::div, f32));
  EXPECT_FALSE(is_defined(BinaryOp::floormod, f32));
  EXPECT_FALSE(is_defined(BinaryOp::shl, f64));
  EXPECT_FALSE(is_defined(BinaryOp::add, boolean));
  EXPECT_FALSE(is_defined(BinaryOp::logical_and, i32));
  EXPECT_TRUE(is_defined(UnaryOp::is_nan, f64));
  EXPECT_FALSE(is_defined(UnaryOp::is_nan, i32));
  EXPECT_FALSE(is_defined(UnaryOp::exp, i32));
  for (DType t : {tf32, f16, bf16, e4m3, e2m1}) {
    EXPECT_FALSE(is_defined(BinaryOp::add, t)) << to_string(t);
    EXPECT_FALSE(is_defined(BinaryOp::lt, t)) << to_string(t);
    EXPECT_FALSE(is_defined(UnaryOp::neg, t)) << to_string(t);
  }
  EXPECT_THROW(evaluate(BinaryOp::add, integer(i32, 1), integer(i64, 1)), InternalError);
}

}  // namespace
}  // namespace tilewright::test
