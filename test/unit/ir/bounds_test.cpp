// Ranges, facts and proofs: what is known, and that nothing is known where arithmetic may wrap.
#include "ir/bounds.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/text.h"

namespace tilewright::ir {
namespace {

std::string text_of(const Range& r) {
  auto number = [](Wide v) {
    return v > INT64_MAX ? std::to_string(static_cast<uint64_t>(v)) : std::to_string(static_cast<int64_t>(v));
  };
  return number(r.lo) + " to " + number(r.hi);
}

/// i in [0, 8), j in [-3, 4], n an extent; x, y: any i64; s: i8, b: u8, w: i32; p: bool; f: f32.
class Bounds : public testing::Test {
 protected:
  Bounds() {
    for (const auto& [name, type] : std::initializer_list<std::pair<const char*, DType>>{{"i", i64},
                                                                                         {"j", i64},
                                                                                         {"n", i64},
                                                                                         {"x", i64},
                                                                                         {"y", i64},
                                                                                         {"s", i8},
                                                                                         {"b", u8},
                                                                                         {"w", i32},
                                                                                         {"u", u64},
                                                                                         {"p", boolean},
                                                                                         {"f", f32}})
      variables_.push_back(make<Var>(name, type));
    context_.bind(variables_[0], {0, 7});
    context_.bind(variables_[1], {-3, 4});
    context_.bind(variables_[2], {0, kMaxExtent});
  }
  Expr expr(const std::string& text) { return parse_expr(text, variables_, {A_}); }
  std::string range(const std::string& text) { return text_of(context_.range(expr(text))); }
  Proof prove(const std::string& text) { return context_.prove(expr(text)); }
  void assume(const std::string& text, bool value = true) { context_.assume(expr(text), value); }

