// Loops, blocks, parallel iterations, and what leaves a traced scope.
#include <stdexcept>

#include "refuse.h"

namespace tilewright::refused {
namespace {

// ---- grids and loops ------------------------------------------------------------------------------------------------

TEST(Loops, GridInsideAGrid) {
  refuse({"grid inside a grid: a kernel body is a sequence of grids, one after the other", {"the grid around it"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           line = __LINE__ + 1;
           for (Var b : grid(3)) (void)b;
         });
}

TEST(Loops, LoopOutsideAGrid) {
  refuse_kernel({"serial is outside a grid: a kernel body is a sequence of `for (... : grid(...))`"},
                [](Buffer, Buffer, unsigned& line) {
                  line = __LINE__ + 1;
                  for (Var k : serial(3)) (void)k;
                });
}

TEST(Loops, CopyOutsideAGrid) {
  refuse_kernel({"copy is outside a grid: a kernel body is a sequence of `for (... : grid(...))`"},
                [](Buffer A, Buffer x, unsigned& line) {
                  line = __LINE__ + 1;
                  copy(x, A[{0, 0}]);
                });
}

TEST(Loops, StoreOutsideAGrid) {
  refuse_kernel({"a store is outside a grid: a kernel body is a sequence of `for (... : grid(...))`"},
                [](Buffer A, Buffer, unsigned& line) {
                  line = __LINE__ + 1;
                  A(0, 0) = 1;
                });
}

TEST(Loops, WhenOutsideAGrid) {
  refuse_kernel({"when is outside a grid: a kernel body is a sequence of `for (... : grid(...))`"},
                [](Buffer A, Buffer, unsigned& line) {
                  line = __LINE__ + 1;
                  when(A.extent(0) < 3, [] {});
                });
}

TEST(Loops, LoopOutsideAKernel) {
  expect_error({"serial is used outside a kernel"}, [](unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : serial(3)) (void)k;
  });
}

TEST(Loops, NoGrid) {
  expect_error({"kernel empty has no grid: its body is a sequence of `for (... : grid(...))`"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace("empty", signature(tensor("A", f32, {"N"})), [](Buffer) {});
  });
}

TEST(Loops, TooManyThreads) {
  refuse_kernel({"grid: threads is 1025: a block has 1 to 1024 compute threads"}, [](Buffer, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    for (Var b : grid(3, threads{1025})) (void)b;
  });
}

TEST(Loops, NoThreads) {
  refuse_kernel({"grid: threads is 0: a block has 1 to 1024 compute threads"}, [](Buffer, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    for (auto [bx, by] : grid(3, 4, threads{0})) (void)bx;
  });
}

TEST(Loops, EmptyGrid) {
  refuse_kernel({"grid: extent 1 is 0: it must be at least 1"}, [](Buffer, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    for (auto [bx, by] : grid(3, 0)) (void)bx;
  });
}

TEST(Loops, GridExtentComputedFromAFloat) {
  refuse_kernel({"grid: an extent is computed from integers only; this one uses a float"},
                [](Buffer, Buffer, unsigned& line) {
                  trace("inner", signature(scalar("scale", f32)), [&](Expr scale) {
                    line = __LINE__ + 1;
                    for (Var b : grid(cast(i64, scale * 4))) (void)b;
                  });
                });
}

TEST(Loops, GridExtentReadFromATensor) {
  refuse_kernel({"grid: an extent may use shapes and scalar arguments only, not a tensor's element"},
                [](Buffer, Buffer, unsigned& line) {
                  trace("inner", signature(tensor("n", i32, {1})), [&](Buffer n) {
                    line = __LINE__ + 1;
                    for (Var b : grid(n(0))) (void)b;
                  });
                });
}

TEST(Loops, TooManyStages) {
  refuse({"pipelined: stages is 9: it must be 0 to 8"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : pipelined(4, 9)) (void)k;
  });
}

TEST(Loops, NegativeStages) {
  refuse({"pipelined: stages is -1: it must be 0 to 8"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : pipelined(4, -1)) (void)k;
  });
}

TEST(Loops, NegativeExtent) {
  refuse({"serial: extent 0 is -1: it must be at least 0"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : serial(-1)) (void)k;
  });
}

TEST(Loops, MoreIterationsThan64BitsCount) {
  refuse({"parallel: the extents multiply to more than 2^63 iterations"}, [](Buffer, Buffer, Var, unsigned& line) {
    const int64_t n = int64_t{1} << 40;
    line = __LINE__ + 1;
    for (auto [i, j] : parallel(n, n)) (void)i;
  });
}

TEST(Loops, FloatExtent) {
  refuse({"parallel: extent 1 must be an integer, it is f64"}, [](Buffer, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    for (auto [i, j] : parallel(4, 4.0)) (void)i;
  });
}

