// Each pass on a small kernel: what it gives, and what it refuses.
#include "pass/passes.h"

#include <gtest/gtest.h>

#include "machines.h"
#include "support/golden.h"
#include "unit/pass/run.h"

namespace tilewright {
namespace {

using test::after;
using test::engines_machine;
using test::kCopyIn;
using test::loops_machine;
using test::refusal;
using test::threads_machine;

const char* kTwoAxes = R"(
kernel k stage traced {
  scalar n: i64
  param A: f32[n] strides [1]
  grid x, y in ceildiv(n, 8), 4 threads 32 {
    store A[(x * 8)] = 1:f32
  }
})";

TEST(PlanGrid, FirstGridVariableVariesFastest) {
  EXPECT_GOLDEN(after(kTwoAxes, loops_machine(), {plan_grid}), R"(
    kernel k stage planned {
      scalar n: i64
      param A: f32[n] strides [1]
      %0 = ceildiv(n, 8)
      for blocks block in (%0 * 4) {
        let x = (block % %0)
        let y = (block // %0)
        store A[(x * 8)] = 1:f32
      }
    }
  )");
}

TEST(PlanGrid, ThreadsLoopStandsInsideTheBlocksLoop) {
  EXPECT_GOLDEN(after(kTwoAxes, threads_machine(), {plan_grid}), R"(
    kernel k stage planned {
      scalar n: i64
      param A: f32[n] strides [1]
      %0 = ceildiv(n, 8)
      for blocks block in (%0 * 4) {
        let x = (block % %0)
        let y = (block // %0)
        for threads t in 32 {
          store A[(x * 8)] = 1:f32
        }
      }
    }
  )");
}

TEST(PlanGrid, CoresShareTheBlocks) {
  EXPECT_GOLDEN(after(kTwoAxes, engines_machine(), {plan_grid}), R"(
    kernel k stage planned {
      scalar n: i64
      param A: f32[n] strides [1]
      %0 = ceildiv(n, 8)
      %1 = (%0 * 4)
      %2 = min(%1, 3)
      for cores core in %2 {
        for serial round in ceildiv((%1 - core), %2) {
          let block = ((round * %2) + core)
          let x = (block % %0)
          let y = (block // %0)
          store A[(x * 8)] = 1:f32
        }
      }
    }
  )");
}

TEST(LowerTiles, LoopsMachineClipsTheLoop) {
  EXPECT_GOLDEN(after(kCopyIn, loops_machine(), {plan_grid, place, guard_accesses, lower_tiles, simplify}), R"(
    kernel k stage lowered {
      scalar n: i64
      param A: f32[n] strides [1]
      param B: f32[n] strides [1]
      for blocks b in ceildiv(n, 8) {
        alloc a: f32[8] shared memory scratch
        alloc r: f32[8] shared memory scratch
        %0 = (b * 8)
        let high = min(8, (n - %0))
        when (high != 8) {
          for parallel i_1 in 8 {
            store a[i_1] = 0:f32
          }
        }
        for parallel i_2 in high {
          store a[i_2] = A[(%0 + i_2)]
        }
        for parallel i in 8 {
          store r[i] = a[(7 - i)]
        }
        %1 = (b * 8)
        let high_1 = min(8, (n - %1))
        for parallel i_3 in high_1 {
          store B[(%1 + i_3)] = r[i_3]
        }
      }
    }
  )");
}

TEST(LowerTiles, ThreadsMachineTestsEachElement) {
  EXPECT_GOLDEN(after(kCopyIn, threads_machine(), {plan_grid, place, guard_accesses, lower_tiles, simplify}), R"(
    kernel k stage lowered {
      scalar n: i64
      param A: f32[n] strides [1]
      param B: f32[n] strides [1]
      for blocks b in ceildiv(n, 8) {
        for threads t in 4 {
          alloc a: f32[8] shared memory fast
          alloc r: f32[8] shared memory fast
          for parallel i_1 in 8 {
            %0 = ((b * 8) + i_1)
            store a[i_1] = select((%0 < n), A[%0], 0:f32)
          }
          for parallel i in 8 {
            store r[i] = a[(7 - i)]
          }
          for parallel i_2 in 8 {
            %1 = ((b * 8) + i_2)
            when (%1 < n) {
              store B[%1] = r[i_2]
            }
          }
        }
      }
    }
  )");
}

TEST(SynchroniseThreads, ReversalNeedsABarrierAndAnIdentityDoesNot) {
  EXPECT_GOLDEN(after(kCopyIn, threads_machine(),
                      {plan_grid, place, guard_accesses, lower_tiles, simplify, plan_memory, synchronise_threads}),
                R"(
    kernel k stage lowered {
      scalar n: i64
      param A: f32[n] strides [1]
      param B: f32[n] strides [1]
      for blocks b in ceildiv(n, 8) {
        alloc a: f32[8] shared memory fast offset 0
        alloc r: f32[8] shared memory fast offset 32
        for threads t in 4 {
          for parallel i_1 in 8 {
            %0 = ((b * 8) + i_1)
            store a[i_1] = select((%0 < n), A[%0], 0:f32)
          }
          barrier
          for parallel i in 8 {
            store r[i] = a[(7 - i)]
          }
          for parallel i_2 in 8 {
            %1 = ((b * 8) + i_2)
            when (%1 < n) {
              store B[%1] = r[i_2]
            }
          }
        }
      }
    }
  )");
}

TEST(SynchroniseThreads, ALoopsEndMeetsItsStart) {
  EXPECT_GOLDEN(
      after(R"(
kernel k stage traced {
  param B: f32[8] strides [1]
  grid b in 1 threads 4 {
    alloc a: f32[8] shared
    for serial s in 3 {
      for parallel i in 8 {
        store a[i] = cast<f32>((i + s))
      }
      for parallel j in 8 {
        store B[j] = a[(7 - j)]
      }
    }
  }
})",
            threads_machine(), {plan_grid, place, guard_accesses, lower_tiles, plan_memory, synchronise_threads}),
      R"(
    kernel k stage lowered {
      param B: f32[8] strides [1]
      for blocks b in 1 {
        alloc a: f32[8] shared memory fast offset 0
        for threads t in 4 {
          for serial s in 3 {
            barrier
            for parallel i in 8 {
              store a[i] = cast<f32>((i + s))
            }
            barrier
            for parallel j in 8 {
              store B[j] = a[(7 - j)]
            }
          }
        }
      }
    }
  )");
}

/// What stands in a loop is met again by the next iteration, which may not take the pass for ever.
TEST(SynchroniseThreads, AStoreOfTheWholeBlockInALoop) {
  EXPECT_GOLDEN(
      after(R"(
kernel k stage traced {
  param B: f32[8] strides [1]
  grid b in 1 threads 4 {
    for serial s in 3 {
      for serial u in 2 {
        store B[s] = 1:f32
      }
    }
  }
})",
            threads_machine(), {plan_grid, place, guard_accesses, lower_tiles, plan_memory, synchronise_threads}),
      R"(
    kernel k stage lowered {
      param B: f32[8] strides [1]
      for blocks b in 1 {
        for threads t in 4 {
          for serial s in 3 {
            for serial u in 2 {
              for parallel () in () {
                store B[s] = 1:f32
              }
            }
          }
        }
      }
    }
  )");
}

/// A product of one element is a reduction that no loop deals out: one thread does all of it, and waits before it.
TEST(SynchroniseThreads, AReductionOfTheWholeBlockIsOneThreads) {
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  param A: f32[5, 1] strides [1, 1]
  grid b in 1 threads 4 {
    alloc x: f32[5, 1] shared
    alloc c: f32[1, 1] fragment
    copy A[0:+5, 0:+1] -> x[0:+5, 0:+1]
    gemm x[0:+5, 0:+1] x x[0:+5, 0:+1] -> c[0:+1, 0:+1] transpose_a true
  }
})",
                      threads_machine(),
                      {plan_grid, place, guard_accesses, lower_tiles, simplify, plan_memory, synchronise_threads}),
                R"(
    kernel k stage lowered {
      param A: f32[5, 1] strides [1, 1]
      for blocks b in 1 {
        alloc x: f32[5, 1] shared memory fast offset 0
        alloc c: f32[1, 1] fragment memory fast offset 32
        for threads t in 4 {
          for parallel i in 5 {
            store x[i, 0] = A[i, 0]
          }
          barrier
          for parallel () in () {
            for reduction k_1 in 5 {
              store c[0, 0] = (c[0, 0] + (x[k_1, 0] * x[k_1, 0]))
            }
          }
        }
      }
    }
  )");
}

