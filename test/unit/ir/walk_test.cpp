#include "ir/walk.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/text.h"
#include "samples.h"

namespace tilewright::ir {
namespace {

const Ref<Var> x = make<Var>("x", f32), i = make<Var>("i"), j = make<Var>("j");

Expr add_x(const Expr& e) { return make<Binary>(BinaryOp::add, e, x); }

TEST(Equal, ComparesStructureAndNotIdentityOrLocation) {
  EXPECT_TRUE(equal(add_x(x), add_x(make<Var>("x", f32))));
  EXPECT_FALSE(equal(add_x(x), make<Binary>(BinaryOp::sub, x, x)));
  EXPECT_FALSE(equal(make<Var>("x", f32), make<Var>("x", f64)));
  EXPECT_FALSE(equal(index(1), constant(Scalar::of_int(i32, 1))));
  EXPECT_TRUE(equal(make_at<Barrier>(Location("a", 1)), make_at<Barrier>(Location("b", 2))));
  EXPECT_TRUE(equal(nullptr, nullptr));
  EXPECT_FALSE(equal(x, nullptr));
}

TEST(Equal, TellsPositiveFromNegativeZero) {
  EXPECT_FALSE(equal(constant(Scalar::of_float(f32, 0.0)), constant(Scalar::of_float(f32, -0.0))));
  Expr nan = constant(Scalar::of_float(f32, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(equal(nan, constant(Scalar::of_float(f32, std::numeric_limits<double>::quiet_NaN()))));
}

TEST(Equal, AnAbsentOtherwiseIsNotAnEmptyOne) {
  Stmt b = make<Barrier>();
  EXPECT_FALSE(equal(make<When>(truth(true), b), make<When>(truth(true), b, make<Seq>())));
  EXPECT_FALSE(equal(make<When>(truth(true), b, make<Seq>()), make<When>(truth(true), b)));
}

TEST(Equal, IsLinearWhenTheTwoSidesShareDifferently) {
  // Left: one node a level. Right: two equal nodes a level, each used twice. As trees both have 2^60 nodes.
  Expr left = x, one = x, two = make<Var>("x", f32);
  for (int n = 0; n < 60; ++n) {
    left = make<Binary>(BinaryOp::mul, left, left);
    Expr next = make<Binary>(BinaryOp::mul, one, two), other = make<Binary>(BinaryOp::mul, one, two);
    one = next;
    two = other;
  }
  EXPECT_TRUE(equal(left, one));
  EXPECT_TRUE(equal(one, left));
  EXPECT_TRUE(equal(one, two));
}

TEST(PostOrder, VisitsASharedNodeOnceAndChildrenFirst) {
  Expr sum = add_x(i->type == i64 ? Expr(x) : Expr(x));
  Expr root = make<Binary>(BinaryOp::mul, sum, sum);
  std::vector<const Node*> order;
  post_order(root, [&](const Node& n) { order.push_back(&n); });
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0], x.get());
  EXPECT_EQ(order[1], sum.get());
  EXPECT_EQ(order[2], root.get());
  post_order(nullptr, [&](const Node&) { FAIL() << "nothing to visit"; });
}

TEST(Rewrite, KeepsUntouchedSubtreesAndSharing) {
  Ref<Var> y = make<Var>("y", f32);
  Expr kept = make<Unary>(UnaryOp::exp, x), changed = make<Unary>(UnaryOp::exp, y);
  Expr root = make<Binary>(BinaryOp::mul, make<Binary>(BinaryOp::add, kept, changed), changed);
  int calls = 0;
  Expr out = rewrite_as(root, [&](const Any& n) -> Any {
    ++calls;
    return n.get() == y.get() ? Any(x) : n;
  });
  EXPECT_EQ(calls, 6);
  const Binary *mul = as<Binary>(out), *sum = as<Binary>(mul->a);
  EXPECT_EQ(sum->a.get(), kept.get());
  EXPECT_EQ(sum->b.get(), mul->b.get());
  EXPECT_EQ(print(out), "%0 = exp(x)\n((exp(x) + %0) * %0)");
  EXPECT_EQ(rewrite(root, [](const Any& n) { return n; }).get(), root.get());
}

TEST(Rewrite, KeepsLocations) {
  Stmt let = make_at<Let>(Location("a.cpp", 7), j, Expr(i));
  Stmt out = rewrite_as(let, [&](const Any& n) -> Any { return n.get() == i.get() ? Any(index(3)) : n; });
  EXPECT_NE(out.get(), let.get());
  EXPECT_EQ(out->at.line, 7u);
}

TEST(Rewrite, RemovesStatements) {
  Ref<Kernel> k = parse_kernel(R"(kernel k stage threads {
    barrier
    when true { barrier } otherwise { barrier }
    for serial i in 4 { barrier }
    let z = 1
  })");
  Ref<Kernel> out = rewrite_as(k, [](const Any& n) -> Any { return n->kind == Kind::Barrier ? nullptr : n; });
  EXPECT_EQ(print(out->body), "seq {\n  when true {}\n  for serial i in 4 {}\n  let z = 1\n}\n");
}

TEST(Substitute, ReplacesAVariableEverywhere) {
  Ref<Buffer> A = make<Buffer>("A", f32, Exprs{index(9)});
  Expr e = make<Binary>(BinaryOp::add, load(A, {i}), load(A, {add(i, j)}));
  Expr out = substitute_in(e, {{i, index(2)}});
  EXPECT_EQ(print(out), "(A[2] + A[(2 + j)])");
  EXPECT_EQ(substitute_in(e, {{make<Var>("k"), index(2)}}).get(), e.get());
}

TEST(Phases, AreTheStatementsOfTheBodyOrTheBodyItself) {
  auto kernel = [](const std::string& grids) { return parse_kernel("kernel k stage traced {" + grids + "}"); };
  const std::string one = " grid b in 2 threads 1 { } ", other = " grid c in 3 threads 1 { } ";
  EXPECT_TRUE(phases(*kernel("")).empty());
  EXPECT_EQ(phases(*kernel(one)).size(), 1u);
  EXPECT_EQ(phases(*kernel(one + other)).size(), 2u);
  Ref<Kernel> bare =
      make<Kernel>("k", Stage::traced, std::vector<Ref<Var>>{}, std::vector<Ref<Buffer>>{}, phases(*kernel(one))[0]);
  ASSERT_EQ(phases(*bare).size(), 1u);
  EXPECT_EQ(phases(*bare)[0].get(), bare->body.get());
}

TEST(Release, FreesADiamondOnce) {
  // A count that went wrong would crash here or under a sanitizer.
  Expr root = x;
  for (int n = 0; n < 1000; ++n) root = make<Binary>(BinaryOp::mul, root, root);
  const uint32_t before = x->refs.load();
  root = nullptr;
  EXPECT_EQ(x->refs.load(), before - 2);
}

TEST(Release, StaticNodesOutliveTheThreadsLocals) {
  // Freed when the process ends, after the thread-local state of this thread.
  static Expr kept = add_x(add_x(x));
  EXPECT_EQ(kept->dtype, f32);
}

}  // namespace
}  // namespace tilewright::ir
