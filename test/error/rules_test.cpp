// The right halves of the tracing rules: what stands close to a refused program and must be accepted. Each kernel runs
// in the interpreter. The wrong halves are in the other files of this folder, by the same names.
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>

#include "ir/text.h"
#include "ir/walk.h"
#include "refuse.h"
#include "source.h"
#include "tilewright/jit.h"

namespace tilewright::refused {
namespace {

using Values = std::vector<float>;

/// w after `body(v, w)`: v = (1, 2, .. 8) and w = (0, .. 0) are shared f32 tiles.
template <class F>
Values run(F body) {
  auto build = [&](Buffer x, Buffer y) {
    for (Var b : grid(1, threads{32})) {
      auto v = shared(f32, {8}), w = shared(f32, {8});
      copy(x[{b}], v);
      clear(w);
      body(v, w);
      copy(w, y[{b}]);
    }
  };
  auto arguments = signature(tensor("x", f32, {8}), tensor("y", f32, {8}));
  Kernel k = compile("right", build, arguments, "interp", {.checked = true});
  Values x{1, 2, 3, 4, 5, 6, 7, 8}, y(8);
  k(Tensor{x.data(), f32, {8}, {}}, Tensor{y.data(), f32, {8}, {}});
  return y;
}

// ---- pure expressions, named results --------------------------------------------------------------------------------

TEST(Right, ExpressionsAppendNothing) {
  ir::Ref<ir::Kernel> plain, more;
  auto arguments = signature(tensor("A", f32, {"N"}));
  plain = trace("k", arguments, [](Buffer A) {
    for (Var b : grid(1)) A(b) = 1;
  });
  more = trace("k", arguments, [](Buffer A) {
    for (Var b : grid(1)) {
      Expr unused = select(A(b) > 0, exp(A(b)) + A(b + 1), 3) * A.extent(0);
      unused += unused;
      A(b) = 1;
    }
  });
  EXPECT_TRUE(ir::equal(plain, more)) << ir::print(more);
}

TEST(Right, ResultNamedByAParameter) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto twice = [](auto x) { return x + x; };
              w(0) = twice(let(v(2)));
              auto clear_it = [](auto tile) { clear(tile); };
              clear_it(shared(f32, {4}));
            }),
            (Values{6, 0, 0, 0, 0, 0, 0, 0}));
}

// ---- epochs ---------------------------------------------------------------------------------------------------------

TEST(Right, ReadKeptBeforeAStore) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto x = let(v(0));
              v(0) = 5;
              w(0) = x + v(0);
            })[0],
            6);
}

TEST(Right, ReadKeptBeforeACopyAFillAndAVariable) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto n = var(i32, 3);
              auto x = let(v(0)), m = let(n + 1);
              copy(w, v);
              auto y = let(v(0));
              fill(v, 7);
              n = 5;
              w(0) = x * 1000 + y * 100 + v(0) * 10 + m;
            })[0],
            1074);
}

TEST(Right, ReadKeptBeforeAReductionAndAGemm) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto s = fragment(f32, {1}), c = fragment(f32, {1, 1});
              auto a = shared(f16, {1, 8}), b = shared(f16, {8, 1});
              fill(s, 2), fill(c, 3), fill(a, 1), fill(b, 1);
              auto x = let(s(0)), y = let(c(0, 0));
              reduce_sum(v, s, 0);
              gemm(a, b, c);
              w(0) = x, w(1) = y, w(2) = s(0), w(3) = c(0, 0);
            }),
            (Values{2, 3, 36, 11, 0, 0, 0, 0}));
}

TEST(Right, WriteToAnotherTileLeavesAReadFresh) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              Expr x = v(0) + v(1);
              w(1) = 9;
              copy(w.tile({1}, {1}), w.tile({2}, {1}));
              w(0) = x;
            }),
            (Values{3, 9, 9, 0, 0, 0, 0, 0}));
}

TEST(Right, OneStatementReadsAndWritesATile) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              v(0) = v(0) + v(1);
              v(0) *= v(0);
              w(0) = v(0);
            })[0],
            9);
}

