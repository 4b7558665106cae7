// The passes of machines that are made of engines: where statements run, and who waits for whom.
#include <gtest/gtest.h>

#include "machines.h"
#include "support/golden.h"
#include "unit/pass/run.h"

namespace tilewright {
namespace {

using test::after;
using test::engines_machine;
using test::kCopyIn;
using test::refusal;

TEST(AssignEngines, EnginesOfAMachineMadeOfATable) {
  EXPECT_GOLDEN(after(kCopyIn, engines_machine(), {plan_grid, place, assign_engines}), R"(
    kernel k stage placed {
      scalar n: i64
      param A: f32[n] strides [1]
      param B: f32[n] strides [1]
      %0 = ceildiv(n, 8)
      %1 = min(%0, 3)
      for cores core in %1 {
        for serial round in ceildiv((%0 - core), %1) {
          let block = ((round * %1) + core)
          let b = block
          alloc a: f32[8] shared memory pad
          alloc r: f32[8] shared memory pad
          on "in" {
            copy A[(b * 8):+8] -> a[0:+8]
          }
          on scalar {
            for parallel i in 8 {
              store r[i] = a[(7 - i)]
            }
          }
          on out {
            copy r[0:+8] -> B[(b * 8):+8]
          }
        }
      }
    }
  )");
}

TEST(AssignEngines, ACopyBetweenTilesTakesItsPathAndElsewhereTheScalarEngine) {
  const char* text = R"(
kernel k stage traced {
  grid b in 1 threads 1 {
    alloc a: f32[8] shared
    alloc c: f32[8] fragment
    fill a[0:+8] = 0:f32
    copy a[0:+8] -> c[0:+8]
  }
})";
  auto engine_of_copy = [&](const Caps& caps) {
    const std::string out = after(text, test::TableMachine(caps), {plan_grid, place, assign_engines});
    const size_t copy = out.find("copy a"), on = out.rfind("on ", copy) + 3;
    return out.substr(on, out.find(" {", on) - on);
  };
  Caps caps = engines_machine().caps();
  caps.memories.push_back({.name = "near", .bytes = 4096, .alignment = 32});
  caps.memory_of[static_cast<int>(ir::Space::fragment)] = "near";
  EXPECT_EQ(engine_of_copy(caps), "scalar");
  caps.paths.push_back({"near", "pad", "out"});
  EXPECT_EQ(engine_of_copy(caps), "scalar");  // the other way round
  caps.paths.push_back({"pad", "near", "out"});
  EXPECT_EQ(engine_of_copy(caps), "out");
}

TEST(AssignEngines, AMachineOfEnginesHasOneForElementLoops) {
  Caps caps = engines_machine().caps();
  caps.engines[0].scalar = false;
  try {
    after(kCopyIn, test::TableMachine(caps), {plan_grid, place, assign_engines});
    ADD_FAILURE() << "accepted";
  } catch (const InternalError& e) {
    EXPECT_NE(e.message().find("enginy: no engine of this machine runs element loops"), std::string::npos)
        << e.message();
  }
}

TEST(SynchroniseEngines, FlagsBetweenEnginesAndAcrossRounds) {
  EXPECT_GOLDEN(after(kCopyIn, engines_machine(),
                      {plan_grid, place, assign_engines, guard_accesses, lower_tiles, simplify, plan_memory,
                       synchronise_engines}),
                R"(
    kernel k stage lowered {
      scalar n: i64
      param A: f32[n] strides [1]
      param B: f32[n] strides [1]
      %0 = ceildiv(n, 8)
      %1 = min(%0, 3)
      for cores core in %1 {
        alloc a: f32[8] shared memory pad offset 0
        alloc r: f32[8] shared memory pad offset 32
        for serial round in ceildiv((%0 - core), %1) {
          let block = ((round * %1) + core)
          let high = min(8, (n - (block * 8)))
          when (high != 8) {
            on scalar {
              for parallel i_1 in 8 {
                store a[i_1] = 0:f32
              }
            }
          }
          when (0 < high) {
            set_flag scalar -> "in" id 0
            wait_flag scalar -> "in" id 0
            on "in" {
              copy A[(block * 8):+high] -> a[0:+high] padding 0:f32
            }
          }
          set_flag "in" -> scalar id 0
          wait_flag "in" -> scalar id 0
          set_flag out -> scalar id 0
          wait_flag out -> scalar id 0
          on scalar {
            for parallel i in 8 {
              store r[i] = a[(7 - i)]
            }
          }
          let high_1 = min(8, (n - (block * 8)))
          when (0 < high_1) {
            set_flag scalar -> out id 0
            wait_flag scalar -> out id 0
            on out {
              copy r[0:+high_1] -> B[(block * 8):+high_1] padding 0:f32
            }
          }
        }
      }
    }
  )");
}

// Two hand-overs between the same engines, and nothing by which the first engine would know that the other has passed
// the first one.
const char* kTwoHandOvers = R"(
kernel k stage traced {
  param A: f32[16] strides [1]
  param B: f32[16] strides [1]
  grid b in 2 threads 4 {
    alloc a: f32[8] shared
    alloc c: f32[8] shared
    for serial k in 2 {
      copy A[0:+8] -> a[0:+8]
      copy a[0:+8] -> B[0:+8]
      copy A[8:+8] -> c[0:+8]
      copy c[0:+8] -> B[8:+8]
    }
  }
})";