TEST(Loops, SymbolicUnroll) {
  refuse({"unroll: the extent must be a host number, got M: use serial"}, [](Buffer A, Buffer, Var, unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : unroll(A.extent(0))) (void)k;
  });
}

TEST(Loops, TooDeep) {
  unsigned wrong = 0;
  refuse({"more than 200 nested traced blocks"}, [&](Buffer, Buffer, Var, unsigned& line) {
    auto nest = [&](auto& self, int depth) -> void {
      wrong = __LINE__ + 1;
      for (Var k : serial(2)) {
        (void)k;
        line = wrong;
        if (depth < 300) self(self, depth + 1);
      }
    };
    nest(nest, 0);
  });
}

TEST(Loops, TooManyNodes) {
  expect_error({"the trace has more than 1000 nodes: a host loop around traced code writes its body out each time, a "
                "traced loop (serial) writes it once",
                {"while tracing this serial loop"}},
               [](unsigned& line) {
                 trace(
                     "wrong", signature(tensor("A", f32, {"N"})),
                     [&](Buffer A) {
                       for (Var b : grid(1))
                         for (Var k : serial(4))
                           for (int host = 0; host < 100000; ++host) {
                             line = __LINE__ + 1;
                             A(b) += k;
                           }
                     },
                     Here::current(), TraceLimits{.nodes = 1000});
               });
}

// ---- parallel -------------------------------------------------------------------------------------------------------

TEST(Parallel, CopyInside) {
  refuse_tiles(
      {"copy works on whole tiles and cannot be inside parallel: use elements there, t(i, j)", {"the parallel loop"}},
      [](Buffer v, Buffer w, unsigned& line) {
        for (Var i : parallel(8)) {
          (void)i;
          line = __LINE__ + 1;
          copy(v, w);
        }
      });
}

TEST(Parallel, GemmInsideALoopInside) {
  refuse(
      {"gemm works on whole tiles and cannot be inside parallel: use elements there, t(i, j)", {"the parallel loop"}},
      [](Buffer, Buffer, Var, unsigned& line) {
        auto a = shared(f16, {8, 8}), b = shared(f16, {8, 8});
        auto c = fragment(f32, {8, 8});
        for (Var i : parallel(8)) {
          for (Var k : serial(2)) {
            (void)i, (void)k;
            line = __LINE__ + 1;
            gemm(a, b, c);
          }
        }
      });
}

