// A call's arguments against a launch plan: what is solved, and the sentence for what does not fit.
#include <gtest/gtest.h>

#include "runtime/launch_plan.h"

namespace tilewright {
namespace {

Formula scalar(int i) { return {{{Formula::Step::Kind::scalar, i64, i, {}}}}; }

/// copy(A (M, K) row-major, B (K) any stride, scale f16, count i32) -> B is written.
LaunchPlan plan() {
  LaunchPlan p;
  p.kernel = "copy";
  p.scalars = {
      {"M", i64, false}, {"K", i64, false}, {"B_stride0", i64, false}, {"scale", f16, true}, {"count", i32, true}};
  DimRule m{.scalar = 0, .value = {}}, k{.scalar = 1, .value = {}};
  p.tensors = {
      {"A", f32, {m, k}, {{.scalar = -1, .value = scalar(1)}, {.scalar = -1, .value = Formula::of(1)}}, Access::in},
      {"B", f32, {k}, {{.scalar = 2, .value = {}}}, Access::out}};
  return p;
}

struct Call {
  std::vector<float> a = std::vector<float>(64), b = std::vector<float>(64);
  Tensor A{a.data(), f32, {3, 5}, {}}, B{b.data(), f32, {5}, {}};
  Argument scale = 0.5, count = 7;
  std::vector<Argument> arguments() const { return {A, B, scale, count}; }
  std::string refusal(const std::vector<Argument>& arguments) const {
    try {
      bind_arguments(plan(), arguments, Location("user.cpp", 12));
    } catch (const UserError& e) {
      EXPECT_EQ(e.location().line, 12u);
      return e.message();
    }
    return "accepted";
  }
  std::string refusal() const { return refusal(arguments()); }
};

TEST(Bind, SolvesSymbolsAndPacksScalars) {
  Call c;
  BoundArguments bound = bind_arguments(plan(), c.arguments(), {});
  EXPECT_EQ(bound.tensors, (std::vector<void*>{c.a.data(), c.b.data()}));
  EXPECT_EQ(bound.tensor_bytes, (std::vector<int64_t>{60, 20}));
  EXPECT_EQ(bound.formula_scalars, (std::vector<int64_t>{3, 5, 1, 0, 7}));
  EXPECT_EQ(bound.scalars[3], 0x3800u);  // 0.5 as f16
}

TEST(Bind, RunTimeStrideIsTakenFromTheTensor) {
  Call c;
  c.B.strides = {3};
  BoundArguments bound = bind_arguments(plan(), c.arguments(), {});
  EXPECT_EQ(bound.formula_scalars[2], 3);
  EXPECT_EQ(bound.tensor_bytes[1], 52);  // 4 * 3 + 1 elements
}

TEST(Bind, EmptyTensorNeedsNoData) {
  Call c;
  c.A = {nullptr, f32, {0, 5}, {}};
  EXPECT_EQ(c.refusal(), "accepted");
  c.A = {nullptr, f32, {1, 5}, {}};
  EXPECT_EQ(c.refusal(), "copy: argument A: data is null");
}

TEST(Bind, StrideOfAnAxisOfOneIsNotChecked) {
  Call c;
  c.A.shape = {1, 5};
  c.A.strides = {99, 1};
  EXPECT_EQ(c.refusal(), "accepted");
}

TEST(Bind, OneSymbolHasOneValue) {
  Call c;
  c.B.shape = {4};
  EXPECT_EQ(c.refusal(), "copy: size 0 of B is 4 but size 1 of A is 5; both must be K");
}

TEST(Bind, StridesOfARowMajorTensor) {
  Call c;
  c.A.strides = {8, 1};
  EXPECT_EQ(c.refusal(), "copy: stride 0 of A is 8, the kernel was compiled for K = 5");
  c.A.strides = {5, 2};
  EXPECT_EQ(c.refusal(), "copy: stride 1 of A is 2, the kernel was compiled for 1");
  c.A.strides = {-5, 1};
  EXPECT_EQ(c.refusal(), "copy: argument A: stride 0 is -5: negative strides are not supported");
  c.A.strides = {5};
  EXPECT_EQ(c.refusal(), "copy: argument A: has 2 sizes and 1 strides");
}

TEST(Bind, TypeRankKindAndCount) {
  Call c;
  EXPECT_EQ(c.refusal({c.A, c.B}), "copy: got 2 arguments, wanted 4 (2 tensors, 2 scalars)");
  EXPECT_EQ(c.refusal({1, c.B, c.scale, c.count}), "copy: argument A: got a number, wanted a tensor (M, K) f32");
  EXPECT_EQ(c.refusal({c.A, c.B, c.A, c.count}), "copy: argument scale: got a tensor, wanted a f16 number");
  EXPECT_EQ(c.refusal({c.A, c.B, c.scale, 7.5}), "copy: argument count: got 7.5, wanted a whole number (i32)");
  EXPECT_EQ(c.refusal({c.A, c.B, c.scale, int64_t{1} << 40}), "copy: argument count: 1099511627776 does not fit i32");
  c.A.dtype = f16;
  EXPECT_EQ(c.refusal(), "copy: argument A: got (3, 5) f16, wanted (M, K) f32");
  c.A = {c.a.data(), f32, {15}, {}};
  EXPECT_EQ(c.refusal(), "copy: argument A: got (15) f32, wanted (M, K) f32");
}

TEST(Bind, MisalignedData) {
  Call c;
  c.A.data = reinterpret_cast<char*>(c.a.data()) + 2;
  EXPECT_EQ(c.refusal(), "copy: argument A: data is not aligned to its element of 4 bytes");
}

TEST(Bind, AnOutputMayNotOverlap) {
  Call c;
  c.B.data = c.a.data() + 14;
  EXPECT_EQ(c.refusal(), "copy: arguments B and A overlap in memory and the kernel writes B; pass a copy");
  c.B.data = c.a.data() + 15;
  EXPECT_EQ(c.refusal(), "accepted");
}

TEST(Formula, HasTheLanguagesDivision) {
  using Kind = Formula::Step::Kind;
  std::vector<int64_t> values{7};
  auto of = [&](BinaryOp op, int64_t b) {
    return Formula{{{Kind::scalar, i64, 0, {}},
                    {Kind::constant, i64, b, {}},
                    {Kind::binary, i64, static_cast<int64_t>(op), {0, 1}}}};
  };
  EXPECT_EQ(of(BinaryOp::ceildiv, 4).evaluate(values), 2);
  EXPECT_EQ(of(BinaryOp::floordiv, 0).evaluate(values), 0);
  EXPECT_EQ(of(BinaryOp::floordiv, -2).evaluate(values), -4);
  std::vector<std::string> names{"n"};
  EXPECT_EQ(to_string(of(BinaryOp::ceildiv, 4), names), "ceildiv(n, 4)");
  EXPECT_EQ(to_string(of(BinaryOp::mul, 4), names), "(n * 4)");
}

TEST(LaunchSize, ABlockMoreThanTheMachineHasIsRefused) {
  LaunchPlan p;
  p.kernel = "wide";
  Phase phase;
  phase.grid = {scalar(0), scalar(1)};
  phase.blocks = Formula::of(5);
  phase.most_blocks = 12;
  auto size = [&](int64_t n, int64_t m) {
    BoundArguments bound;
    bound.formula_scalars = {n, m};
    try {
      return std::to_string(launch_size(p, phase, bound, Location("user.cpp", 12)));
    } catch (const UserError& e) {
      EXPECT_EQ(e.location().line, 12u);
      return e.message();
    }
  };
  EXPECT_EQ(size(3, 4), "5");
  EXPECT_EQ(size(13, 1), "wide: grid(13, 1) has more blocks than a launch on this machine, 12; let a block do more");
  EXPECT_EQ(size(13, 0), "0");
  EXPECT_EQ(size(-13, -1), "0");
  EXPECT_EQ(size(INT64_MAX, 3),
            "wide: grid(9223372036854775807, 3) has more blocks than a launch on this machine, 12; "
            "let a block do more");
}

TEST(Formula, WrapsAtTheWidthOfItsTypes) {
  using Kind = Formula::Step::Kind;
  Formula twice{{{Kind::scalar, i32, 0, {}},
                 {Kind::binary, i32, static_cast<int64_t>(BinaryOp::add), {0, 0}},
                 {Kind::unary, i32, static_cast<int64_t>(UnaryOp::neg), {1}},
                 {Kind::cast, i64, 0, {2}}}};
  EXPECT_EQ(twice.evaluate(std::vector<int64_t>{5}), -10);
  EXPECT_EQ(twice.evaluate(std::vector<int64_t>{1 << 30}), INT64_C(-2147483648));
}

TEST(Formula, SharedPartsAreComputedOnce) {
  using Kind = Formula::Step::Kind;
  Formula doubled{{{Kind::scalar, i64, 0, {}}}};
  for (int i = 0; i < 60; ++i)
    doubled.steps.push_back({Kind::binary, i64, static_cast<int64_t>(BinaryOp::add), {i, i}});
  EXPECT_EQ(doubled.evaluate(std::vector<int64_t>{3}), INT64_C(3) << 60);
  EXPECT_LT(to_string(doubled, std::vector<std::string>{"n"}).size(), 500u);
}

}  // namespace
}  // namespace tilewright