TEST(FinishForm, DealsIterationsToThreads) {
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  param B: f32[3, 5] strides [5, 1]
  grid b in 1 threads 4 {
    for parallel i, j in 3, 5 {
      store B[i, j] = 1:f32
    }
    store B[0, 0] = 2:f32
  }
})",
                      threads_machine(),
                      {plan_grid, place, guard_accesses, lower_tiles, plan_memory, synchronise_threads, finish_form}),
                R"(
    kernel k stage threads {
      param B: f32[3, 5] strides [5, 1]
      for blocks b in 1 {
        for threads t in 4 {
          for serial round in 4 {
            let iteration = ((round * 4) + t)
            when (iteration < 15) {
              let i = (iteration // 5)
              let j = (iteration % 5)
              store B[i, j] = 1:f32
            }
          }
          barrier
          when (t < 1) {
            store B[0, 0] = 2:f32
          }
        }
      }
    }
  )");
}

TEST(LowerTiles, GemmKeepsColumnsInnermostOnTheLoopsMachine) {
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  param C: f32[4, 6] strides [6, 1]
  grid b in 1 threads 4 {
    alloc a: f16[4, 3] shared
    alloc w: f16[3, 6] shared
    alloc c: f32[4, 6] fragment
    fill c[0:+4, 0:+6] = 0:f32
    gemm a[0:+4, 0:+3] x w[0:+3, 0:+6] -> c[0:+4, 0:+6]
    copy c[0:+4, 0:+6] -> C[0:+4, 0:+6]
  }
})",
                      loops_machine(), {plan_grid, place, guard_accesses, lower_tiles}),
                R"(
    kernel k stage lowered {
      param C: f32[4, 6] strides [6, 1]
      for blocks b in 1 {
        alloc a: f16[4, 3] shared memory scratch
        alloc w: f16[3, 6] shared memory scratch
        alloc c: f32[4, 6] fragment memory scratch
        for parallel i, j in 4, 6 {
          store c[i, j] = 0:f32
        }
        for parallel m in 4 {
          for reduction k_1 in 3 {
            for parallel n in 6 {
              store c[m, n] = (c[m, n] + (cast<f32>(a[m, k_1]) * cast<f32>(w[k_1, n])))
            }
          }
        }
        for parallel i_1, j_1 in 4, 6 {
          store C[i_1, j_1] = c[i_1, j_1]
        }
      }
    }
  )");
}

