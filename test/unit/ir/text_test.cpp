#include "ir/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/build.h"
#include "ir/form.h"
#include "ir/walk.h"
#include "samples.h"

namespace tilewright::ir {
namespace {

const Ref<Var> x = make<Var>("x", f32), y = make<Var>("y", f32), i = make<Var>("i"), j = make<Var>("j", i32),
               flag = make<Var>("flag", boolean);
const Ref<Buffer> A = make<Buffer>("A", f32, Exprs{index(4), index(5)}), s = make<Buffer>("s", f32, Exprs{});

Expr parse(std::string_view text) { return parse_expr(text, {x, y, i, j, flag}, {A, s}); }

void expect_round_trip(const std::string& text) { EXPECT_EQ(print(parse(text)), text); }

void expect_kernel_round_trip(const std::string& text) {
  Ref<Kernel> k = parse_kernel(text);
  EXPECT_EQ(print(k), text);
  std::string why;
  EXPECT_TRUE(same_graph(k, parse_kernel(print(k)), why)) << why;
}

TEST(Text, ConstantsKeepTypeSignAndSpecialValues) {
  for (const char* text :
       {"5", "-3", "true", "false", "-3:i32", "18446744073709551615:u64", "-9223372036854775808", "0.5:f32", "-0:f32",
        "1e30:f64", "1e-30:f32", "nan:f32", "inf:f16", "-inf:bf16", "448:e4m3", "-6:e2m1", "-8:i4"})
    expect_round_trip(text);
  EXPECT_TRUE(std::signbit(as<Const>(parse("-0:f32"))->value.as_double()));
}

TEST(Text, EveryOperatorIsReadBack) {
  for (size_t op = 0; op < std::size(kBinaryNames); ++op)
    for (const Expr& a : {Expr(x), Expr(i), Expr(flag)})
      if (is_defined(static_cast<BinaryOp>(op), a->dtype)) {
        Expr e = make<Binary>(static_cast<BinaryOp>(op), a, a);
        EXPECT_TRUE(equal(parse(print(e)), e)) << print(e);
      }
  for (size_t op = 0; op < std::size(kUnaryNames); ++op)
    for (const Expr& a : {Expr(x), Expr(i), Expr(flag)})
      if (is_defined(static_cast<UnaryOp>(op), a->dtype)) {
        Expr e = make<Unary>(static_cast<UnaryOp>(op), a);
        EXPECT_TRUE(equal(parse(print(e)), e)) << print(e);
      }
}

TEST(Text, ExpressionsPrintAsTheyAreWritten) {
  for (const char* text : {"(x + y)", "((x * y) - 2:f32)", "max(x, -1:f32)", "exp(x)", "select(flag, x, y)",
                           "fma(x, y, 1:f32)", "cast<f16>(x)", "cast<e5m2, inf_nan>(x)", "A[i, (i + 1)]", "s[]",
                           "(i // 3)", "(i % 3)", "(i - -3)", "truncmod(i, 7)", "(flag and (x < y))", "(j << 2:i32)"})
    expect_round_trip(text);
}

TEST(Text, ASharedExpressionIsNamedAndComesBackShared) {
  Expr shared = make<Binary>(BinaryOp::add, x, y);
  Expr square = make<Binary>(BinaryOp::mul, shared, shared);
  EXPECT_EQ(print(square), "%0 = (x + y)\n(%0 * %0)");
  Expr back = parse(print(square));
  std::string why;
  EXPECT_TRUE(same_graph(square, back, why)) << why;
  const Binary* b = as<Binary>(back);
  EXPECT_EQ(b->a.get(), b->b.get());
}

TEST(Text, EqualButSeparateExpressionsStaySeparate) {
  Expr e = make<Binary>(BinaryOp::mul, make<Binary>(BinaryOp::add, x, y), make<Binary>(BinaryOp::add, x, y));
  EXPECT_EQ(print(e), "((x + y) * (x + y))");
  const Expr back = parse(print(e));
  EXPECT_NE(as<Binary>(back)->a.get(), as<Binary>(back)->b.get());
}

TEST(Text, NamesThatAreNoIdentifiersAreQuoted) {
  for (const char* name : {"max", "and", "1x", "a b", "q\"\\", "line\nbreak", "in", "cast", "naïve"}) {
    Ref<Var> v = make<Var>(name, i64);
    Expr e = make<Binary>(BinaryOp::add, v, index(1));
    Expr back = parse_expr(print(e), {v});
    EXPECT_TRUE(equal(e, back)) << print(e);
  }
  EXPECT_EQ(print(make<Var>("max", i64)), "\"max\"");
  EXPECT_EQ(print(make<Var>("A.s0", i64)), "A.s0");
}

TEST(Text, KernelsOfEveryStageRoundTrip) {
  expect_kernel_round_trip(kTracedSample);
  expect_kernel_round_trip(kEnginesSample);
}

/// Line ends mean nothing, so what may follow a statement must not begin like the next one.
TEST(Text, AnOptionalPartNeverBeginsLikeAStatement) {
  std::set<std::string> first_words{"alloc", "seq"}, option_words;
  auto word = [](std::string_view text) {
    size_t begin = text.find_first_not_of(' ');
    return begin == text.npos ? std::string() : std::string(text.substr(begin, text.find(' ', begin) - begin));
  };
  auto read = [&](std::string_view form) {
    if (form.empty()) return;
    first_words.insert(word(form));
    bool in_group = false;
    each_part(form, [&](const FormPart& part) {
      if (in_group && part.kind == FormPart::literal && !word(part.text).empty()) option_words.insert(word(part.text));
      in_group = part.kind == FormPart::open_group;
    });
  };
#define TW_X(T) read(T::kForm);
  TW_STMT_NODES(TW_X)
#undef TW_X
  EXPECT_TRUE(option_words.contains("padding") && option_words.contains("otherwise"));
  for (const std::string& option : option_words) EXPECT_FALSE(first_words.contains(option)) << option;
  expect_kernel_round_trip(R"(kernel k stage traced {
  param A: f32[8]
  grid b in 1 threads 1 {
    alloc a: f32[8] shared
    copy A[0:+8] -> a[0:+8]
    fill a[0:+8] = 0:f32
  }
}
)");
}

TEST(Text, EmptyKernelRoundTrips) { expect_kernel_round_trip("kernel k stage loops {\n}\n"); }

TEST(Text, BlocksAndSeqsAreToldApart) {
  Stmt barrier = make<Barrier>();
  auto round = [](Stmt body) {
    Ref<Kernel> k = make<Kernel>("k", Stage::threads, std::vector<Ref<Var>>{}, std::vector<Ref<Buffer>>{}, body);
    EXPECT_TRUE(equal(k, parse_kernel(print(k)))) << print(k);
  };
  Stmt one = make<Seq>(Stmts{barrier}), none = make<Seq>(Stmts{});
  round(barrier);
  round(one);
  round(none);
  round(make<Seq>(Stmts{one}));
  round(make<Seq>(Stmts{one, none, barrier}));
  round(make<When>(truth(true), one, none));
  round(make<When>(truth(true), none, one));
}

TEST(Text, CommentsAndBlanksDoNotMatter) {
  Ref<Kernel> k = parse_kernel("# head\nkernel   k stage loops{ # more\n\n  scalar n\n\tlet m=(n+1)#end\n}");
  EXPECT_EQ(print(k), "kernel k stage loops {\n  scalar n: i64\n  let m = (n + 1)\n}\n");
}

TEST(Text, LocationsAreRestored) {
  const char* text =
      "kernel k stage loops { @\"my \\\"file\\\".cpp\":3:7\n"
      "  param A: f32[4] @\"k.cpp\":4:1\n"
      "  for serial i in 4 { @\"k.cpp\":5:2\n"
      "    when (i < 2) { @\"k.cpp\":6:3\n"
      "      store A[i] = 0:f32 @\"k.cpp\":7:4\n"
      "    } otherwise {\n"
      "      let z = 1 @\"k.cpp\":8:5\n"
      "    }\n"
      "  }\n"
      "}\n";
  Ref<Kernel> k = parse_kernel(text);
  EXPECT_EQ(print(k, {.locations = true}), text);
  EXPECT_STREQ(k->at.file, "my \"file\".cpp");
  EXPECT_EQ(k->body->at.line, 5u);
  EXPECT_EQ(k->params[0]->at.line, 4u);
}

TEST(Text, LocationsTakeNoPartInTheKey) {
  Ref<Kernel> a = parse_kernel("kernel k stage loops {\n  let z = 1\n}\n", "a.tw");
  Ref<Kernel> b = parse_kernel("\n\nkernel k stage loops {\n\n  let z = 1 @\"q\":9:9 }", "b.tw");
  EXPECT_EQ(print(a), print(b));
  EXPECT_TRUE(equal(a, b));
  EXPECT_EQ(a->hash, b->hash);
  EXPECT_EQ(to_string(a->body->at), "a.tw:2:3");
  EXPECT_EQ(to_string(b->body->at), "q:9:9");
}

TEST(Text, AnExpressionSharedByTwoStatementsIsNamedBeforeTheFirst) {
  const char* text =
      "kernel k stage loops {\n"
      "  scalar n: i64\n"
      "  %0 = (n * 2)\n"
      "  param A: f32[%0]\n"
      "  for serial i in 4 {\n"
      "    %1 = (n + 7)\n"
      "    store A[%1] = 0:f32\n"
      "  }\n"
      "  for serial j in %0 {\n"
      "    store A[%1] = 1:f32\n"
      "  }\n"
      "}\n";
  expect_kernel_round_trip(text);
}

TEST(Text, MessagesMayLeaveBodiesOut) {
  Ref<Kernel> k = parse_kernel("kernel k stage loops { for serial i in 4 { let z = i let w = z } }");
  EXPECT_EQ(print(k->body, {.bodies = false}), "for serial i in 4 {...}\n");
}

TEST(Text, ExpressionsDeeperThanSixtyFourLevelsAreCutIntoNamedParts) {
  Expr e = x;
  for (int n = 0; n < 200; ++n) e = make<Unary>(UnaryOp::neg, e);
  std::string text = print(e);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  Expr back = parse(text);
  EXPECT_TRUE(equal(e, back));
  EXPECT_EQ(print(back), text);
}

}  // namespace
}  // namespace tilewright::ir