// ---- blocks and scopes ----------------------------------------------------------------------------------------------

TEST(Right, ReadInItsOwnBlock) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var k : serial(8)) {
                Expr x = v(k) + k;
                w(k) = x;
                when(v(k) > 4, [&] { w(k) = v(k) * 10; });
              }
            }),
            (Values{1, 3, 5, 7, 50, 60, 70, 80}));
}

TEST(Right, ValuesOfOuterBlocksInInnerOnes) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto t = shared(f32, {8});
              copy(v, t);
              for (Var k : serial(4)) {
                auto x = let(v(k));
                for (Var q : serial(2)) w(k * 2 + q) = t(k) + x + q;
              }
            }),
            (Values{2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Right, TraceInsideATrace) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              trace("inner", signature(tensor("A", f32, {"N"})), [](Buffer A) {
                for (Var b : grid(1)) A(b) = 1;
              });
              w(0) = v(1);
            })[0],
            2);
}

// ---- host variables -------------------------------------------------------------------------------------------------

TEST(Right, HostVariableAssignedWhereItIsDeclared) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var k : serial(8)) {
                Expr x = k;
                x = x * 2;
                x += 1;
                std::vector<Expr> all(2);
                all[0] = x, all[1] = v(k);
                w(k) = all[0] + all[1];
              }
            }),
            (Values{2, 5, 8, 11, 14, 17, 20, 23}));
}

TEST(Right, FieldsOfAStructAssigned) {
  struct Pair {
    Expr a, b;
  };
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              Pair p{v(0), v(1)};
              p.a = p.a + p.b;
              Pair q = p;
              w(0) = q.a * q.b;
            })[0],
            6);
}

TEST(Right, ElementsCopiedAndStored) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto a = v(3);
              auto b = a;
              w(0) = b;
              w(1) = w(0);
              w(2) += v(0);
            }),
            (Values{4, 4, 1, 0, 0, 0, 0, 0}));
}

// ---- leaving and going on -------------------------------------------------------------------------------------------

TEST(Right, ContinueAndReturnFromALambda) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var k : serial(8)) {
                w(k) = v(k);
                if (v.rank() == 1) continue;
                w(k) = 0;
              }
              when(v(0) > 0, [&] {
                w(0) = 9;
                if (v.rank() == 1) return;
                w(0) = 0;
              });
            }),
            (Values{9, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Right, ErrorCaughtInTheBlockThatRaisedIt) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var k : serial(2)) {
                try {
                  v(k, k) = 1;
                } catch (const UserError&) {
                }
                w(k) = 3;
              }
            }),
            (Values{3, 3, 0, 0, 0, 0, 0, 0}));
}

// ---- operands -------------------------------------------------------------------------------------------------------

TEST(Right, EveryArithmeticHostType) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              const size_t n = 4;
              auto t = shared(f32, {n, std::ptrdiff_t{2}});
              for (auto [i, j] : parallel(n, 2u)) t(i, j) = 0;
              Expr x = v(0);
              x = x + 'a' + short{1} + 1 + 1L + 1LL + 1u + 1UL + 1.0f + 1.0 + 1.0L;
              x = x + static_cast<unsigned char>(1) + static_cast<signed char>(-1) + uint64_t{1} + int8_t{1};
              w(size_t{0}) = x;
              w(short{1}) = t(3L, 1u) + 5;
            }),
            (Values{1 + 97 + 9 + 2, 5, 0, 0, 0, 0, 0, 0}));
}

TEST(Right, LogicOfEveryTracedType) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              auto yes = shared(boolean, {2});
              yes(0) = true, yes(1) = false;
              auto flag = var(boolean, true);
              auto kept = let(v(0) > 0);
              Expr e = v(1) > 0;
              w(0) = select(yes(0) && flag && kept && e && true, 1, 0);
              w(1) = select(!yes(0) || !flag || !kept || !e || false, 1, 0);
              w(2) = select(!!flag && !yes(1) && !!!yes(1), 1, 0);
              w(3) = select(true && !(v(0) > 5), 1, 0);
              auto no = !flag;
              w(4) = select(no, 1, 2);
            }),
            (Values{1, 0, 1, 1, 2, 0, 0, 0}));
}

