// Ranks, extents and types of statements on tiles.
#include <limits>

#include "refuse.h"

namespace tilewright::refused {
namespace {

TEST(Tiles, TooManyIndices) {
  refuse_tiles({"shared0 is (8) f32: it takes 1 indices, got 2", {"shared0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 v(0, 0) = 1;
               });
}

TEST(Tiles, TooFewIndicesOfATensor) {
  refuse({"A is (M, N) f32: it takes 2 indices, got 1", {"A declared here"}},
         [](Buffer A, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           A(b) = 1;
         });
}

TEST(Tiles, TooFewOffsets) {
  refuse({"A is (M, N) f32: a region of it takes 2 offsets, got 1", {"A declared here"}},
         [](Buffer A, Buffer, Var b, unsigned& line) {
           auto t = shared(f32, {4, 4});
           line = __LINE__ + 1;
           copy(A[{b}], t);
         });
}

TEST(Tiles, TooManyExtentsOfARegion) {
  refuse({"A is (M, N) f32: a region of it takes 2 extents, got 3", {"A declared here"}},
         [](Buffer A, Buffer, Var b, unsigned& line) {
           auto t = shared(f32, {4, 4});
           line = __LINE__ + 1;
           copy(A.tile({b, 0}, {1, 4, 4}), t);
         });
}

TEST(Tiles, ShapeOfAnotherRank) {
  refuse_kernel({"A is (M, N) f32: its rank is 2, shape<3>() asks for 3"}, [](Buffer A, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    auto [M, N, K] = A.shape<3>();
  });
}

TEST(Tiles, ExtentOfAMissingAxis) {
  refuse_kernel({"A is (M, N) f32: it has no axis 2"}, [](Buffer A, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    Expr e = A.extent(2);
  });
}

TEST(Tiles, ConstantIndexPastTheEnd) {
  refuse_tiles({"index 8 of axis 0 is outside shared0, which is (8) f32: valid are 0 to 7"},
               [](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 v(8) = 1;
               });
}

TEST(Tiles, NegativeConstantIndex) {
  refuse_tiles({"index -1 of axis 0 is outside shared1, which is (8) f32: valid are 0 to 7"},
               [](Buffer v, Buffer w, unsigned& line) {
                 line = __LINE__ + 1;
                 v(0) = w(-1);
               });
}

TEST(Tiles, RegionPastTheEndOfATile) {
  refuse({"copy: src starts at 4 and takes 8 of axis 1 of shared0, which is (4, 8) f32", {"src declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto s = shared(f32, {4, 8}), t = shared(f32, {4, 8});
           line = __LINE__ + 1;
           copy(s.tile({0, 4}, {4, 8}), t);
         });
}

TEST(Tiles, IndexThatReachesPastTheEnd) {
  refuse_tiles(
      {"index i of axis 0 reaches 8, outside shared0, which is (8) f32: valid are 0 to 7", {"shared0 declared here"}},
      [](Buffer v, Buffer, unsigned& line) {
        for (Var i : parallel(9)) {
          line = __LINE__ + 1;
          v(i) = 1;
        }
      });
}

TEST(Tiles, ReadThatReachesPastTheEnd) {
  refuse_tiles({"index ((k * 2) + 3) of axis 0 reaches 9, outside shared1, which is (8) f32: valid are 0 to 7",
                {"shared1 declared here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 for (Var k : serial(4)) {
                   line = __LINE__ + 1;
                   v(k) = w(k * 2 + 3) + 1;
                 }
               });
}

TEST(Tiles, MirroredIndexThatReachesBelowZero) {
  refuse({"index (7 - j) of axis 1 reaches -8, outside frag0, which is (4, 16) f32: valid are 0 to 15",
          {"frag0 declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto t = fragment(f32, {4, 16});
           for (auto [i, j] : parallel(4, 16)) {
             line = __LINE__ + 1;
             t(i, 7 - j) = 1;
           }
         });
}

TEST(Tiles, ExchangedIndices) {
  refuse({"index j of axis 0 reaches 7, outside frag0, which is (4, 8) f32: valid are 0 to 3", {"frag0 declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto t = fragment(f32, {4, 8});
           for (auto [i, j] : parallel(4, 8)) {
             line = __LINE__ + 1;
             t(j, i) = 1;
           }
         });
}

TEST(Tiles, RegionThatReachesPastTheEnd) {
  refuse_tiles({"a region at (k * 4) of axis 0 reaches 11, outside shared0, which is (8) f32: valid are 0 to 7",
                {"shared0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 for (Var k : serial(3)) {
                   line = __LINE__ + 1;
                   clear(v.tile({k * 4}, {4}));
                 }
               });
}

TEST(Tiles, RegionPastTheEndWhoseLastElementOverflows) {
  refuse_tiles({"copy: src starts at 9223372036854775807 and takes 4 of axis 0 of shared0, which is (8) f32",
                {"src declared here"}},
               [](Buffer v, Buffer w, unsigned& line) {
                 line = __LINE__ + 1;
                 copy(v.tile({std::numeric_limits<int64_t>::max()}, {4}), w.tile({0}, {4}));
               });
}

// ---- allocation -----------------------------------------------------------------------------------------------------

TEST(Tiles, SymbolicExtent) {
  refuse({"shared: extent 0 must be a host number (tile sizes are decided now), got M"},
         [](Buffer A, Buffer, Var, unsigned& line) {
           auto [M, N] = A.shape<2>();
           line = __LINE__ + 1;
           auto t = shared(f32, {M, 4});
         });
}

TEST(Tiles, ZeroExtent) {
  refuse({"fragment: extent 1 is 0: it must be at least 1"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = fragment(f32, {4, 0});
  });
}

TEST(Tiles, NegativeExtent) {
  refuse({"local: extent 0 is -3: it must be at least 1"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = local(f32, {-3});
  });
}

TEST(Tiles, FractionalExtent) {
  refuse({"shared: extent 0 must be an integer, it is f64"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = shared(f32, {4.0});
  });
}

TEST(Tiles, TooManyElements) {
  refuse({"shared: the tile has more than 2^31 elements"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = shared(f32, {65536, 65536});
  });
}

TEST(Tiles, ElementCountThatOverflows64Bits) {
  refuse({"shared: the tile has more than 2^31 elements"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = shared(f32, {int64_t{1} << 31, int64_t{1} << 31, int64_t{1} << 31});
  });
}

TEST(Tiles, NoExtents) {
  refuse({"shared: a tile needs at least one extent"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = shared(f32, {});
  });
}

TEST(Tiles, VectorType) {
  refuse({"shared: f32x4 is not a scalar type"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    auto t = shared(f32.with_lanes(4), {4});
  });
}

TEST(Tiles, AllocationOutsideAGrid) {
  refuse_kernel({"shared is outside a grid: a kernel body is a sequence of `for (... : grid(...))`"},
                [](Buffer, Buffer, unsigned& line) {
                  line = __LINE__ + 1;
                  auto t = shared(f32, {4});
                });
}

// ---- copy and fill --------------------------------------------------------------------------------------------------

TEST(Tiles, CopyOfOtherExtents) {
  refuse(
      {"copy: src is (4, 8) f32 but dst is (8, 4) f16: the extents differ", {"src declared here", "dst declared here"}},
      [](Buffer, Buffer, Var, unsigned& line) {
        auto s = shared(f32, {4, 8});
        auto d = shared(f16, {8, 4});
        line = __LINE__ + 1;
        copy(s, d);
      });
}

TEST(Tiles, CopyOfOtherRank) {
  refuse({"copy: src is (4, 2) f32 but dst is (8) f32: the extents differ", {"src declared here", "dst declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto s = shared(f32, {4, 2});
           auto d = shared(f32, {8});
           line = __LINE__ + 1;
           copy(s, d);
         });
}

TEST(Tiles, CopyBetweenTwoOpenRegions) {
  refuse({"copy: neither src nor dst has extents: write A.tile({...}, {...})"},
         [](Buffer A, Buffer x, Var, unsigned& line) {
           line = __LINE__ + 1;
           copy(A[{0, 0}], x[{0, 0}]);
         });
}

TEST(Tiles, CopyFromATensorOfLowerRank) {
  refuse({"copy: src has rank 2, but dst is (2, 4, 8) f32", {"src declared here", "dst declared here"}},
         [](Buffer A, Buffer, Var, unsigned& line) {
           auto t = shared(f32, {2, 4, 8});
           line = __LINE__ + 1;
           copy(A[{0, 0}], t);
         });
}

TEST(Tiles, CopyOntoItself) {
  refuse_tiles({"copy: src and dst overlap in shared0: copy through another tile", {"src declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 copy(v.tile({0}, {5}), v.tile({3}, {5}));
               });
}

TEST(Tiles, CopyInsideATileThatMayOverlap) {
  refuse_tiles({"copy: src and dst may overlap in shared0: copy through another tile", {"src declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 for (Var k : serial(2)) {
                   line = __LINE__ + 1;
                   copy(v.tile({k}, {2}), v.tile({4}, {2}));
                 }
               });
}

TEST(Tiles, CopyInsideATensorThatOverlapsInOneAxis) {
  refuse({"copy: src and dst overlap in A: copy through another tile", {"src declared here"}},
         [](Buffer A, Buffer, Var b, unsigned& line) {
           line = __LINE__ + 1;
           copy(A.tile({b * 4, 0}, {4, 8}), A.tile({b * 4 + 3, 0}, {4, 8}));
         });
}

TEST(Tiles, CopyOfAWholeTensorToATile) {
  refuse({"copy: src is (M, N) f32 but dst is (4, 8) f32: M and 4 may differ; write A[{...}] for the part that starts "
          "there",
          {"src declared here", "dst declared here"}},
         [](Buffer A, Buffer, Var, unsigned& line) {
           auto t = shared(f32, {4, 8});
           line = __LINE__ + 1;
           copy(A, t);
         });
}

TEST(Tiles, CopyOfATileToAWholeTensor) {
  refuse({"copy: src is (4, 8) f32 but dst is (M, N) f32: 4 and M may differ; write A[{...}] for the part that starts "
          "there",
          {"src declared here", "dst declared here"}},
         [](Buffer A, Buffer, Var, unsigned& line) {
           auto t = shared(f32, {4, 8});
           line = __LINE__ + 1;
           copy(t, A);
         });
}

TEST(Tiles, FillThatDoesNotFitTheSource) {
  refuse({"copy: fill: the number -1e+30 does not fit src, which is f16"}, [](Buffer, Buffer x, Var, unsigned& line) {
    auto t = shared(f32, {8, 16});
    line = __LINE__ + 1;
    copy(x[{0, 0}], t, -1e30);
  });
}

TEST(Tiles, CopyOfBoolToFloat) {
  refuse({"copy: src is (4) bool but dst is (4) f32: a bool tile is copied to bool tiles only",
          {"src declared here", "dst declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto s = shared(boolean, {4});
           auto d = shared(f32, {4});
           line = __LINE__ + 1;
           copy(s, d);
         });
}

TEST(Tiles, FillOfAnOpenRegion) {
  refuse_tiles({"clear: dst has no extents: write shared0.tile({...}, {...})"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    clear(v[{2}]);
  });
}

TEST(Tiles, ClearOfATypeWithoutZero) {
  refuse({"clear: shared0 is e8m0, which has no zero"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto t = shared(e8m0, {4});
    line = __LINE__ + 1;
    clear(t);
  });
}

TEST(Tiles, SymbolicExtentOfARegion) {
  refuse({"tile: extent 0 must be a host number, got M"}, [](Buffer A, Buffer, Var, unsigned& line) {
    auto [M, N] = A.shape<2>();
    line = __LINE__ + 1;
    clear(A.tile({0, 0}, {M, 4}));
  });
}

TEST(Tiles, ZeroExtentOfARegion) {
  refuse_tiles({"tile: extent 0 is 0: it must be at least 1"}, [](Buffer v, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    clear(v.tile({0}, {0}));
  });
}

// ---- gemm -----------------------------------------------------------------------------------------------------------

TEST(Gemm, InnerExtentsDiffer) {
  refuse({"gemm: a is (128, 32) f16 but b is (64, 128) f16: inner extents 32 and 64 differ",
          {"a declared here", "b declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {128, 32});
           auto b = shared(f16, {64, 128});
           auto c = fragment(f32, {128, 128});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, InnerExtentsAgreeTheOtherWayRound) {
  refuse({"gemm: a is (16, 32) f16 but b is (64, 32) f16: inner extents 32 and 64 differ; they agree with "
          ".transpose_b = true",
          {"a declared here", "b declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {16, 32}), b = shared(f16, {64, 32});
           auto c = fragment(f32, {16, 64});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, InnerExtentsDifferWhenTransposed) {
  refuse({"gemm: a is (16, 32) f16 but b is (32, 16) f16 (transposed): inner extents 32 and 16 differ; they agree with .transpose_b = false",
          {"a declared here", "b declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {16, 32}), b = shared(f16, {32, 16});
           auto c = fragment(f32, {16, 16});
           line = __LINE__ + 1;
           gemm(a, b, c, {.transpose_b = true});
         });
}

TEST(Gemm, AccumulatorOfAnotherShape) {
  refuse({"gemm: a is (16, 8) f16 and b is (8, 24) f16, so c must be (16, 24), but it is (24, 16) f32",
          {"c declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {16, 8}), b = shared(f16, {8, 24});
           auto c = fragment(f32, {24, 16});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, OperandOfRankOne) {
  refuse({"gemm: b is (8) f16: it must have two axes", {"b declared here"}}, [](Buffer, Buffer, Var, unsigned& line) {
    auto a = shared(f16, {16, 8}), b = shared(f16, {8});
    auto c = fragment(f32, {16, 16});
    line = __LINE__ + 1;
    gemm(a, b, c);
  });
}

TEST(Gemm, TensorAsAnOperand) {
  refuse({"gemm: a is the tensor x: copy it to a tile first", {"a declared here"}},
         [](Buffer, Buffer x, Var, unsigned& line) {
           auto b = shared(f16, {16, 8});
           auto c = fragment(f32, {8, 8});
           line = __LINE__ + 1;
           gemm(x, b, c);
         });
}

TEST(Gemm, HalfAccumulator) {
  refuse({"gemm: a is f16 and b is f16, so c must be f32 or f64, but it is f16", {"c declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f16, {8, 8}), b = shared(f16, {8, 8});
           auto c = fragment(f16, {8, 8});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, FloatAccumulatorOfBytes) {
  refuse({"gemm: a is i8 and b is u8, so c must be i32, but it is f32", {"c declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(i8, {8, 8});
           auto b = shared(u8, {8, 8});
           auto c = fragment(f32, {8, 8});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, IntegersWithFloats) {
  refuse({"gemm: a is i8 but b is f16: both must be floats or both integers", {"a declared here", "b declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(i8, {8, 8});
           auto b = shared(f16, {8, 8});
           auto c = fragment(f32, {8, 8});
           line = __LINE__ + 1;
           gemm(a, b, c);
         });
}

TEST(Gemm, Tf32OfHalves) {
  refuse({"gemm: precision::tf32 is for f32 operands, a is f16 and b is f16"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto a = shared(f16, {8, 8}), b = shared(f16, {8, 8});
    auto c = fragment(f32, {8, 8});
    line = __LINE__ + 1;
    gemm(a, b, c, {.precision = precision::tf32});
  });
}

TEST(Gemm, AccumulatorThatIsAnOperand) {
  refuse({"gemm: c is also a: the accumulator must be a tile of its own", {"c declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto a = shared(f32, {8, 8}), b = shared(f32, {8, 8});
           line = __LINE__ + 1;
           gemm(a, b, a);
         });
}

// ---- reductions -----------------------------------------------------------------------------------------------------

TEST(Reduce, MissingAxis) {
  refuse({"reduce_sum: src is (4, 8) f32: it has no axis 2", {"src declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {4, 8}), s = fragment(f32, {4});
           line = __LINE__ + 1;
           reduce_sum(v, s, 2);
         });
}

TEST(Reduce, DestinationOfAnotherShape) {
  refuse({"reduce_max: src is (4, 8) f32, so dst must be (4) or (4, 1) after axis 1, but it is (8)",
          {"src declared here", "dst declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {4, 8}), s = fragment(f32, {8});
           line = __LINE__ + 1;
           reduce_max(v, s, -1);
         });
}

TEST(Reduce, FloatIntoInteger) {
  refuse({"reduce_min: src is f32 but dst is i32: both must be floats or both integers",
          {"src declared here", "dst declared here"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {4, 8});
           auto s = fragment(i32, {4});
           line = __LINE__ + 1;
           reduce_min(v, s, 1);
         });
}

TEST(Reduce, TensorAsASource) {
  refuse({"reduce_abs_max: src is the tensor x: copy it to a tile first", {"src declared here"}},
         [](Buffer, Buffer x, Var, unsigned& line) {
           auto s = fragment(f32, {8});
           line = __LINE__ + 1;
           reduce_abs_max(x, s, 1);
         });
}

TEST(Reduce, PropagatedNanOfASum) {
  refuse({"reduce_sum: nan::propagate is for max and min: a sum with a NaN is NaN anyway"},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {4, 8}), s = fragment(f32, {4});
           line = __LINE__ + 1;
           reduce_sum(v, s, 1, {.propagate_nan = true});
         });
}

TEST(Reduce, IntoItsSource) {
  refuse({"reduce_sum: src and dst are the same tile frag0"}, [](Buffer, Buffer, Var, unsigned& line) {
    auto v = fragment(f32, {1, 8});
    line = __LINE__ + 1;
    reduce_sum(v, v.tile({0, 0}, {1, 1}), 1);
  });
}

// ---- tensors --------------------------------------------------------------------------------------------------------

TEST(Tensors, ExtentsThatMustBeEqual) {
  refuse_kernel({"this kernel needs equal extents, but one is N and the other 8: give both one symbol or one number in "
                 "the signature"},
                [](Buffer A, Buffer x, unsigned& line) {
                  require_equal(A.extent(0), A.extent(0));
                  require_equal(x.extent(0), 8);
                  line = __LINE__ + 1;
                  require_equal(A.extent(1), x.extent(0));
                });
}

TEST(Tensors, StoreToAnInput) {
  expect_error({"a store writes A, which the signature declares in()", {"A declared here"}}, [](unsigned& line) {
    trace("wrong", signature(tensor("A", f32, {"N"}).in()), [&](Buffer A) {
      for (Var b : grid(1)) {
        line = __LINE__ + 1;
        A(b) = 1;
      }
    });
  });
}

TEST(Tensors, CopyToAnInput) {
  expect_error({"copy writes A, which the signature declares in()", {"A declared here"}}, [](unsigned& line) {
    trace("wrong", signature(tensor("A", f32, {"N"}).in()), [&](Buffer A) {
      for (Var b : grid(1)) {
        auto t = shared(f32, {8});
        line = __LINE__ + 1;
        copy(t, A[{b}]);
      }
    });
  });
}

TEST(Tensors, CopyFromAnOutput) {
  expect_error({"copy reads A, which the signature declares out(): declare it inout()", {"A declared here"}},
               [](unsigned& line) {
                 trace("wrong", signature(tensor("A", f32, {"N"}).out()), [&](Buffer A) {
                   for (Var b : grid(1)) {
                     auto t = shared(f32, {8});
                     line = __LINE__ + 1;
                     copy(A[{b}], t);
                   }
                 });
               });
}

TEST(Tensors, AdditionToAnOutput) {
  expect_error({"this reads A, which the signature declares out(): declare it inout()", {"A declared here"}},
               [](unsigned& line) {
                 trace("wrong", signature(tensor("A", f32, {"N"}).out()), [&](Buffer A) {
                   for (Var b : grid(1)) {
                     line = __LINE__ + 1;
                     A(b) += 1;
                   }
                 });
               });
}

TEST(Tensors, CoverageOfATile) {
  refuse_tiles({"covers: shared0 is a tile: coverage is claimed of a tensor argument", {"shared0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 covers(v);
               });
}

TEST(Tensors, CoverageInsideALoop) {
  refuse({"covers: it speaks of the whole kernel and cannot be inside a loop or a when"},
         [](Buffer A, Buffer, Var, unsigned& line) {
           for (Var k : serial(3)) {
             (void)k;
             line = __LINE__ + 1;
             covers(A);
           }
         });
}

}  // namespace
}  // namespace tilewright::refused
