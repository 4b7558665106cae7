// The launch plan that follows from a kernel: what it reads and writes, and formulas of its sizes.
#include "machine/launch.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/text.h"

namespace tilewright {
namespace {

ir::Ref<ir::Kernel> kernel_with(const std::string& body) {
  return ir::parse_kernel(
      "kernel k stage traced {\n scalar n: i64\n scalar m: i32\n param A: f32[n] strides [1]\n"
      "param B: f32[(2 * n)] strides [1]\n grid b in 4 threads 8 {\nalloc a: f32[8, 8] shared\n" +
      body + "\n}\n}");
}

std::vector<Access> access(const std::string& body) { return infer_access(*kernel_with(body)); }

TEST(InferAccess, FollowsFromTheStatements) {
  using enum Access;
  EXPECT_EQ(access(""), (std::vector{in, in}));
  EXPECT_EQ(access("copy A[0:+8] -> B[0:+8]"), (std::vector{in, out}));
  EXPECT_EQ(access("store B[0] = (B[1] + A[0])"), (std::vector{in, inout}));
  EXPECT_EQ(access("when (A[b] < 0:f32) {store B[b] = 0:f32}"), (std::vector{in, out}));
  EXPECT_EQ(access("fill A[0:+8] = 0:f32"), (std::vector{out, in}));
  EXPECT_EQ(access("reduce sum a[0:+8, 0:+8] -> A[0:+8] axis 0"), (std::vector{out, in}));
  EXPECT_EQ(access("reduce sum a[0:+8, 0:+8] -> A[0:+8] axis 0 accumulate true"), (std::vector{inout, in}));
}

TEST(PlanArguments, ADimensionDefinesASymbolOrIsAFormula) {
  LaunchPlan plan = plan_arguments(*kernel_with(""));
  ASSERT_EQ(plan.scalars.size(), 2u);
  EXPECT_FALSE(plan.scalars[0].is_argument);
  EXPECT_TRUE(plan.scalars[1].is_argument);
  EXPECT_EQ(plan.tensors[0].shape[0].scalar, 0);
  EXPECT_EQ(plan.tensors[1].shape[0].scalar, -1);
  EXPECT_EQ(plan.tensors[1].shape[0].value.evaluate(std::vector<int64_t>{21, 0}), 42);
  EXPECT_EQ(plan.tensors[1].strides[0].value, Formula::of(1));
}

TEST(FormulaOf, EveryIntegerExpression) {
  auto kernel = kernel_with("");
  LaunchPlan plan = plan_arguments(*kernel);
  auto value = [&](const std::string& text, int64_t n, int64_t m) {
    return formula_of(ir::parse_expr(text, kernel->scalars), plan).evaluate(std::vector<int64_t>{n, m});
  };
  EXPECT_EQ(value("ceildiv(n, 128)", 129, 0), 2);
  EXPECT_EQ(value("(n % 0)", 129, 0), 0);
  EXPECT_EQ(value("abs(n)", -9, 0), 9);
  EXPECT_EQ(value("cast<i64>((m * m))", 0, 65536), 0);
  EXPECT_EQ(value("select((n < 3), n, cast<i64>(m))", 5, 7), 7);
  EXPECT_EQ(value("select(((n < 3) and (m < 1:i32)), 1, 2)", 2, 0), 1);
}

TEST(FormulaOf, SharedPartsAreComputedOnce) {
  auto kernel = kernel_with("");
  ir::Expr doubled = kernel->scalars[0];
  for (int i = 0; i < 60; ++i) doubled = ir::add(doubled, doubled);
  Formula formula = formula_of(doubled, plan_arguments(*kernel));
  EXPECT_EQ(formula.steps.size(), 61u);
  EXPECT_EQ(formula.evaluate(std::vector<int64_t>{3, 0}), INT64_C(3) << 60);
}

}  // namespace
}  // namespace tilewright
