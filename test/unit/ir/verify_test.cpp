// Each promise of a stage: a kernel that breaks it, and the sentence. kGood of each stage keeps all of them.
#include "ir/verify.h"

#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/text.h"

namespace tilewright::ir {
namespace {

std::string found(const std::string& text) {
  auto broken = broken_promise(parse_kernel(text));
  return broken ? broken->sentence : "";
}

/// `body` inside one phase of the stage.
std::string traced(const std::string& body) {
  return "kernel k stage traced {\n param A: f32[100]\n grid b in 4 threads 8 {\n" + body + "\n}\n}";
}
std::string loops(const std::string& body) {
  return "kernel k stage loops {\n param A: f32[100]\n for blocks b in 4 {\n" + body + "\n}\n}";
}
std::string threads(const std::string& body) {
  return "kernel k stage threads {\n param A: f32[100]\n for blocks b in 4 {\n"
         "alloc s: f32[8] shared memory fast offset 0\n for threads t in 8 {\n" +
         body + "\n}\n}\n}";
}
std::string engines(const std::string& body) {
  return "kernel k stage engines {\n param A: f32[100]\n for cores c in 4 {\n"
         "alloc s: f32[8] shared memory ub offset 0\n" +
         body + "\n}\n}";
}

TEST(Verify, KernelsThatKeepTheirPromises) {
  EXPECT_EQ(
      found(traced("alloc s: f32[8] shared\n copy A[0:+8] -> s[0:+8]\n for parallel i in 8 {store s[i] = 1:f32}")), "");
  EXPECT_EQ(found(loops("alloc s: f32[8] shared memory scratch offset 64\n"
                        "for reduction i in 8 {store s[i] = (s[i] + A[i])}")),
            "");
  EXPECT_EQ(found(threads("store s[t] = A[t] barrier when (b == 0) {barrier} store A[t] = s[(7 - t)]")), "");
  EXPECT_EQ(found(engines("on mte2 {copy A[0:+8] -> s[0:+8]} set_flag mte2 -> mte3 id 0 wait_flag mte2 -> mte3 id 0 "
                          "on mte3 {copy s[0:+8] -> A[0:+8]}")),
            "");
}

TEST(Verify, NamesAreDeclaredOnceAndBeforeUse) {
  // The text cannot say any of these; a pass can.
  Ref<Var> stray = make<Var>("stray", i64);
  Ref<Kernel> good = parse_kernel(traced("for serial i in 2 {store A[i] = 0:f32}"));
  const auto& grid = static_cast<const Grid&>(*good->body);
  auto body = [&](const Stmt& s) {
    return make<Kernel>(good->name, good->stage, good->scalars, good->params,
                        make<Grid>(grid.vars, grid.extents, grid.threads, s));
  };
  EXPECT_EQ(broken_promise(body(make<Seq>(Stmts{grid.body, grid.body})))->sentence,
            "stage traced: i is declared twice: for serial i in 2 {...}");
  auto with = [&](const Expr& index, const Ref<Buffer>& buffer) {
    Stmt store = make_at<Store>(Location("user.cpp", 7), buffer, Exprs{index}, constant(Scalar::of_int(f32, 0)));
    return body(store);
  };
  auto broken = broken_promise(with(stray, good->params[0]));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->sentence, "stage traced: stray is not declared here: store A[stray] = 0:f32");
  EXPECT_EQ(to_string(broken->at), "user.cpp:7");
  Ref<Buffer> other = make<Buffer>("A", f32, Exprs{index(99)}, Exprs{}, Space::global);
  EXPECT_EQ(broken_promise(with(index(0), other))->sentence,
            "stage traced: A is used as A: f32[99] but declared as A: f32[100]: store A[0] = 0:f32");
}

TEST(Verify, DeclarationsEndWithTheirBlock) {
  Ref<Kernel> k = parse_kernel(traced("let x = b store A[x] = 0:f32"));
  const auto& grid = static_cast<const Grid&>(*k->body);
  const auto& inner = static_cast<const Seq&>(*grid.body);
  Stmt body = make<Seq>(Stmts{make<Seq>(Stmts{inner.stmts[0]}), inner.stmts[1]});
  auto broken = broken_promise(
      make<Kernel>(k->name, k->stage, k->scalars, k->params, make<Grid>(grid.vars, grid.extents, grid.threads, body)));
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->sentence, "stage traced: x is not declared here: store A[x] = 0:f32");
}