TEST(SynchroniseEngines, AFlagIsNotSetAgainBeforeItsWait) {
  EXPECT_GOLDEN(after(kTwoHandOvers, engines_machine(),
                      {plan_grid, place, assign_engines, guard_accesses, lower_tiles, simplify, plan_memory,
                       synchronise_engines}),
                R"(
    kernel k stage lowered {
      param A: f32[16] strides [1]
      param B: f32[16] strides [1]
      for cores core in 2 {
        alloc a: f32[8] shared memory pad offset 0
        alloc c: f32[8] shared memory pad offset 32
        for serial k in 2 {
          set_flag out -> "in" id 0
          wait_flag out -> "in" id 0
          on "in" {
            copy A[0:+8] -> a[0:+8] padding 0:f32
          }
          set_flag "in" -> out id 0
          wait_flag "in" -> out id 0
          on out {
            copy a[0:+8] -> B[0:+8] padding 0:f32
          }
          on "in" {
            copy A[8:+8] -> c[0:+8] padding 0:f32
          }
          set_flag "in" -> out id 1
          wait_flag "in" -> out id 1
          engine_barrier out
          on out {
            copy c[0:+8] -> B[8:+8] padding 0:f32
          }
        }
      }
    }
  )");
}

TEST(SynchroniseEngines, WithoutAFurtherFlagTheIssuingEngineWaitsFirst) {
  Caps caps = engines_machine().caps();
  caps.flags_per_pair = 1;
  const std::string text = after(
      kTwoHandOvers, test::TableMachine(caps),
      {plan_grid, place, assign_engines, guard_accesses, lower_tiles, simplify, plan_memory, synchronise_engines});
  EXPECT_GOLDEN(text.substr(text.find("      on \"in\" {\n        copy A[8")), R"(
          on "in" {
            copy A[8:+8] -> c[0:+8] padding 0:f32
          }
          set_flag out -> scalar id 0
          wait_flag out -> scalar id 0
          set_flag "in" -> out id 0
          wait_flag "in" -> out id 0
          on out {
            copy c[0:+8] -> B[8:+8] padding 0:f32
          }
        }
      }
    }
  )");
}

const char* kReadsInControl = R"(
kernel k stage traced {
  param A: f32[8] strides [1]
  param n: i64[8] strides [1]
  grid b in 1 threads 1 {
    alloc a: f32[8] shared
    alloc m: i64[8] shared
    copy A[0:+8] -> a[0:+8]
    copy n[0:+8] -> m[0:+8]
    let x: f32 = a[0]
    for serial k in m[0] {
      when (0:f32 < a[k]) {
        copy A[0:+8] -> a[0:+8]
      }
    }
    fill a[0:+8] = x
  }
})";

const char* kConvertingCopies = R"(
kernel k stage traced {
  scalar n: i64
  param A: f16[8, n] strides [n, 1]
  param B: bf16[8, n] strides [n, 1]
  grid b in 1 threads 1 {
    alloc a: f32[2, 8] shared
    copy A[1:+2, 3:+8] -> a[0:+2, 0:+8] padding 1:f16
    copy a[0:+2, 0:+4] -> B[0:+2, 0:+4]
  }
})";