TEST(Parallel, ParallelInside) {
  refuse({"parallel inside parallel: write one loop, parallel(m, n)", {"the parallel loop"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           for (Var i : parallel(8)) {
             (void)i;
             line = __LINE__ + 1;
             for (Var j : parallel(4)) (void)j;
           }
         });
}

TEST(Parallel, PipelinedInside) {
  refuse({"pipelined cannot be inside parallel: an iteration is scalar work; use serial", {"the parallel loop"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           for (Var i : parallel(8)) {
             (void)i;
             line = __LINE__ + 1;
             for (Var j : pipelined(4, 2)) (void)j;
           }
         });
}

TEST(Parallel, SharedTileMadeInside) {
  refuse({"shared cannot be made inside parallel, where only local and var can: make it before the loop"},
         [](Buffer, Buffer, Var, unsigned& line) {
           for (Var i : parallel(8)) {
             (void)i;
             line = __LINE__ + 1;
             auto t = shared(f32, {4});
           }
         });
}

TEST(Parallel, BlockVariableWrittenInside) {
  refuse_tiles(
      {"a store writes var var0 inside parallel, but it is one for the whole block: make it inside the loop, or "
       "use a reduction",
       {"var0 declared here"}},
      [](Buffer v, Buffer, unsigned& line) {
        auto sum = var(f32, 0);
        for (Var i : parallel(8)) {
          line = __LINE__ + 1;
          sum += v(i);
        }
      });
}

TEST(Parallel, BlockLocalWrittenInside) {
  refuse_tiles({"a store writes local local0 inside parallel, but it is one for the whole block: make it inside the "
                "loop, or use a reduction",
                {"local0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 auto t = local(f32, {8});
                 for (Var i : parallel(8)) {
                   line = __LINE__ + 1;
                   t(i) = v(i);
                 }
               });
}

TEST(Parallel, OnePlaceForAllIterations) {
  refuse_tiles(
      {"iterations of parallel conflict: those that differ in i all store to shared0(0); index it with i, or use "
       "a reduction",
       {"the parallel loop"}},
      [](Buffer v, Buffer w, unsigned& line) {
        for (Var i : parallel(8)) {
          line = __LINE__ + 1;
          v(0) = w(i);
        }
      });
}

TEST(Parallel, OnePlaceForAllColumns) {
  refuse({"iterations of parallel conflict: those that differ in j all store to frag1(i); index it with j, or use a "
          "reduction",
          {"the parallel loop"}},
         [](Buffer, Buffer, Var, unsigned& line) {
           auto v = fragment(f32, {4, 8}), peak = fragment(f32, {4});
           for (auto [i, j] : parallel(4, 8)) {
             line = __LINE__ + 1;
             peak(i) = max(peak(i), v(i, j));
           }
         });
}

TEST(Parallel, SumOfAConstantAtOnePlace) {
  refuse_tiles(
      {"iterations of parallel conflict: those that differ in i all store to shared0(3); index it with i, or use "
       "a reduction",
       {"the parallel loop"}},
      [](Buffer v, Buffer, unsigned& line) {
        for (Var i : parallel(8)) {
          (void)i;
          line = __LINE__ + 1;
          v(3) += 1;
        }
      });
}

TEST(Parallel, OnePlaceThroughALetAndALoop) {
  refuse_tiles(
      {"iterations of parallel conflict: those that differ in i all store to shared0(k); index it with i, or use "
       "a reduction",
       {"the parallel loop"}},
      [](Buffer v, Buffer w, unsigned& line) {
        for (Var i : parallel(8)) {
          auto x = let(w(i) * 2);
          for (Var k : serial(4)) {
            line = __LINE__ + 1;
            v(k) = x;
          }
        }
      });
}

// ---- leaving a traced scope -----------------------------------------------------------------------------------------

constexpr const char* kLeft =
    "break, return or goto out of this traced loop: its body is traced once and has no early exit; use when(cond, [&] "
    "{ "
    "... })";

TEST(Leaving, Break) {
  refuse_tiles({kLeft}, [](Buffer, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    for (Var k : serial(8)) {
      (void)k;
      break;
    }
  });
}

TEST(Leaving, ReturnIsReportedAtTheLoopWhateverFollows) {
  refuse_tiles({kLeft}, [](Buffer v, Buffer, unsigned& line) {
    auto helper = [&] {
      line = __LINE__ + 1;
      for (Var k : serial(8)) {
        v(k) = 1;
        return;
      }
    };
    helper();
    v(0) = 1;
  });
}

TEST(Leaving, ForeignExceptionCaughtOutside) {
  refuse_tiles({"an exception left this traced loop: the kernel is abandoned"}, [](Buffer v, Buffer, unsigned& line) {
    try {
      line = __LINE__ + 1;
      for (Var k : serial(8)) {
        (void)k;
        throw 42;
      }
    } catch (int) {
    }
    v(0) = 1;
  });
}

TEST(Leaving, OurExceptionCaughtOutside) {
  refuse_tiles({"shared0 is (8) f32: it takes 1 indices, got 2", {"shared0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 try {
                   for (Var k : serial(8)) {
                     line = __LINE__ + 1;
                     v(k, k) = 1;
                   }
                 } catch (const UserError&) {
                 }
                 v(0) = 1;
               });
}

TEST(Leaving, OurExceptionCaughtOutsideAWhen) {
  refuse_tiles({"shared0 is (8) f32: it takes 1 indices, got 2", {"shared0 declared here"}},
               [](Buffer v, Buffer, unsigned& line) {
                 try {
                   when(v(0) < 1, [&] {
                     line = __LINE__ + 1;
                     v(1, 1) = 1;
                   });
                 } catch (const UserError&) {
                 }
               });
}

TEST(Leaving, ForeignExceptionAfterOursWasCaughtInside) {
  refuse_tiles({"an exception left this traced loop: the kernel is abandoned"}, [](Buffer v, Buffer, unsigned& line) {
    try {
      line = __LINE__ + 1;
      for (Var k : serial(8)) {
        try {
          v(k, k) = 1;
        } catch (const UserError&) {
        }
        v(k) = 1;
        throw std::runtime_error("foreign");
      }
    } catch (const std::runtime_error&) {
    }
    v(0) = 1;
  });
}

TEST(Leaving, OtherwiseWithoutItsWhen) {
  refuse_tiles({"otherwise must follow its when at once: when(cond, [&] { ... }).otherwise([&] { ... })"},
               [](Buffer v, Buffer, unsigned& line) {
                 line = __LINE__ + 1;
                 auto w = when(v(0) < 1, [&] { v(1) = 1; });
                 v(2) = 1;
                 std::move(w).otherwise([&] { v(3) = 1; });
               });
}

TEST(Leaving, LoopOpenedByHand) {
  refuse_tiles({"serial is opened twice: write for (... : serial(...))"}, [](Buffer, Buffer, unsigned& line) {
    line = __LINE__ + 1;
    auto loop = serial(3);
    auto it = loop.begin();
    (void)*it;
    (void)*it;
  });
}

}  // namespace
}  // namespace tilewright::refused
