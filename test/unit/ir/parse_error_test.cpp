// Wrong texts are refused with a sentence at their line and column.
#include <gtest/gtest.h>

#include "ir/text.h"

namespace tilewright::ir {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_kernel(text, "k.tw");
  } catch (const UserError& e) {
    return to_string(e.location()) + ": " + e.message();
  }
  return "accepted";
}
/// The error of a statement at line 4, in a kernel with a scalar n, a tensor A: f32[n, 8] and a tensor H: f16[8].
std::string error_in(const std::string& statement) {
  return error_of("kernel k stage traced {\n  scalar n: i64\n param A: f32[n, 8] param H: f16[8]\n" + statement +
                  "\n}\n");
}

TEST(ParseError, NamesWhatWasFoundAndWhatWasExpected) {
  EXPECT_EQ(error_of(""), "k.tw:1:1: found the end of the text, expected `kernel`");
  EXPECT_EQ(error_of("kernel k {"), "k.tw:1:10: found `{`, expected `stage` and a stage");
  EXPECT_EQ(error_of("kernel k stage soon {}"),
            "k.tw:1:16: found `soon`, expected a stage: traced, planned, placed, lowered, loops, threads or engines");
  EXPECT_EQ(error_of("kernel k stage loops {\n"), "k.tw:2:1: found the end of the text, expected a statement or `}`");
  EXPECT_EQ(error_of("kernel k stage loops {} x"), "k.tw:1:25: found `x`, expected the end of the text");
  EXPECT_EQ(error_in("jump there"), "k.tw:4:1: found `jump`, expected a statement");
  EXPECT_NE(
      error_in("for sideways i in 4 {}").find("k.tw:4:5: found `sideways`, expected a kind of loop: serial, unroll, "),
      std::string::npos);
  EXPECT_EQ(error_in("let a = (n + 1"),
            "k.tw:5:1: found `}`, expected `)`; an operator has two operands, in parentheses: ((a + b) + c)");
  EXPECT_EQ(error_in("let a = n + 1"),
            "k.tw:4:11: found `+`, expected a statement; an operator and its operands stand in parentheses: (a + b)");
  EXPECT_EQ(error_in("let a = (n ? 1)"), "k.tw:4:12: the character '?' means nothing here");
  EXPECT_EQ(error_in("let \"a = 1"), "k.tw:4:5: a quoted name has no closing quote");
}

TEST(ParseError, NamesMustBeKnownUniqueAndVisible) {
  EXPECT_EQ(error_in("let a = q"), "k.tw:4:9: the name q is not known here");
  EXPECT_EQ(error_in("let a = a"), "k.tw:4:9: the name a is not known here");
  EXPECT_EQ(error_in("let n = 1"), "k.tw:4:5: the name n is bound twice; names are unique in a kernel");
  EXPECT_EQ(error_in("for serial i in 4 { let a = i }\nlet b = i"),
            "k.tw:5:9: i is used outside the block that binds it");
  EXPECT_EQ(error_in("for serial i in i {}"), "k.tw:4:17: the name i is not known here");
  EXPECT_EQ(error_in("let a = %7"), "k.tw:4:9: %7 is not defined; a line `%7 = ...` must come before");
  EXPECT_EQ(error_in("%1 = (n + 1) %1 = n"), "k.tw:4:14: %1 is defined twice");
  EXPECT_EQ(error_in("let max = 1"),
            "k.tw:4:5: `max` is a word of the expression syntax; as a name it is written \"max\"");
  EXPECT_EQ(error_in("let a = n[0]"), "k.tw:4:10: n is a variable, not a buffer; it takes no index");
  EXPECT_EQ(error_in("let a: f32 = (A + 1:f32)"), "k.tw:4:17: found `+`, expected `[`, the indices of A");
}

TEST(ParseError, TypesMustAgree) {
  EXPECT_EQ(error_in("let a = (n + 1:i32)"), "k.tw:4:12: +: the operands are i64 and i32; they must have one type");
  EXPECT_EQ(error_in("let a = (n / n)"), "k.tw:4:12: / is not defined on i64");
  EXPECT_EQ(error_in("let a: f16 = (H[0] + H[1])"), "k.tw:4:20: + is not defined on f16");
  EXPECT_EQ(error_in("let a: f16 = exp(H[0])"), "k.tw:4:14: exp is not defined on f16");
  EXPECT_EQ(error_in("let a = select(n, n, n)"), "k.tw:4:9: select: the condition is i64; it must be bool");
  EXPECT_EQ(error_in("let a = select(true, n, 1:f32)"),
            "k.tw:4:9: select: the two sides are i64 and f32; they must have one type");
  EXPECT_EQ(error_in("let a = fma(n, n, n)"),
            "k.tw:4:9: fma: the operands are i64, i64 and i64; they must be all f32 or all f64");
  EXPECT_EQ(error_in("let a: i32 = n"), "k.tw:4:1: let: a is i32, but its value is i64");
  EXPECT_EQ(error_in("store A[0, 0] = 0:f16"), "k.tw:4:1: store to A: the value is f16, but A holds f32");
  EXPECT_EQ(error_in("when n {}"), "k.tw:4:1: when: the condition is i64; it must be bool");
  EXPECT_EQ(error_in("fill A[0:+3:u4, 0:+1] = 0:f32"), "k.tw:4:6: region: extent 0 is u4; it must be i64");
  EXPECT_EQ(error_in("for serial i: i32 in 8:i32 {}"), "k.tw:4:1: for: extent 0 is i32; it must be i64");
  EXPECT_EQ(error_in("alloc t: f32[8:u8] shared"), "k.tw:4:7: t: extent 0 is u8; it must be i64");
  EXPECT_EQ(error_in("for serial i in 1:f32 {}"), "k.tw:4:1: for: extent 0 is f32; it must be an integer");
  EXPECT_EQ(error_in("let a: f32 = cast<f32x4>(n)"), "k.tw:4:14: cast: i64 and f32x4 differ in lanes");
}