TEST(LowerTiles, ACopyThatConvertsGoesThroughATileWhereItsEngineCannot) {
  EXPECT_GOLDEN(after(kConvertingCopies, engines_machine(), {plan_grid, place, assign_engines, lower_tiles, simplify}),
                R"(
    kernel k stage lowered {
      scalar n: i64
      param A: f16[8, n] strides [n, 1]
      param B: bf16[8, n] strides [n, 1]
      for cores core in 1 {
        alloc a: f32[2, 8] shared memory pad
        let high = min(8, (n - 3))
        when (high != 8) {
          on scalar {
            for parallel i, j in 2, 8 {
              store a[i, j] = 1:f32
            }
          }
        }
        when (0 < high) {
          alloc a_moved: f16[2, 8] shared memory pad
          on "in" {
            copy A[1:+2, 3:+high] -> a_moved[0:+2, 0:+high] padding 1:f16
          }
          on scalar {
            for parallel i_1, j_1 in 2, high {
              store a[i_1, j_1] = cast<f32>(a_moved[i_1, j_1])
            }
          }
        }
        let high_1 = min(4, n)
        when (0 < high_1) {
          alloc a_moved_1: bf16[2, 4] shared memory pad
          on scalar {
            for parallel i_2, j_2 in 2, high_1 {
              store a_moved_1[i_2, j_2] = cast<bf16>(a[i_2, j_2])
            }
          }
          on out {
            copy a_moved_1[0:+2, 0:+high_1] -> B[0:+2, 0:+high_1] padding 0:bf16
          }
        }
      }
    }
  )");
  Caps caps = engines_machine().caps();
  for (CopyPath& path : caps.paths) path.converts = true;
  EXPECT_EQ(after(kConvertingCopies, test::TableMachine(caps), {plan_grid, place, assign_engines, lower_tiles})
                .find("_moved"),
            std::string::npos);
}

TEST(AssignEngines, AConvertingCopyOfRunTimeExtentsIsRefused) {
  EXPECT_EQ(
      refusal(R"(
kernel k stage traced {
  scalar n: i64
  param A: f16[8] strides [1]
  grid b in 1 threads 1 {
    alloc a: f32[8] shared
    copy A[0:+n] -> a[0:+n]
  }
})",
              engines_machine(), {plan_grid, place, assign_engines}),
      "enginy: copy converts f16 to f32, which goes through a tile of its own here: its extents must be constants");
}

TEST(AssignEngines, ReadsInControlFlowNeedAnIssuingEngineThatReads) {
  Caps caps = engines_machine().caps();
  caps.engines[0].issues = false;
  caps.engines[1].issues = true;
  EXPECT_EQ(
      refusal(kReadsInControl, test::TableMachine(caps), {plan_grid, place, assign_engines}),
      "enginy: this value reads memory outside a parallel loop, and the engine that issues cannot; read it inside "
      "parallel(...), or pass it as a scalar argument");
}

TEST(SynchroniseEngines, ControlFlowWaitsForWhatItReads) {
  EXPECT_GOLDEN(after(kReadsInControl, engines_machine(),
                      {plan_grid, place, assign_engines, lower_tiles, simplify, plan_memory, synchronise_engines}),
                R"(
    kernel k stage lowered {
      param A: f32[8] strides [1]
      param n: i64[8] strides [1]
      for cores core in 1 {
        alloc a: f32[8] shared memory pad offset 0
        alloc m: i64[8] shared memory pad offset 32
        on "in" {
          copy A[0:+8] -> a[0:+8] padding 0:f32
        }
        on "in" {
          copy n[0:+8] -> m[0:+8] padding 0
        }
        set_flag "in" -> scalar id 0
        wait_flag "in" -> scalar id 0
        let x: f32 = a[0]
        for serial k in m[0] {
          set_flag "in" -> scalar id 1
          wait_flag "in" -> scalar id 1
          when (0:f32 < a[k]) {
            set_flag scalar -> "in" id 0
            wait_flag scalar -> "in" id 0
            on "in" {
              copy A[0:+8] -> a[0:+8] padding 0:f32
            }
          }
        }
        set_flag "in" -> scalar id 2
        wait_flag "in" -> scalar id 2
        on scalar {
          for parallel i in 8 {
            store a[i] = x
          }
        }
      }
    }
  )");
}

}  // namespace
}  // namespace tilewright