  std::vector<Ref<Var>> variables_;
  Ref<Buffer> A_ = make<Buffer>("A", u8, Exprs{index(9)}, Exprs{index(1)});
  Context context_;
};

constexpr const char* kAnyI64 = "-9223372036854775808 to 9223372036854775807";

TEST_F(Bounds, OfTypes) {
  EXPECT_EQ(range("x"), kAnyI64);
  EXPECT_EQ(range("s"), "-128 to 127");
  EXPECT_EQ(range("b"), "0 to 255");
  EXPECT_EQ(range("u"), "0 to 18446744073709551615");
  EXPECT_EQ(range("p"), "0 to 1");
  EXPECT_EQ(range("A[i]"), "0 to 255");
  EXPECT_EQ(range("5"), "5 to 5");
  EXPECT_EQ(range("255:u8"), "255 to 255");
}

TEST_F(Bounds, OfSums) {
  EXPECT_EQ(range("(i + 10)"), "10 to 17");
  EXPECT_EQ(range("(i - j)"), "-4 to 10");
  EXPECT_EQ(range("(i * j)"), "-21 to 28");
  EXPECT_EQ(range("(j * -2)"), "-8 to 6");
  EXPECT_EQ(range("neg(j)"), "-4 to 3");
  EXPECT_EQ(range("abs(j)"), "0 to 4");
  EXPECT_EQ(range("(i << 2)"), "0 to 28");
  EXPECT_EQ(range("((n * 8) + i)"), "0 to 2251799813685255");
  // Terms that cancel.
  EXPECT_EQ(range("((x + i) - x)"), "0 to 7");
  EXPECT_EQ(range("((i * 3) - (i * 2))"), "0 to 7");
}

TEST_F(Bounds, OfSumsThatMayWrap) {
  EXPECT_EQ(range("(x + 1)"), kAnyI64);
  EXPECT_EQ(range("(s + 1:i8)"), "-128 to 127");
  EXPECT_EQ(range("neg(s)"), "-128 to 127");
  EXPECT_EQ(range("abs(s)"), "-128 to 127");  // of -128 it is -128
  EXPECT_EQ(range("(b + 1:u8)"), "0 to 255");
  EXPECT_EQ(range("(b - 1:u8)"), "0 to 255");
  EXPECT_EQ(range("(cast<i8>(i) * 18:i8)"), "0 to 126");
  EXPECT_EQ(range("(cast<i8>(i) * 19:i8)"), "-128 to 127");
  EXPECT_EQ(range("(cast<u8>(i) - 8:u8)"), "0 to 255");
  EXPECT_EQ(range("(x * y)"), kAnyI64);
}

TEST_F(Bounds, OfQuotientsAndRemainders) {
  EXPECT_EQ(range("(j // 2)"), "-2 to 2");
  EXPECT_EQ(range("truncdiv(j, 2)"), "-1 to 2");
  EXPECT_EQ(range("ceildiv(j, 2)"), "-1 to 2");
  EXPECT_EQ(range("(j // -2)"), "-2 to 1");
  EXPECT_EQ(range("(20 // (i + 1))"), "2 to 20");
  EXPECT_EQ(range("(20 // i)"), "0 to 20");  // by 0 it is 0
  EXPECT_EQ(range("(20 // j)"), "-20 to 20");
  EXPECT_EQ(range("(x % 5)"), "0 to 4");
  EXPECT_EQ(range("(x % -5)"), "-4 to 0");
  EXPECT_EQ(range("(i % 5)"), "0 to 4");
  EXPECT_EQ(range("(i % 9)"), "0 to 7");
  EXPECT_EQ(range("truncmod(x, 5)"), "-4 to 4");
  EXPECT_EQ(range("truncmod(j, 5)"), "-3 to 4");
  EXPECT_EQ(range("(x % 0)"), "0 to 0");
  EXPECT_EQ(range("(s // -1:i8)"), "-128 to 127");  // -128 // -1 wraps
}

TEST_F(Bounds, OfBitsAndShifts) {
  EXPECT_EQ(range("(x & 15)"), "0 to 15");
  EXPECT_EQ(range("(i & j)"), "0 to 7");
  EXPECT_EQ(range("(i | 8)"), "8 to 15");
  EXPECT_EQ(range("(i ^ 8)"), "0 to 15");
  EXPECT_EQ(range("(j | 8)"), kAnyI64);
  EXPECT_EQ(range("bit_not(i)"), "-8 to -1");
  EXPECT_EQ(range("bit_not(b)"), "0 to 255");
  EXPECT_EQ(range("(j >> 1)"), "-2 to 2");
  EXPECT_EQ(range("(i >> x)"), "0 to 7");
  EXPECT_EQ(range("(j >> x)"), "-3 to 4");
  EXPECT_EQ(range("(i << x)"), kAnyI64);
  EXPECT_EQ(range("(1:i8 << 7:i8)"), "-128 to 127");
}

TEST_F(Bounds, OfChoices) {
  EXPECT_EQ(range("min(i, j)"), "-3 to 4");
  EXPECT_EQ(range("max(i, j)"), "0 to 7");
  EXPECT_EQ(range("min(x, 3)"), "-9223372036854775808 to 3");
  EXPECT_EQ(range("select(p, i, j)"), "-3 to 7");
  EXPECT_EQ(range("select((i < 8), i, x)"), "0 to 7");
  EXPECT_EQ(range("(i < 8)"), "1 to 1");
  EXPECT_EQ(range("(i == j)"), "0 to 1");
  EXPECT_EQ(range("((i < 0) and p)"), "0 to 0");
  EXPECT_EQ(range("((i < 8) or p)"), "1 to 1");
  EXPECT_EQ(range("logical_not((i < 8))"), "0 to 0");
  EXPECT_EQ(range("(f < 1:f32)"), "0 to 1");
}

TEST_F(Bounds, OfConversions) {
  EXPECT_EQ(range("cast<i8>(i)"), "0 to 7");
  EXPECT_EQ(range("cast<u8>(j)"), "0 to 255");  // -1 becomes 255
  EXPECT_EQ(range("cast<i64>(s)"), "-128 to 127");
  EXPECT_EQ(range("cast<i64>(u)"), kAnyI64);
  EXPECT_EQ(range("cast<i16>(x)"), "-32768 to 32767");
  EXPECT_EQ(range("cast<i32>(f)"), "-2147483648 to 2147483647");
  EXPECT_EQ(range("cast<bool>((i + 1))"), "1 to 1");
  EXPECT_EQ(range("cast<bool>(j)"), "0 to 1");
  EXPECT_EQ(range("cast<i64>(p)"), "0 to 1");
}

TEST_F(Bounds, FactsNarrowTheirVariables) {
  assume("((x >= 0) and (x < n))");
  EXPECT_EQ(range("x"), "0 to 281474976710655");
  EXPECT_EQ(range("n"), "1 to 281474976710656");
  assume("((y * 8) >= 17)");  // y * 8 may wrap: nothing is said of y
  EXPECT_EQ(range("y"), kAnyI64);
  assume("(((i * 8) + 3) > 25)");
  EXPECT_EQ(range("i"), "3 to 7");
  assume("((j == 2) or p)", false);
  EXPECT_EQ(range("j"), "-3 to 4");  // a hole is no narrower range
  assume("(j != 2)", false);
  EXPECT_EQ(range("j"), "2 to 2");
}

TEST_F(Bounds, FactsAreForgottenWithTheirScope) {
  assume("(x < 100)");
  const size_t outer = context_.mark();
  assume("(x > 50)");
  assume("p");
  EXPECT_EQ(range("x"), "51 to 99");
  EXPECT_EQ(prove("p"), Proof::yes);
  const size_t inner = context_.mark();
  assume("(x > 60)");
  EXPECT_EQ(range("(x + 1)"), "62 to 100");
  EXPECT_TRUE(context_.release(inner));
  EXPECT_EQ(range("x"), "51 to 99");
  EXPECT_TRUE(context_.release(outer));
  EXPECT_FALSE(context_.release(outer));
  EXPECT_EQ(range("x"), "-9223372036854775808 to 99");
  EXPECT_EQ(prove("p"), Proof::unknown);
}

TEST_F(Bounds, ProofsByRangesFactsAndRules) {
  EXPECT_EQ(prove("(i < 8)"), Proof::yes);
  EXPECT_EQ(prove("(i >= 8)"), Proof::no);
  EXPECT_EQ(prove("(i < 7)"), Proof::unknown);
  assume("(x < y)");
  EXPECT_EQ(prove("(x <= (y - 1))"), Proof::yes);
  EXPECT_EQ(prove("(x != y)"), Proof::yes);
  EXPECT_EQ(prove("(y <= x)"), Proof::no);
  EXPECT_EQ(prove("((x + 1) < y)"), Proof::unknown);
  // What quotients, minima and maxima are.
  EXPECT_EQ(prove("(((n // 8) * 8) <= n)"), Proof::yes);
  EXPECT_EQ(prove("((ceildiv(n, 8) * 8) >= n)"), Proof::yes);
  EXPECT_EQ(prove("(min(n, 8) <= n)"), Proof::yes);
  EXPECT_EQ(prove("(max(n, 8) >= n)"), Proof::yes);
  EXPECT_EQ(prove("((((n // 8) * 8) <= n) and (i < 8))"), Proof::yes);
  EXPECT_EQ(prove("((i < 8) or p)"), Proof::yes);
  EXPECT_EQ(prove("((i > 8) and p)"), Proof::no);
  EXPECT_EQ(prove("logical_not((i > 8))"), Proof::yes);
}

TEST_F(Bounds, TilesOfALoopLieInTheirTensor) {
  const Ref<Var> block = variables_[3];  // x
  context_.bind_loop(block, expr("ceildiv(n, 8)"));
  EXPECT_EQ(prove("((x * 8) < n)"), Proof::yes);
  EXPECT_EQ(prove("(((x * 8) + i) < n)"), Proof::unknown);  // the tail
  EXPECT_EQ(prove("(((x * 8) + i) >= 0)"), Proof::yes);
  assume("(((x * 8) + 8) <= n)");
  EXPECT_EQ(prove("(((x * 8) + i) < n)"), Proof::yes);
}

TEST_F(Bounds, ALoopWithoutIterationsProvesNothingFalse) {
  context_.bind_loop(variables_[3], expr("0"));
  EXPECT_EQ(range("x"), "0 to 0");
}

TEST_F(Bounds, NothingIsProvedOfWhatMayWrap) {
  EXPECT_EQ(prove("(x < (x + 1))"), Proof::unknown);
  EXPECT_EQ(prove("(s < (s + 1:i8))"), Proof::unknown);
  EXPECT_EQ(prove("((b - 1:u8) < b)"), Proof::unknown);
  EXPECT_EQ(prove("((b + 1:u8) > 0:u8)"), Proof::unknown);
  assume("(x < y)");
  EXPECT_EQ(prove("((x - y) < 0)"), Proof::unknown);
  EXPECT_EQ(prove("((x * 2) < (y * 2))"), Proof::unknown);
  assume("((w + 1:i32) > 5:i32)");
  EXPECT_EQ(prove("(w > 4:i32)"), Proof::unknown);
}

TEST_F(Bounds, ConditionsOnMemoryAreNoFacts) {
  assume("(A[i] < 3:u8)");
  EXPECT_EQ(prove("(A[i] < 3:u8)"), Proof::unknown);
  EXPECT_EQ(range("A[i]"), "0 to 255");
}

TEST_F(Bounds, ContradictionsDoNotTurnRangesRound) {
  assume("(i > 100)");
  const Range r = context_.range(expr("i"));
  EXPECT_LE(r.lo, r.hi);
}

/// An operand that stands in a fact about itself, and facts that follow from each other.
TEST_F(Bounds, CyclicQuestionsEnd) {
  assume("(x < (x % y))");
  assume("((x % y) < (y % x))");
  assume("((y % x) < x)");
  for (const char* text : {"(x < y)", "((x % y) < x)", "(((x % y) + (y % x)) < (x * y))", "((x // y) < (y // x))"}) {
    prove(text);
    range(text);
  }
  SUCCEED();
}

}  // namespace
}  // namespace tilewright::ir
