// Values used where they no longer hold, and mixed types.
#include <limits>
#include <memory>
#include <optional>

#include "refuse.h"

namespace tilewright::refused {
namespace {

// ---- stale reads and blocks -----------------------------------------------------------------------------------------

TEST(Values, ReadBeforeAStoreToTheSameTile) {
  refuse_tiles({"this value of shared0 is stale: shared0 was written after the read; keep the value with let(...)",
                {"shared0 is read here", "shared0 is written here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 Expr x = v(0);
                 v(0) = 1;
                 line = __LINE__ + 1;
                 w(0) = x + 1;
               });
}

TEST(Values, ReadBeforeACopyIntoTheTile) {
  refuse_tiles({"this value of shared0 is stale: shared0 was written after the read; keep the value with let(...)",
                {"shared0 is read here", "shared0 is written here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 Expr x = v(0);
                 copy(w, v);
                 line = __LINE__ + 1;
                 w(0) = x;
               });
}

TEST(Values, ReadBeforeAFill) {
  refuse_tiles({"this value of shared0 is stale: shared0 was written after the read; keep the value with let(...)",
                {"shared0 is read here", "shared0 is written here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 Expr x = v(0);
                 clear(v);
                 line = __LINE__ + 1;
                 w(0) = x;
               });
}

TEST(Values, ReadBeforeAReduction) {
  refuse({"this value of frag1 is stale: frag1 was written after the read; keep the value with let(...)",
          {"frag1 is read here", "frag1 is written here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {8, 4}), s = fragment(f32, {8});
           Expr x = s(0);
           reduce_max(v, s, 1);
           line = __LINE__ + 1;
           v(0, 0) = x;
         });
}

TEST(Values, ReadBeforeAGemm) {
  refuse({"this value of frag0 is stale: frag0 was written after the read; keep the value with let(...)",
          {"frag0 is read here", "frag0 is written here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {8, 8}), b = shared(f16, {8, 8});
           auto c = fragment(f32, {8, 8});
           Expr x = c(0, 0);
           gemm(a, b, c);
           line = __LINE__ + 1;
           a(0, 0) = x;
         });
}

TEST(Values, ReadOfAVariableBeforeItChanges) {
  refuse_tiles({"this value of var0 is stale: var0 was written after the read; keep the value with let(...)",
                {"var0 is read here", "var0 is written here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 auto n = var(i32, 0);
                 Expr before = n + 1;
                 n = 5;
                 line = __LINE__ + 1;
                 v(before) = 1;
               });
}

TEST(Values, OldestOfTwoReadsDecides) {
  refuse_tiles({"this value of shared0 is stale: shared0 was written after the read; keep the value with let(...)",
                {"shared0 is read here", "shared0 is written here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 Expr x = v(0) + w(1);
                 v(0) = 1;
                 Expr y = v(0) + x;
                 line = __LINE__ + 1;
                 w(0) = y;
               });
}

TEST(Values, StaleRegionOffset) {
  refuse({"this value of shared0 is stale: shared0 was written after the read; keep the value with let(...)",
          {"shared0 is read here", "shared0 is written here"}},
         [](Buffer A, Buffer, Var, unsigned& line) {
           auto rows = shared(i32, {8});
           auto t = shared(f32, {1, 16});
           auto from = A[{rows(0), 0}];
           rows(0) = 3;
           line = __LINE__ + 1;
           copy(from, t);
         });
}

TEST(Values, ReadOutsideALoopUsedInside) {
  refuse_tiles(
      {"this value of shared0 was read in another block: a loop body or a when is a block of its own; keep the "
       "value with let(...)",
       {"shared0 is read here"}},
      [](Buffer v, Buffer w, unsigned& line) {
        Expr x = v(0);
        for (Var k : serial(8)) {
          line = __LINE__ + 1;
          w(k) = x;
          v(0) = k;
        }
      });
}

TEST(Values, ReadOutsideAWhenUsedInside) {
  refuse_tiles(
      {"this value of shared0 was read in another block: a loop body or a when is a block of its own; keep the "
       "value with let(...)",
       {"shared0 is read here"}},
      [](Buffer v, Buffer w, unsigned& line) {
        Expr x = v(0);
        when(w(0) < 1, [&] {
          line = __LINE__ + 1;
          w(0) = x;
        });
      });
}

TEST(Values, ReadsOfTwoBlocksInOneExpression) {
  refuse_tiles(
      {"this value of shared0 was read in another block: a loop body or a when is a block of its own; keep the "
       "value with let(...)",
       {"shared0 is read here"}},
      [](Buffer v, Buffer w, unsigned& line) {
        Expr x = v(0);
        for (Var k : serial(8)) {
          line = __LINE__ + 1;
          w(k) = x + w(k);
        }
      });
}

// ---- scopes ---------------------------------------------------------------------------------------------------------

TEST(Values, LoopVariableAfterItsLoop) {
  refuse_tiles({"loop variable k is used outside the traced block that made it"}, [](Buffer v, Buffer, unsigned& line) {
    std::vector<Expr> kept;
    for (Var k : serial(8)) kept.push_back(k + 1);
    line = __LINE__ + 1;
    v(kept[0]) = 1;
  });
}

TEST(Values, LetAfterItsBlock) {
  refuse_tiles({"let value let0 is used outside the traced block that made it"}, [](Buffer v, Buffer, unsigned& line) {
    std::optional<Let> kept;
    for (Var k : serial(8)) kept.emplace(let(v(k)));
    auto& y = *kept;
    line = __LINE__ + 1;
    v(0) = y;
  });
}

TEST(Values, VariablesOfTwoClosedLoopsTogether) {
  refuse_tiles({"loop variable k is used outside the traced block that made it"}, [](Buffer v, Buffer, unsigned& line) {
    std::vector<Expr> kept;
    for (Var k : serial(8)) kept.push_back(k);
    for (Var k : serial(4)) {
      line = __LINE__ + 1;
      v(k) = kept[0] + k;
    }
  });
}

TEST(Values, TileAfterItsBlock) {
  refuse_tiles({"tile shared2 is used outside the traced block that made it", {"shared2 declared here"}},
               [](Buffer, Buffer, unsigned& line) {
                 std::optional<Buffer> kept;
                 for (Var k : serial(8)) {
                   (void)k;
                   kept.emplace(shared(f32, {8}));
                 }
                 line = __LINE__ + 1;
                 clear(*kept);
               });
}

TEST(Values, ValueOfAnotherKernel) {
  std::vector<Expr> kept;
  trace("first", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    kept.push_back(A.extent(0));
    for (Var b : grid(1)) A(b) = 1;
  });
  refuse_tiles({"this value belongs to another kernel: values of one trace mean nothing in another"},
               [&](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 v(0) = kept[0];
               });
}

TEST(Values, ValuesOfTwoKernelsInOneExpression) {
  std::vector<Expr> kept;
  trace("first", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    kept.push_back(A.extent(0));
    for (Var b : grid(1)) A(b) = 1;
  });
  refuse({"this value belongs to another kernel: values of one trace mean nothing in another"},
         [&](Buffer, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           Expr x = b + kept[0];
         });
}

TEST(Values, TileOfAnotherKernel) {
  std::optional<Buffer> kept;
  trace("first", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    for (Var b : grid(1)) {
      kept.emplace(shared(f32, {8}));
      A(b) = 1;
    }
  });
  refuse_tiles({"tile shared0 belongs to another kernel"}, [&](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    copy(*kept, v);
  });
}

TEST(Values, StatementAfterTheTraceEnded) {
  std::optional<Buffer> kept;
  trace("first", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    for (Var b : grid(1)) {
      kept.emplace(shared(f32, {8}));
      A(b) = 1;
    }
  });
  expect_error({"clear is used outside a kernel"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    clear(*kept);
  });
}

TEST(Values, ElementAfterTheTraceEnded) {
  std::optional<Buffer> kept;
  trace("first", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    kept.emplace(A);
    for (Var b : grid(1)) A(b) = 1;
  });
  expect_error({"a tensor's element is used outside a kernel"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    (*kept)(0) = 1;
  });
}

TEST(Values, LetOutsideAKernel) {
  expect_error({"let is used outside a kernel"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    auto x = let(Expr(1) + 2);
  });
}

TEST(Values, HostVariableAssignedInAnInnerBlock) {
  refuse_tiles({"this host variable is declared outside this traced block, which is traced once: an assignment here "
                "would not happen in each iteration; use var(dtype, init)",
                {"the traced block"}},
               [](Buffer v, Buffer, unsigned& line) {
                 Expr sum = 0;
                 for (Var k : serial(8)) {
                   line = __LINE__ + 1;
                   sum = sum + v(k);
                 }
               });
}

TEST(Values, HostVariableAccumulatedInAnInnerBlock) {
  refuse_tiles({"this host variable is declared outside this traced block, which is traced once: an assignment here "
                "would not happen in each iteration; use var(dtype, init)",
                {"the traced block"}},
               [](Buffer v, Buffer, unsigned& line) {
                 Expr sum = 0;
                 for (Var k : serial(8)) {
                   line = __LINE__ + 1;
                   sum += v(k);
                 }
               });
}

TEST(Values, HostVariableCopiedIntoInAnInnerBlock) {
  refuse_tiles({"this host variable is declared outside this traced block, which is traced once: an assignment here "
                "would not happen in each iteration; use var(dtype, init)",
                {"the traced block"}},
               [](Buffer v, Buffer, unsigned& line) {
                 Expr a = 0, b = 5;
                 when(v(0) < 1, [&] {
                   line = __LINE__ + 1;
                   a = b;
                 });
               });
}

TEST(Values, HostVectorElementAssignedInAnInnerBlock) {
  refuse_tiles({"this host variable is declared outside this traced block, which is traced once: an assignment here "
                "would not happen in each iteration; use var(dtype, init)",
                {"the traced block"}},
               [](Buffer, Buffer, unsigned& line) {
                 std::vector<Expr> values(3);
                 for (Var k : serial(8)) {
                   line = __LINE__ + 1;
                   values[0] = k;
                 }
               });
}

TEST(Values, ExprWithoutAValue) {
  refuse_tiles({"this Expr has no value: it was default-made or moved from"}, [](Buffer v, Buffer, unsigned& line) {
    Expr x;
    line = __LINE__ + 1;
    v(0) = x + 1;
  });
}

// ---- types ----------------------------------------------------------------------------------------------------------

TEST(Types, NumberThatDoesNotFitAnInteger) {
  refuse({"+: the number 300 does not fit u8"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(u8, {8});
    line = __LINE__ + 1;
    t(0) = t(1) + 300;
  });
}

TEST(Types, NegativeNumberBesideAnUnsignedValue) {
  refuse({"max: the number -1 does not fit u32"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(u32, {8});
    line = __LINE__ + 1;
    t(0) = max(t(1), -1);
  });
}

TEST(Types, FractionStoredToAnIntegerTile) {
  refuse({"store: the number 0.5 does not fit shared0, which is i32"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(i32, {8});
    line = __LINE__ + 1;
    t(0) = 0.5;
  });
}

TEST(Types, FractionFilledIntoAnIntegerTile) {
  refuse({"fill: the number 0.5 does not fit shared0, which is i32"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(i32, {8});
    line = __LINE__ + 1;
    fill(t, 0.5);
  });
}

TEST(Types, FractionBesideALoopVariable) {
  refuse({"*: the number 0.5 does not fit i64: cast the other operand to a float first"},
         [](Buffer, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           Expr x = b * 0.5;
         });
}

TEST(Types, DivisionByTheNumberZero) {
  refuse({"/: the divisor is the number 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = (b + 1) / 0;
  });
}

TEST(Types, RemainderByTheNumberZero) {
  refuse({"%: the divisor is the number 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    int tile = 0;
    line = __LINE__ + 1;
    Expr x = b % tile;
  });
}

TEST(Types, BlocksOfZeroElements) {
  refuse_kernel({"ceildiv: the divisor is the number 0"}, [](Buffer A, Buffer, unsigned& line) {
    auto [M, N] = A.shape<2>();
    int tile = 0;
    line = __LINE__ + 1;
    for (Var b : grid(ceildiv(M, tile))) (void)b;
  });
}

TEST(Types, SumOfNumbersThatOverflows) {
  refuse({"+: the numbers 9223372036854775808 and -9223372036854775808, or their result, do not fit one 64-bit type"},
         [](Buffer, Buffer, Var, unsigned& line) {
           Expr most = std::numeric_limits<uint64_t>::max() / 2 + 1;
           line = __LINE__ + 1;
           Expr x = most + std::numeric_limits<int64_t>::min();
         });
}

TEST(Types, DifferenceOfNumbersThatOverflows) {
  refuse({"-: the numbers -9223372036854775808 and 1, or their result, do not fit one 64-bit type"},
         [](Buffer, Buffer, Var, unsigned& line) {
           Expr least = std::numeric_limits<int64_t>::min();
           line = __LINE__ + 1;
           Expr x = least - 1;
         });
}

TEST(Types, ProductOfNumbersThatOverflows) {
  refuse({"*: the numbers 18446744073709551615 and 18446744073709551615, or their result, do not fit one 64-bit type"},
         [](Buffer, Buffer, Var, unsigned& line) {
           Expr most = std::numeric_limits<uint64_t>::max();
           line = __LINE__ + 1;
           most *= most;
         });
}

TEST(Types, DivisionOfAnIntegerByAFloatingNumber) {
  refuse({"/: a floating number with an i64 operand: cast(f32, x) / y divides, floordiv(x, y) rounds down"},
         [](Buffer, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           Expr x = b / 2.0;
         });
}

TEST(Types, NumberTooLargeForAHalf) {
  refuse({"store: the number 70000.0 does not fit shared0, which is f16"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(f16, {8});
    line = __LINE__ + 1;
    t(0) = 70000.0;
  });
}

TEST(Types, InfinityInAFormatWithoutIt) {
  refuse({"fill: the number inf does not fit shared0, which is e4m3"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(e4m3, {8});
    line = __LINE__ + 1;
    fill(t, std::numeric_limits<float>::infinity());
  });
}

TEST(Types, FloatStoredToAnIntegerTile) {
  refuse({"store: the value is f32 but shared0 is i32: write cast(i32, x)"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(i32, {8});
    auto v = shared(f32, {8});
    line = __LINE__ + 1;
    t(0) = v(0) + 1;
  });
}

TEST(Types, IntegerStoredToABoolTile) {
  refuse({"store: the value is i64 but shared0 is bool: write x != 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    auto t = shared(boolean, {8});
    line = __LINE__ + 1;
    t(0) = b;
  });
}

TEST(Types, BoolWithAnInteger) {
  refuse({"+: the operands are bool and i64: cast the bool, or compare the other with 0"},
         [](Buffer, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           Expr x = (b < 3) + b;
         });
}

TEST(Types, AndOfIntegers) {
  refuse({"&& is not defined on i64: write x != 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    Expr n = b + 1;
    line = __LINE__ + 1;
    Expr x = b && n;
  });
}

TEST(Types, AndOfAnIntegerWithAHostBool) {
  refuse({"&& and || are not defined on i64: write x != 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = b && true;
  });
}

TEST(Types, NotOfAnIntegerInALongerExpression) {
  refuse_tiles({"! is not defined on f32: write x == 0"}, [](Buffer v, Buffer w, unsigned& line) {
    line = __LINE__ + 1;
    when(w(0) > 0 && !v(0), [&] { v(0) = 1; });
  });
}

TEST(Types, NotOfAnInteger) {
  refuse({"! is not defined on i64: write x == 0"}, [](Buffer, Buffer, Var b, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = !b;
  });
}

TEST(Types, RemainderOfFloats) {
  refuse_tiles({"% is not defined on f32"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = v(0) % v(1);
  });
}

TEST(Types, ExponentialOfAnInteger) {
  refuse({"exp is not defined on i64: write exp(cast(f32, x))"}, [](Buffer, Buffer, Var b, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = exp(b);
  });
}

TEST(Types, BitAndOfFloats) {
  refuse_tiles({"& is not defined on f32"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = v(0) & v(1);
  });
}

TEST(Types, ShiftOfAFloat) {
  refuse_tiles({"<< takes integers, got f32 and i64"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = v(0) << 2;
  });
}

TEST(Types, FmaOfIntegers) {
  refuse({"fma takes floats, got i64: write cast(f32, x)"}, [](Buffer, Buffer, Var b, unsigned& line) {
    line = __LINE__ + 1;
    Expr x = fma(b, b, b);
  });
}

TEST(Types, SelectOnAnInteger) {
  refuse_tiles({"select: the condition is i64, not bool: write x != 0"}, [](Buffer v, Buffer, unsigned& line) {
    for (Var k : serial(3)) {
      line = __LINE__ + 1;
      v(0) = select(k, v(0), v(1));
    }
  });
}

TEST(Types, WhenOnAFloat) {
  refuse_tiles({"when: the condition is f32, not bool: write x != 0"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    when(v(0), [&] { v(0) = 1; });
  });
}

TEST(Types, FloatAsAnIndex) {
  refuse_tiles({"an index must be an integer, got a value (f32)"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    v(v(0)) = 1;
  });
}

TEST(Types, FractionAsAnIndex) {
  refuse_tiles({"an index must be an integer, got 1.5 (f64)"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    v(1.5) = 1;
  });
}

}  // namespace
}  // namespace tilewright::refused
