// What one vector core cannot do: the exact sentence, at the user's line; and the nearest thing that it can.
#include <gtest/gtest.h>

#include "unit/ascend/texts.h"

namespace tilewright::ascend {
namespace {

/// Compiles `body(x, y, line)` in a grid of one block, x (M, N) and y (M, N) of that type, rows contiguous. `line` is
/// set to the line of the mistake before it is made.
template <class F>
void refuse(const std::string& message, DType type, F body, Location at = Here::current()) {
  unsigned line = 0;
  try {
    emitted(
        "wrong", signature(tensor("x", type, {"M", "N"}).strides({"p", 1}), tensor("y", type, {"M", "N"})),
        [&](Buffer x, Buffer y) {
          for (Var b : grid(1)) {
            (void)b;
            body(x, y, line);
          }
        },
        2, at);
    ADD_FAILURE() << "accepted; it must be refused: " << message;
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), message);
    EXPECT_EQ(e.location().line, line ? line : at.line) << e.what();
  }
}

template <class F>
void accept(DType type, F body) {
  unsigned line = 0;
  EXPECT_NO_THROW(emitted(
      "right",
      signature(tensor("x", type, {"M", "N"}).strides({"p", 1}), tensor("y", type, {"M", "N"}).strides({"q", 1})),
      [&](Buffer x, Buffer y) {
        for (Var b : grid(1)) {
          (void)b;
          body(x, y, line);
        }
      }));
}

TEST(AscendRefuses, AnElementOfGlobalMemoryRead) {
  refuse(
      "ascend: this reads an element of x, which is global memory; a core reaches global memory by tile copies only: "
      "copy a tile of x to shared(...) first",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {8});
        line = __LINE__ + 1;
        for (Var i : parallel(8)) t(i) = x(0, i);
      });
}

TEST(AscendRefuses, AnElementOfGlobalMemoryWritten) {
  refuse(
      "ascend: this writes an element of x, which is global memory; a core reaches global memory by tile copies only: "
      "write a tile in shared(...) and copy that to x",
      f32, [](Buffer x, Buffer, unsigned& line) {
        line = __LINE__ + 1;
        for (Var i : parallel(8)) x(0, i) = 1;
      });
}

TEST(AscendRefuses, AConditionOnGlobalMemory) {
  refuse(
      "ascend: this reads an element of x, which is global memory; a core reaches global memory by tile copies only: "
      "copy a tile of x to shared(...) first",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {8});
        line = __LINE__ + 1;
        when(x(0, 0) > 0, [&] { clear(t); });
      });
}

TEST(AscendRefuses, AFillOfGlobalMemory) {
  refuse("ascend: fill works on tiles of a core, and x is global memory; fill a tile in shared(...) and copy that to x",
         f32, [](Buffer x, Buffer, unsigned& line) {
           line = __LINE__ + 1;
           fill(x.tile({0, 0}, {1, 8}), 1);
         });
}

TEST(AscendRefuses, ACopyFromGlobalToGlobal) {
  refuse("ascend: no engine copies from global memory to global memory; go through a shared tile", f32,
         [](Buffer x, Buffer y, unsigned& line) {
           line = __LINE__ + 1;
           copy(x.tile({0, 0}, {4, 8}), y[{0, 0}]);
         });
}

TEST(AscendRefuses, ARowThatBeginsInsideAUnit) {
  const char* message =
      "ascend: rows of the copy begin 4 elements (16 bytes) into a row of shared0; engines move units of 32 bytes, so "
      "begin at a multiple of 8 elements";
  refuse(message, f32, [](Buffer x, Buffer, unsigned& line) {
    auto t = shared(f32, {4, 16});
    line = __LINE__ + 1;
    copy(x[{0, 0}], t.tile({0, 4}, {4, 12}));
  });
  accept(f32, [](Buffer x, Buffer, unsigned&) {
    auto t = shared(f32, {4, 16});
    copy(x[{0, 0}], t.tile({0, 8}, {4, 8}));
    copy(x[{0, 0}], t.tile({1, 8}, {1, 8}));
  });
  // f16: twice as many elements lie in a unit.
  accept(f16, [](Buffer x, Buffer, unsigned&) {
    auto t = shared(f16, {4, 32});
    copy(x[{0, 0}], t.tile({0, 16}, {4, 16}));
  });
}

TEST(AscendRefuses, AStoreThatBeginsInsideAUnit) {
  refuse(
      "ascend: rows of the copy begin a number of elements into a row of shared0; engines move units of 32 bytes, so "
      "begin at a multiple of 8 elements",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {64});
        clear(t);
        for (Var k : serial(8)) {
          line = __LINE__ + 1;
          copy(t.tile({k * 4}, {4}), x[{0, 0}]);
        }
      });
  accept(f32, [](Buffer x, Buffer, unsigned&) {
    auto t = shared(f32, {64});
    clear(t);
    for (Var k : serial(8)) copy(t.tile({k * 8}, {3}), x[{0, 0}]);  // a store may end anywhere
  });
}

TEST(AscendRefuses, ALoadThatEndsInsideAUnitOfOtherElements) {
  refuse(
      "ascend: the copy writes 12 elements (48 bytes) of each row of shared0; engines move units of 32 bytes and would "
      "overwrite what follows, so copy a multiple of 8 elements or up to the end of the row",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {4, 16});
        line = __LINE__ + 1;
        copy(x[{0, 0}], t.tile({0, 0}, {4, 12}));
      });
  accept(f32, [](Buffer x, Buffer, unsigned&) {
    auto t = shared(f32, {4, 13});  // rows of odd length
    copy(x[{0, 0}], t);
    copy(x[{0, 0}], t.tile({0, 8}, {4, 5}));
  });
}

