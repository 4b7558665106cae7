// Nothing recurses on the depth of an expression, and nothing walks a shared part twice: a chain of a million additions
// and sixty doublings go through everything, each step within a second. Times are printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "samples.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TW_SLOW_BUILD 1
#endif
#endif
#ifndef TW_SLOW_BUILD
#define TW_SLOW_BUILD 0
#endif

namespace tilewright::ir {
namespace {

constexpr double kLimit = TW_SLOW_BUILD ? 60 : 2;  // seconds; twice what is promised, for cores that others use too

template <class F>
void timed(const char* what, F&& f) {
  const std::clock_t start = std::clock();  // of this process: other work on the machine does not count
  f();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("  %-10s %7.3f s\n", what, seconds);
  EXPECT_LT(seconds, kLimit) << what;
}

/// Builds twice by `build`, and sends one through everything.
template <class Build>
void through_everything(Build&& build, const std::vector<Ref<Var>>& variables) {
  Expr e, other, back;
  std::string text;
  timed("build", [&] { e = build(); });  // hashing included
  other = build();
  timed("equal", [&] { EXPECT_TRUE(equal(e, other)); });
  EXPECT_EQ(e->hash, other->hash);
  timed("print", [&] { text = print(e); });
  timed("parse", [&] { back = parse_expr(text, variables); });
  std::string why;
  EXPECT_TRUE(same_graph(e, back, why)) << why;
  timed("rewrite", [&] {
    Expr out = rewrite_as(e, [](const Any& n) { return n; });
    EXPECT_EQ(out.get(), e.get());
  });
  timed("simplify", [&] {
    Context context;
    EXPECT_EQ(simplify(e, context)->dtype, e->dtype);
  });
  other = back = nullptr;
  timed("destroy", [&] { e = nullptr; });
}

constexpr int kChain = 1'000'000;

TEST(Depth, AChainOfAMillionFloatAdditions) {
  Ref<Var> x = make<Var>("x", f32), y = make<Var>("y", f32);
  through_everything(
      [&] {
        Expr e = x;
        for (int n = 0; n < kChain; ++n) e = make<Binary>(BinaryOp::add, e, n % 2 ? x : y);
        return e;
      },
      {x, y});
}

TEST(Depth, AChainOfAMillionIntegerAdditions) {
  Ref<Var> x = make<Var>("x"), y = make<Var>("y");
  through_everything(
      [&] {
        Expr e = x;
        for (int n = 0; n < kChain; ++n) e = make<Binary>(BinaryOp::add, e, n % 2 ? x : y);
        return e;
      },
      {x, y});
}

TEST(Depth, ARightLeaningChainOfAMillionAdditions) {
  Ref<Var> x = make<Var>("x", f32);
  through_everything(
      [&] {
        Expr e = x;
        for (int n = 0; n < kChain; ++n) e = make<Binary>(BinaryOp::add, x, e);
        return e;
      },
      {x});
}

TEST(Depth, AChainOfAMillionNarrowAdditionsAndSubtractions) {
  Ref<Var> x = make<Var>("x", u8), y = make<Var>("y", u8);
  through_everything(
      [&] {
        Expr e = x;
        for (int n = 0; n < kChain; ++n) e = make<Binary>(n % 3 ? BinaryOp::add : BinaryOp::sub, e, n % 2 ? x : y);
        return e;
      },
      {x, y});
}

/// More than a sum keeps apart.
TEST(Depth, AChainOfAHundredTerms) {
  std::vector<Ref<Var>> variables;
  for (int n = 0; n < 100; ++n) variables.push_back(make<Var>(fmt::format("x{}", n)));
  through_everything(
      [&] {
        Expr e = variables[0];
        for (int n = 0; n < kChain; ++n) e = make<Binary>(BinaryOp::add, e, variables[n % 100]);
        return e;
      },
      variables);
}

TEST(Depth, AChainOfEveryIntegerOperator) {
  Ref<Var> x = make<Var>("x"), y = make<Var>("y");
  const BinaryOp ops[] = {BinaryOp::add, BinaryOp::min,     BinaryOp::mul,      BinaryOp::max, BinaryOp::floordiv,
                          BinaryOp::sub, BinaryOp::bit_xor, BinaryOp::floormod, BinaryOp::shr, BinaryOp::bit_or};
  through_everything(
      [&] {
        Expr e = x;
        for (int n = 0; n < kChain; ++n) {
          const BinaryOp op = ops[n % std::size(ops)];
          e = make<Binary>(op, e,
                           op == BinaryOp::floordiv || op == BinaryOp::floormod || op == BinaryOp::shr
                               ? index(n % 5 + 2)
                           : n % 2 ? x
                                   : y);
        }
        return e;
      },
      {x, y});
}

TEST(Depth, SixtyDoublings) {
  for (DType t : {f32, i64}) {
    Ref<Var> x = make<Var>("x", t);
    for (BinaryOp op : {BinaryOp::add, BinaryOp::mul})
      through_everything(
          [&] {
            Expr e = x;
            for (int n = 0; n < 60; ++n) e = make<Binary>(op, e, e);
            return e;
          },
          {x});
  }
}

TEST(Depth, SixtyDoublingsOfConditions) {
  Ref<Var> x = make<Var>("x");
  through_everything(
      [&] {
        Expr e = less(x, index(3));
        for (int n = 0; n < 60; ++n)
          e = make<Binary>(n % 2 ? BinaryOp::logical_and : BinaryOp::logical_or, e,
                           make<Unary>(UnaryOp::logical_not, e));
        return e;
      },
      {x});
}

TEST(Depth, AssumingAndProvingADeepConditionEnds) {
  Ref<Var> x = make<Var>("x");
  Expr chain = less(x, index(3)), doubled = chain;
  for (int n = 0; n < kChain; ++n) chain = make<Binary>(BinaryOp::logical_and, chain, less(x, index(5)));
  for (int n = 0; n < 60; ++n) doubled = make<Binary>(BinaryOp::logical_and, doubled, doubled);
  timed("assume", [&] {
    Context context;
    context.assume(chain);
    context.assume(doubled);
    EXPECT_EQ(context.prove(less(x, index(4))), Proof::yes);
    context.prove(chain);
    context.prove(doubled);
  });
}

}  // namespace
}  // namespace tilewright::ir