TEST(Right, NegationIsOfItsMoment) {
  refuse_tiles({"this value of var0 is stale: var0 was written after the read; keep the value with let(...)",
                {"var0 is read here", "var0 is written here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 auto flag = var(boolean, true);
                 auto no = !flag;
                 flag = false;
                 line = __LINE__ + 1;
                 when(no, [&] { v(0) = 1; });
               });
}

TEST(Right, NumbersOf64Bits) {
  auto build = [](Buffer y) {
    for (Var b : grid(1)) {
      Expr most = std::numeric_limits<uint64_t>::max();
      y(b) = most - 1;
      y(1) = (most / 2) * 2;
      y(2) = select(most > 1, 7, 8);
      y(3) = max(most, 1);
    }
  };
  Kernel k = compile("numbers", build, signature(tensor("y", u64, {4})), "interp");
  std::vector<uint64_t> y(4);
  k(Tensor{y.data(), u64, {4}, {}});
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(y, (std::vector<uint64_t>{kMost - 1, kMost - 1, 7, kMost}));
}

// ---- limits ---------------------------------------------------------------------------------------------------------

TEST(Right, TwoHundredBlocksInsideEachOther) {
  auto nest = [](Buffer A, int loops) {
    auto inner = [&](auto& self, int n) -> void {
      if (n == 0) {
        A(0) = 1;
        return;
      }
      for (Var k : serial(1)) self(self, n - 1);
    };
    for (Var b : grid(1)) inner(inner, loops);
  };
  auto arguments = signature(tensor("A", f32, {"N"}));
  trace("deep", arguments, [&](Buffer A) { nest(A, 199); });
  EXPECT_THROW(trace("deep", arguments, [&](Buffer A) { nest(A, 200); }), UserError);
}

TEST(Right, AsManyNodesAsTheLimit) {
  auto build = [](Buffer A) {
    for (Var b : grid(1))
      for (int i = 0; i < 100; ++i) A(i) = 1;
  };
  auto traced = [&](int64_t nodes) {
    trace("long", signature(tensor("A", f32, {"N"})), build, Here::current(), TraceLimits{.nodes = nodes});
  };
  traced(202);  // the grid and its variable, and for each store an element and a statement
  EXPECT_THROW(traced(201), UserError);
}

TEST(Right, TheTraceSlotLivesInOneFile) {
  const char* const kFiles[] = {"include/tilewright/dsl/loop.h",
                                "include/tilewright/dsl/math.h",
                                "include/tilewright/dsl/signature.h",
                                "include/tilewright/dsl/tile.h",
                                "include/tilewright/dsl/value.h",
                                "src/dsl/region.h",
                                "src/dsl/state.h",
                                "src/dsl/trace.h"};
  for (const char* file : kFiles)
    for (const std::string& line : lines_of(file)) EXPECT_EQ(line.find("thread_local"), std::string::npos) << file;
}

// ---- indices --------------------------------------------------------------------------------------------------------

TEST(Right, IndicesThatStayInside) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var i : parallel(8)) w(7 - i) = v(i);
              for (auto [i, j] : parallel(2, 4)) w(i * 4 + j) += v(i * 4 + 3 - j);
              for (Var k : serial(0)) w(k + 8) = 1;
              for (Var i : parallel(9)) when(i < 8, [&] { w(i) += 1; });
              for (Var i : parallel(9)) when(i > 8 && w(i - 8) > 0, [&] { w(0) = v(i); });
              for (Var k : serial(2)) copy(v.tile({k * 4}, {4}), w.tile({4 - k * 4}, {4}));
            }),
            (Values{5, 6, 7, 8, 1, 2, 3, 4}));
}

TEST(Right, CopyInsideATileOfPartsThatAreApart) {
  EXPECT_EQ(run([](Buffer v, Buffer w) {
              for (Var k : serial(2)) copy(v.tile({k + 2}, {2}), v.tile({k}, {2}));
              copy(v, w);
            }),
            (Values{3, 4, 5, 4, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace tilewright::refused