TEST(LowerTiles, ReductionStartsFromTheFirstElement) {
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  param Y: f16[4] strides [1]
  grid b in 1 threads 4 {
    alloc x: f32[4, 6] shared
    alloc m: f16[4] fragment
    reduce max x[0:+4, 0:+6] -> m[0:+4] axis 1
    copy m[0:+4] -> Y[0:+4]
  }
})",
                      loops_machine(), {plan_grid, place, guard_accesses, lower_tiles}),
                R"(
    kernel k stage lowered {
      param Y: f16[4] strides [1]
      for blocks b in 1 {
        alloc x: f32[4, 6] shared memory scratch
        alloc m: f16[4] fragment memory scratch
        alloc wide: f32[4] fragment memory scratch
        for parallel i in 4 {
          store wide[i] = x[i, 0]
          for reduction k_1 in 5 {
            store wide[i] = max(wide[i], x[i, (k_1 + 1)])
          }
        }
        for parallel i_1 in 4 {
          store m[i_1] = cast<f16>(wide[i_1])
        }
        for parallel i_2 in 4 {
          store Y[i_2] = m[i_2]
        }
      }
    }
  )");
}

const char* kIterationMemory = R"(
kernel k stage traced {
  param A: f32[8]
  grid b in 1 threads 4 {
    for parallel i in 8 {
      alloc v: f32[2] local
      store v[(i % 2)] = A[i]
      store A[i] = v[(i % 2)]
    }
  }
})";

/// Iterations that run at the same time have memory of their own, which needs no barrier.
TEST(Pipeline, TilesMadeInsideParallelBelongToOneIteration) {
  EXPECT_GOLDEN(after(kIterationMemory, threads_machine(),
                      {plan_grid, place, guard_accesses, lower_tiles, simplify, plan_memory, synchronise_threads,
                       finish_form, simplify}),
                R"(
    kernel k stage threads {
      param A: f32[8]
      for blocks b in 1 {
        for threads t in 4 {
          for serial round in 2 {
            let i = ((round * 4) + t)
            alloc v: f32[2] local memory own offset 0
            store v[(i % 2)] = A[i]
            store A[i] = v[(i % 2)]
          }
        }
      }
    }
  )");
  EXPECT_GOLDEN(after(kIterationMemory, loops_machine(),
                      {plan_grid, place, guard_accesses, lower_tiles, simplify, plan_memory, finish_form, simplify}),
                R"(
    kernel k stage loops {
      param A: f32[8]
      for blocks b in 1 {
        alloc v: f32[2] local memory scratch offset 0
        for parallel i in 8 {
          store v[(i % 2)] = A[i]
          store A[i] = v[(i % 2)]
        }
      }
    }
  )");
}