TEST(ParseError, CallsNeedTheirOperands) {
  EXPECT_EQ(error_in("let a = max(n)"), "k.tw:4:9: max takes 2 operands, not 1");
  EXPECT_EQ(error_in("let a = abs(n, n)"), "k.tw:4:9: abs takes 1 operands, not 2");
  EXPECT_EQ(error_in("let a = sine(n)"), "k.tw:4:9: there is no function sine");
  EXPECT_EQ(error_in("let a = add(n, n)"), "k.tw:4:9: add is written (a + b)");
}

TEST(ParseError, ConstantsMustFitTheirType) {
  EXPECT_NE(error_in("let a: i8 = 300:i8").find("k.tw:4:13: `300:i8` is no constant"), std::string::npos);
  EXPECT_NE(error_in("let a = 0.5").find("k.tw:4:9: `0.5` is no constant"), std::string::npos);
  EXPECT_NE(error_in("let a = 1:f33").find("k.tw:4:9: `1:f33` is no constant"), std::string::npos);
  EXPECT_NE(error_in("let a = 99999999999999999999").find("is no constant"), std::string::npos);
}

TEST(ParseError, RanksAndExtentsMustAgree) {
  EXPECT_EQ(error_in("let a: f32 = A[0]"), "k.tw:4:15: A has rank 2, but 1 indices are given");
  EXPECT_EQ(error_in("let a: f32 = A[0, 1:f32]"), "k.tw:4:15: an index of A is f32; it must be an integer");
  EXPECT_EQ(error_in("store A[0] = 0:f32"), "k.tw:4:1: store to A: 1 indices, but its rank is 2");
  EXPECT_EQ(error_in("fill A[0:+4] = 0:f32"), "k.tw:4:6: region: 1 offsets and 1 extents, but A has rank 2");
  EXPECT_EQ(error_in("copy A[0:+4, 0:+8] -> A[0:+8, 0:+4]"),
            "k.tw:4:1: copy: the source is f32[4, 8] but the destination is f32[8, 4]");
  EXPECT_EQ(error_in("gemm A[0:+4, 0:+8] x A[0:+4, 0:+8] -> A[0:+4, 0:+8]"),
            "k.tw:4:1: gemm: a is f32[4, 8], b is f32[4, 8] and c is f32[4, 8]: the inner extents differ");
  EXPECT_EQ(error_in("gemm A[0:+4, 0:+8] x A[0:+4, 0:+8] -> A[0:+4, 0:+4] transpose_b true"), "accepted");
  EXPECT_EQ(error_in("reduce sum A[0:+4, 0:+8] -> A[0:+4, 0:+1] axis 2"),
            "k.tw:4:1: reduce: axis 2 of a source of rank 2");
  EXPECT_EQ(error_in("reduce sum A[0:+4, 0:+8] -> A[0:+8, 0:+1] axis 1"),
            "k.tw:4:1: reduce: the source is f32[4, 8], its axis 1 goes, but the destination is f32[8, 1]");
  EXPECT_EQ(error_in("for serial () in () {}"), "k.tw:4:1: for: no variable");
  EXPECT_EQ(error_in("for parallel () in () {}"), "accepted");  // one iteration, of one thread
  EXPECT_EQ(error_in("for serial i, j in 4 {}"), "k.tw:4:1: for: 2 variables for 1 extents");
  EXPECT_EQ(error_in("alloc t: f32[8] shared strides [1]"),
            "k.tw:4:7: t: only a global buffer has strides, this one is shared");
  EXPECT_EQ(error_in("alloc t: f32[8]"),
            "k.tw:4:1: alloc: t is global; global tensors are parameters (runtime memory is workspace)");
}

TEST(ParseError, NestingHasALimitInsteadOfACrash) {
  std::string deep = "n";
  for (int i = 0; i < 100000; ++i) deep = "(" + deep;
  EXPECT_NE(error_in("let a = " + deep).find("nests deeper than 200 levels"), std::string::npos);
  std::string blocks;
  for (int i = 0; i < 100000; ++i) blocks += "when true {";
  EXPECT_NE(error_in(blocks).find("nest deeper than 400 levels"), std::string::npos);
  blocks.clear();
  for (int i = 0; i < 100000; ++i) blocks += "seq {";
  EXPECT_NE(error_in(blocks).find("nest deeper than 400 levels"), std::string::npos);
}

TEST(ParseError, ADuplicateNamesItsFirstPlace) {
  try {
    parse_kernel("kernel k stage loops {\n  let a = 1\n  let a = 2\n}", "k.tw");
    FAIL() << "accepted";
  } catch (const UserError& e) {
    ASSERT_EQ(e.notes().size(), 1u);
    EXPECT_EQ(to_string(e.notes()[0].at), "k.tw:2:7");
  }
}

}  // namespace
}  // namespace tilewright::ir