TEST(Verify, EachStageHasItsStatements) {
  EXPECT_EQ(found("kernel k stage traced {\n param A: f32[100]\n store A[0] = 0:f32\n}"),
            "stage traced: a kernel's body is a sequence of grids: store A[0] = 0:f32");
  EXPECT_EQ(found("kernel k stage loops {\n param A: f32[100]\n store A[0] = 0:f32\n}"),
            "stage loops: a kernel's body is a sequence of loops over blocks or cores: store A[0] = 0:f32");
  EXPECT_EQ(found(traced("barrier")), "stage traced: this statement does not belong to this stage: barrier");
  EXPECT_EQ(found(loops("fill A[0:+8] = 0:f32")),
            "stage loops: this statement does not belong to this stage: fill A[0:+8] = 0:f32");
  EXPECT_EQ(found(loops("for pipelined k in 4 stages 2 {store A[k] = 0:f32}")),
            "stage loops: a pipelined loop does not belong to this stage: for pipelined k in 4 stages 2 {...}");
  EXPECT_EQ(found(threads("for parallel i in 8 {store A[i] = 0:f32}")),
            "stage threads: a parallel loop does not belong to this stage: for parallel i in 8 {...}");
  EXPECT_EQ(found(loops("for blocks x in 2 {}")), "stage loops: a phase stands inside a phase: for blocks x in 2 {}");
  EXPECT_EQ(found(traced("for parallel i in 8 {fill A[0:+8] = 0:f32}")),
            "stage traced: inside a parallel or reduction loop only elements are written: fill A[0:+8] = 0:f32");
}

TEST(Verify, BuffersHaveWhatTheirStageDecides) {
  EXPECT_EQ(found(traced("alloc s: f32[8] shared memory fast")),
            "stage traced: s has a memory before placement: alloc s: f32[8] shared memory fast");
  EXPECT_EQ(found(loops("alloc s: f32[8] shared")), "stage loops: s has no memory: alloc s: f32[8] shared");
  EXPECT_EQ(found(loops("alloc s: f32[8] shared memory scratch")),
            "stage loops: s has no offset: alloc s: f32[8] shared memory scratch");
  EXPECT_EQ(found(loops("alloc s: f32[b] shared memory scratch offset 0")),
            "stage loops: an extent of s is not a constant: alloc s: f32[b] shared memory scratch offset 0");
}

TEST(Verify, LayoutsStandBetweenPlacementAndTheFinalForms) {
  EXPECT_EQ(found(loops("alloc s: f32[8] fragment memory own offset 0 layout \"32b[8:1t]\"")),
            "stage loops: s has a layout in this stage: alloc s: f32[8] fragment memory own offset 0 layout "
            "\"32b[8:1t]\"");
  EXPECT_EQ(found(traced("alloc s: f32[8] fragment layout \"32b[8:1t]\"")),
            "stage traced: s has a layout in this stage: alloc s: f32[8] fragment layout \"32b[8:1t]\"");
}

TEST(Verify, WhatAStatementReadsIsNamedBeforeIt) {
  EXPECT_EQ(found(loops("for serial i in cast<i64>(A[0]) {store A[i] = 0:f32}")),
            "stage loops: an extent reads memory, so that the loop's own stores could change it; a let before the loop "
            "reads it: for serial i in cast<i64>(A[0]) {...}");
}

TEST(Verify, FinalFormsIndexWithI64) {
  EXPECT_EQ(found(loops("for serial i: i32 in 8 {store A[i] = 0:f32}")),
            "stage loops: an index of A is i32; final forms index with i64: store A[i] = 0:f32");
}