TEST(AscendRefuses, RowsThatAreNotContiguousInGlobalMemory) {
  refuse(
      "ascend: rows of the copy run along axis 1 of y, whose stride is not known to be 1; engines move contiguous "
      "rows, so declare the tensor contiguous() or its last stride 1, and copy along the last axis",
      f32, [](Buffer, Buffer y, unsigned& line) {
        auto t = shared(f32, {4, 16});
        line = __LINE__ + 1;
        copy(y[{0, 0}], t);
      });
  refuse(
      "ascend: rows of the copy run along axis 0 of x, whose stride is not known to be 1; engines move contiguous "
      "rows, so declare the tensor contiguous() or its last stride 1, and copy along the last axis",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {16});
        line = __LINE__ + 1;
        copy(x.tile({0, 3}, {16, 1}), t);
      });
  accept(f32, [](Buffer x, Buffer, unsigned&) {
    auto t = shared(f32, {16, 1});  // a column: each element is a row of its own
    copy(x.tile({0, 3}, {16, 1}), t);
  });
}

TEST(AscendRefuses, AStoreThatMayBeginBeforeTheTensor) {
  refuse(
      "ascend: the copy may write before the start of x: its first element in shared0 need not lie at a multiple of 32 "
      "bytes then; write from the start on",
      f32, [](Buffer x, Buffer, unsigned& line) {
        auto t = shared(f32, {16});
        clear(t);
        line = __LINE__ + 1;
        copy(t, x[{0, x.extent(1) - 16}]);
      });
}

TEST(AscendRefuses, PaddingOf64BitsOtherThan0) {
  refuse("ascend: a copy of i64 pads with 0 only; fill the tile's rest after the copy", i64,
         [](Buffer x, Buffer, unsigned& line) {
           auto t = shared(i64, {16});
           line = __LINE__ + 1;
           copy(x[{0, 0}], t, 7);
         });
}

TEST(AscendRefuses, FunctionsThatTheScalarUnitLacks) {
  refuse(
      "ascend: sin is computed element by element on the scalar unit, which has no such function; it has abs, "
      "floor, ceil, trunc, round_even, sqrt, rsqrt, exp and exp2",
      f32, [](Buffer, Buffer, unsigned& line) {
        auto t = shared(f32, {8});
        line = __LINE__ + 1;
        for (Var i : parallel(8)) t(i) = sin(t(i));
      });
  refuse("ascend: fma rounds once; the scalar unit has no such instruction; write a * b + c", f32,
         [](Buffer, Buffer, unsigned& line) {
           auto t = shared(f32, {8});
           line = __LINE__ + 1;
           for (Var i : parallel(8)) t(i) = fma(t(i), t(i), t(i));
         });
}

TEST(AscendRefuses, AnIntegerToANarrowFloatInOneStep) {
  refuse(
      "ascend: i32 to bf16 in one step is not there: the scalar unit goes through f32, which rounds twice; cast to f32 "
      "first if that is what you want",
      f32, [](Buffer, Buffer, unsigned& line) {
        auto n = shared(i32, {8});
        auto t = shared(bf16, {8});
        line = __LINE__ + 1;
        for (Var i : parallel(8)) t(i) = cast(bf16, n(i));
      });
  accept(f32, [](Buffer, Buffer, unsigned&) {
    auto n = shared(i32, {8});
    auto t = shared(bf16, {8});
    for (Var i : parallel(8)) t(i) = cast(bf16, cast(f32, n(i)));
  });
}

TEST(AscendRefuses, TypesThatItCannotStore) {
  const unsigned line = __LINE__ + 1;
  const auto doubles = signature(tensor("x", f64, {"N"}).contiguous());
  try {
    emitted("wrong", doubles, [](Buffer x) {
      for (Var b : grid(1)) {
        auto t = shared(f64, {8});
        copy(x[{b}], t);
      }
    });
    ADD_FAILURE() << "accepted";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(),
              "ascend: x has elements of type f64, which this machine cannot store; it has f32, f16, bf16, i8, i16, "
              "i32, i64, "
              "u8, u16, u32, u64");
    EXPECT_EQ(e.location().line, line);
  }
  refuse(
      "ascend: shared0 has elements of type e4m3, which this machine cannot store; it has f32, f16, bf16, i8, i16, "
      "i32, i64, "
      "u8, u16, u32, u64",
      f32, [](Buffer, Buffer, unsigned& line) {
        line = __LINE__ + 1;
        auto t = shared(e4m3, {32});
        clear(t);
      });
}

TEST(AscendRefuses, TilesThatTogetherNeedMoreThanUB) {
  refuse(
      "ascend: shared1 needs 100096 bytes of UB, where 96352 of 196352 are left; make the tiles smaller\n"
      "UB: 200096 of 196352 bytes\n"
      "  shared0          100000 bytes at          0\n"
      "  shared1          100096 bytes at     100000",
      f32, [](Buffer, Buffer, unsigned& line) {
        auto u = shared(f32, {25000});
        line = __LINE__ + 1;
        auto v = shared(f32, {25024});
        clear(u);
        clear(v);
      });
  accept(f32, [](Buffer, Buffer, unsigned&) {
    auto u = shared(f32, {25000}), v = shared(f32, {24088});  // all of it
    clear(u);
    clear(v);
  });
}

}  // namespace
}  // namespace tilewright::ascend