TEST(PlanMemory, TooMuchIsRefusedWithTheTable) {
  EXPECT_EQ(refusal(R"(
kernel k stage traced {
  grid b in 1 threads 4 {
    alloc first: f32[512] shared
    alloc second: f32[513] shared
    fill first[0:+512] = 0:f32
    fill second[0:+513] = 0:f32
  }
})",
                    threads_machine(), {plan_grid, place, lower_tiles, plan_memory}),
            "thready: second needs 2052 bytes of fast, where 2048 of 4096 are left; make the tiles smaller\n"
            "fast: 4100 of 4096 bytes\n"
            "  first              2048 bytes at          0\n"
            "  second             2052 bytes at       2048");
}

TEST(PlanMemory, RowsOfTilesBeginWhereTheMemoryAsks) {
  Caps caps = engines_machine().caps();
  caps.memories[0].row_alignment = 32;
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  grid b in 1 threads 4 {
    alloc line: f32[3] shared
    alloc rows: f32[2, 9] shared
    alloc column: f16[2, 1] shared
    fill line[0:+3] = 0:f32
    fill rows[0:+2, 0:+9] = 0:f32
    fill column[0:+2, 0:+1] = 0:f16
  }
})",
                      test::TableMachine(caps), {plan_grid, place, assign_engines, lower_tiles, plan_memory}),
                R"(
    kernel k stage lowered {
      for cores core in 1 {
        alloc line: f32[3] shared memory pad offset 0
        alloc rows: f32[2, 16] shared memory pad offset 32
        alloc column: f16[2, 16] shared memory pad offset 160
        for serial round in (1 - core) {
          let block = (round + core)
          let b = block
          on scalar {
            for parallel i in 3 {
              store line[i] = 0:f32
            }
          }
          on scalar {
            for parallel i_1, j in 2, 9 {
              store rows[i_1, j] = 0:f32
            }
          }
          on scalar {
            for parallel i_2 in 2 {
              store column[i_2, 0] = 0:f16
            }
          }
        }
      }
    }
  )");
}

TEST(PlanMemory, ExactlyTheMemoryIsAccepted) {
  EXPECT_EQ(refusal(R"(
kernel k stage traced {
  grid b in 1 threads 4 {
    alloc first: f32[512] shared
    alloc second: f32[512] shared
    fill first[0:+512] = 0:f32
    fill second[0:+512] = 0:f32
  }
})",
                    threads_machine(), {plan_grid, place, lower_tiles, plan_memory}),
            "accepted");
}

TEST(CheckMachine, ThreadCountsAndTypesAreRefusedWithWhatThereIs) {
  EXPECT_EQ(refusal("kernel k stage traced { grid b in 1 threads 257 { } }", threads_machine(), {check_machine}),
            "thready: grid asks for 257 threads, this machine has at most 256 in a block");
  EXPECT_EQ(refusal("kernel k stage traced { param A: e4m3[4] strides [1] grid b in 1 threads 1 { } }",
                    threads_machine(), {check_machine}),
            "thready: A has elements of type e4m3, which this machine cannot store; it has bool, f32, f64, f16, bf16, "
            "i32, i64");
  EXPECT_EQ(
      refusal("kernel k stage traced { param A: i32[4] strides [1] grid b in 1 threads 1 { store A[0] = "
              "cast<i32>((cast<u32>(A[1]) + 1:u32)) } }",
              threads_machine(), {check_machine}),
      "thready: this value is computed in u32, which this machine cannot do; it computes in bool, f32, f64, i32, i64");
}

TEST(CheckMachine, NoMachineHasMoreThreadsThanTheLanguage) {
  const char* text = "kernel k stage traced { grid b in 1 threads 1 { } }";
  Caps caps = threads_machine().caps();
  caps.max_threads = ir::kMostThreadsOfBlock;
  EXPECT_EQ(refusal(text, test::TableMachine(caps), {check_machine}), "accepted");
  ++caps.max_threads;
  EXPECT_THROW(after(text, test::TableMachine(caps), {check_machine}), InternalError);
}

}  // namespace
}  // namespace tilewright