TEST(Verify, ThreadsForm) {
  EXPECT_EQ(found("kernel k stage threads {\n for blocks b in 4 {let x = b}\n}"),
            "stage threads: a block has no loop over threads: for blocks b in 4 {...}");
  EXPECT_EQ(found("kernel k stage threads {\n for blocks b in 4 {for threads t in 8 {} for threads u in 8 {}}\n}"),
            "stage threads: a block has a second loop over threads: for threads u in 8 {}");
  EXPECT_EQ(found("kernel k stage threads {\n for blocks b in 4 {for threads t in b {}}\n}"),
            "stage threads: the number of threads is not a constant: for threads t in b {}");
  EXPECT_EQ(found("kernel k stage threads {\n for blocks b in 4 {barrier for threads t in 8 {}}\n}"),
            "stage threads: only let and alloc stand between the loops over blocks and threads: barrier");
  const std::string unreachable = "stage threads: some threads of the block cannot reach this barrier: barrier";
  EXPECT_EQ(found(threads("when (t < 4) {barrier}")), unreachable);
  EXPECT_EQ(found(threads("when (t < 4) {shuffle v: f32 = 1:f32 lanes 2}")),
            "stage threads: some threads of the block cannot reach this shuffle: shuffle v: f32 = 1:f32 lanes 2");
  EXPECT_EQ(found(threads("alloc q: f32[8] fragment memory own offset 0 when (t < 4) {mma unit q at 0 x q at 0 -> q at "
                          "4}")),
            "stage threads: some threads of the block cannot reach this product: mma unit q at 0 x q at 0 -> q at 4");
  EXPECT_EQ(found(threads("let x = (t + 1) when (x < 4) {} otherwise {barrier}")), unreachable);
  EXPECT_EQ(found(threads("for serial i in t {barrier}")), unreachable);
  EXPECT_EQ(found(threads("when (s[t] < 4:f32) {barrier}")), unreachable);
  EXPECT_EQ(found(threads("for serial i in t {let x = i when (x == 0) {barrier}}")), unreachable);
  EXPECT_EQ(found(threads("when (s[b] < 4:f32) {barrier}")), "");
  EXPECT_EQ(found(threads("alloc x: f32[8] local memory own offset 32 store x[0] = A[t]")), "");
}

TEST(Verify, EnginesForm) {
  EXPECT_EQ(found("kernel k stage engines {\n for blocks b in 4 {}\n}"),
            "stage engines: a blocks loop does not belong to this stage: for blocks b in 4 {}");
  EXPECT_EQ(found(engines("store s[0] = 0:f32")), "stage engines: memory is touched outside `on`: store s[0] = 0:f32");
  EXPECT_EQ(found(engines("let x: f32 = s[0]")), "");  // the issuing engine reads it
  EXPECT_EQ(found(engines("on v {on w {store s[0] = 0:f32}}")),
            "stage engines: inside `on` stand one copy or loops over elements: on w {...}");
  EXPECT_EQ(found(engines("on v {store s[0] = 0:f32 set_flag v -> w id 0}")),
            "stage engines: inside `on` stand one copy or loops over elements: set_flag v -> w id 0");
}

TEST(Verify, FlagsAreSetAndWaitedForInTurnOnEveryPath) {
  EXPECT_EQ(found(engines("wait_flag v -> w id 1")), "stage engines: nothing has set this flag: wait_flag v -> w id 1");
  EXPECT_EQ(found(engines("set_flag v -> w id 1")), "stage engines: nothing waits for this flag: set_flag v -> w id 1");
  EXPECT_EQ(found(engines("set_flag v -> w id 1 set_flag v -> w id 1")),
            "stage engines: the flag is set already: set_flag v -> w id 1");
  EXPECT_EQ(found(engines("set_flag v -> w id 1 wait_flag v -> w id 2")),
            "stage engines: nothing has set this flag: wait_flag v -> w id 2");
  EXPECT_EQ(found(engines("for serial i in 2 {set_flag v -> w id 0} wait_flag v -> w id 0")),
            "stage engines: the flags at the end of the loop differ from its start: for serial i in 2 {...}");
  EXPECT_EQ(found(engines("when (c == 0) {set_flag v -> w id 0} wait_flag v -> w id 0")),
            "stage engines: the two sides leave different flags set: when (c == 0) {...}");
  // A flag may be set in one round and waited for in the next, when it is set before the first and taken after the
  // last.
  EXPECT_EQ(found(engines("set_flag v -> w id 0 for serial i in 2 {wait_flag v -> w id 0 set_flag v -> w id 0} "
                          "wait_flag v -> w id 0")),
            "");
}

TEST(Verify, AMistakeOfAPassIsAnInternalError) {
  Ref<Kernel> bad = parse_kernel(traced("barrier"));
  EXPECT_THROW(verify(bad), InternalError);
  verify(parse_kernel(traced("")));
}

}  // namespace
}  // namespace tilewright::ir
