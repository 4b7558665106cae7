// Fragments that threads hold together: which element lies where, which fragments may, and what a thread then does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "machines.h"
#include "pass/distribution.h"
#include "pass/passes.h"
#include "support/golden.h"
#include "unit/pass/run.h"

namespace tilewright {
namespace {

using test::after;
using test::remarks_of;

/// threads_machine() with warps of four lanes, and 64 bytes of registers for fragments.
test::TableMachine warps_machine() {
  Caps c = test::threads_machine().caps();
  c.lanes = 4;
  c.register_bytes = 64;
  return test::TableMachine(c);
}

/// (thread, slot) of every image of an element.
std::set<std::pair<int64_t, int64_t>> holders(const Layout& layout, const Coord& x) {
  std::set<std::pair<int64_t, int64_t>> all;
  for (const Point& p : layout.images(x)) all.emplace(p.thread, p.offset / layout.element_bits());
  return all;
}

std::set<int64_t> threads_of(const Layout& layout, const Coord& x) {
  std::set<int64_t> all;
  for (const auto& [thread, slot] : holders(layout, x)) all.insert(thread);
  return all;
}

TEST(Distribution, RowsGiveEachElementItsPlaces) {
  for (const Coord& shape : {Coord{1},
                             {5},
                             {32},
                             {100},
                             {1, 1},
                             {3, 7},
                             {8, 32},
                             {1, 300},
                             {2, 129},
                             {33, 1},
                             {64, 5},
                             {2, 3, 4},
                             {3, 5, 70}})
    for (auto [threads, lanes] : {std::pair(32, 32), std::pair(96, 32), std::pair(128, 32), std::pair(16, 4)}) {
      SCOPED_TRACE(fmt::format("{} of rank {} over {}", shape[0], shape.size(), threads));
      const Distribution d = Distribution::rows(shape, threads, lanes);
      const Layout layout = d.layout(16);
      EXPECT_EQ(layout.shape(), shape);
      EXPECT_EQ(Distribution::of(layout).layout(16), layout);
      std::set<std::pair<int64_t, int64_t>> taken;
      std::set<int64_t> used;
      for (int64_t i = 0; i < layout.size(); ++i)
        for (const auto& [thread, slot] : holders(layout, layout.coordinate(i))) {
          EXPECT_TRUE(taken.emplace(thread, slot).second) << "two elements in one slot";
          EXPECT_LT(thread, threads);
          EXPECT_LT(slot, d.slots());
          used.insert(thread);
        }
      // Never more slots than if every thread beyond the next power of two were idle.
      EXPECT_LE(d.slots(), std::max<int64_t>(1, 4 * layout.size() / threads + shape.back()));
      // Every projection has the threads of all elements that fall together.
      for (size_t left_out = 0; left_out < shape.size(); ++left_out) {
        std::vector<size_t> kept;
        for (size_t k = 0; k < shape.size(); ++k)
          if (k != left_out) kept.push_back(k);
        if (kept.empty()) continue;
        const Layout part = d.project(kept).layout(16).padded();
        std::map<Coord, std::set<int64_t>> together;
        const Layout whole = d.layout(16).padded();
        for (int64_t i = 0; i < whole.size(); ++i) {
          const Coord x = whole.coordinate(i);
          Coord y;
          for (size_t k : kept) y.push_back(x[k]);
          const std::set<int64_t> threads_here = threads_of(whole, x);
          together[y].insert(threads_here.begin(), threads_here.end());
        }
        for (const auto& [y, wanted] : together) EXPECT_EQ(threads_of(part, y), wanted);
      }
    }
}

constexpr const char* kSoftmaxLike = R"(
kernel k stage traced {
  scalar n: i64
  param A: f32[n, 10] strides [10, 1]
  param B: f32[n, 10] strides [10, 1]
  grid b in ceildiv(n, 4) threads 8 {
    alloc v: f32[4, 10] fragment
    alloc most: f32[4] fragment
    copy A[(b * 4):+4, 0:+10] -> v[0:+4, 0:+10]
    reduce max v[0:+4, 0:+10] -> most[0:+4] axis 1
    for parallel i, j in 4, 10 {
      store v[i, j] = (v[i, j] - most[i])
    }
    copy v[0:+4, 0:+10] -> B[(b * 4):+4, 0:+10]
  }
})";

TEST(InferLayouts, ResultsOfReductionsFollowTheirSource) {
  EXPECT_EQ(remarks_of("infer_layouts", kSoftmaxLike, warps_machine(), {plan_grid, place, infer_layouts}),
            "v lies in registers, 6 of each thread: 32b[(2:3,2:4t),(3:1,4:1t)<10]\n"
            "most lies in registers, 2 of each thread: 32b[(2:1,2:4t)] rep(4:1t)\n");
}

TEST(InferLayouts, AThreadRunsItsSlots) {
  EXPECT_GOLDEN(after(kSoftmaxLike, warps_machine(),
                      {plan_grid, place, infer_layouts, guard_accesses, lower_tiles, simplify, plan_memory,
                       synchronise_threads, finish_form, simplify}),
                R"(
    kernel k stage threads {
      scalar n: i64
      param A: f32[n, 10] strides [10, 1]
      param B: f32[n, 10] strides [10, 1]
      for blocks b in ceildiv(n, 4) {
        for threads t in 8 {
          alloc v: f32[6] fragment memory own offset 0
          alloc most: f32[2] fragment memory own offset 24
          for unroll slot in 2 {
            for unroll slot_1 in 3 {
              let i_1 = ((slot * 2) + (t // 4))
              let j_1 = ((slot_1 * 4) + (t % 4))
              when (j_1 < 10) {
                %0 = ((b * 4) + i_1)
                store v[((slot * 3) + slot_1)] = select((%0 < n), A[%0, j_1], 0:f32)
              }
            }
          }
          alloc part: f32[2] fragment memory own offset 24
          for unroll slot_2 in 2 {
            store part[slot_2] = nan:f32
          }
          for unroll slot_3 in 2 {
            for unroll slot_4 in 3 {
              store part[slot_3] = max(part[slot_3], select((((slot_4 * 4) + (t % 4)) < 10), v[((slot_3 * 3) + slot_4)], nan:f32))
            }
          }
          for unroll slot_5 in 2 {
            shuffle other: f32 = part[slot_5] lanes 1
            store part[slot_5] = max(part[slot_5], other)
          }
          for unroll slot_6 in 2 {
            shuffle other_1: f32 = part[slot_6] lanes 2
            store part[slot_6] = max(part[slot_6], other_1)
          }
          for unroll slot_7 in 2 {
            store most[slot_7] = part[slot_7]
          }
          for unroll slot_8 in 2 {
            for unroll slot_9 in 3 {
              let j = ((slot_9 * 4) + (t % 4))
              when (j < 10) {
                store v[((slot_8 * 3) + slot_9)] = (v[((slot_8 * 3) + slot_9)] - most[slot_8])
              }
            }
          }
          for unroll slot_10 in 2 {
            for unroll slot_11 in 3 {
              let i_2 = ((slot_10 * 2) + (t // 4))
              let j_2 = ((slot_11 * 4) + (t % 4))
              when (j_2 < 10) {
                %1 = ((b * 4) + i_2)
                when (%1 < n) {
                  store B[%1, j_2] = v[((slot_10 * 3) + slot_11)]
                }
              }
            }
          }
        }
      }
    }
  )");
}

TEST(InferLayouts, WarpsThatShareARowExchangeThroughMemory) {
  EXPECT_GOLDEN(after(R"(
kernel k stage traced {
  param A: f32[1, 10] strides [10, 1]
  param B: f32[1] strides [1]
  grid b in 1 threads 8 {
    alloc v: f32[1, 10] fragment
    alloc sum: f32[1] fragment
    copy A[0:+1, 0:+10] -> v[0:+1, 0:+10]
    fill sum[0:+1] = 1:f32
    reduce sum v[0:+1, 0:+10] -> sum[0:+1] axis 1 accumulate true
    copy sum[0:+1] -> B[0:+1]
  }
})",
                      warps_machine(),
                      {plan_grid, place, infer_layouts, guard_accesses, lower_tiles, simplify, plan_memory,
                       synchronise_threads, finish_form, simplify}),
                R"(
    kernel k stage threads {
      param A: f32[1, 10] strides [10, 1]
      param B: f32[1] strides [1]
      for blocks b in 1 {
        alloc exchange: f32[2] shared memory fast offset 0
        for threads t in 8 {
          alloc v: f32[2] fragment memory own offset 0
          alloc sum: f32[1] fragment memory own offset 8
          for unroll slot in 2 {
            let i = ((slot * 8) + t)
            when (i < 10) {
              store v[slot] = A[0, i]
            }
          }
          store sum[0] = 1:f32
          alloc part: f32[1] fragment memory own offset 8
          store part[0] = -0:f32
          for unroll slot_1 in 2 {
            store part[0] = (part[0] + select((((slot_1 * 8) + t) < 10), v[slot_1], -0:f32))
          }
          shuffle other: f32 = part[0] lanes 1
          store part[0] = (part[0] + other)
          shuffle other_1: f32 = part[0] lanes 2
          store part[0] = (part[0] + other_1)
          when ((t % 4) == 0) {
            store exchange[(t // 4)] = part[0]
          }
          barrier
          store part[0] = (exchange[0] + exchange[1])
          store sum[0] = (sum[0] + part[0])
          when (t == 0) {
            store B[0] = sum[0]
          }
        }
      }
    }
  )");
}

/// The facts of infer_layouts about a body that uses f (4, 8) and g (4, 8).
std::string reasons(const std::string& body) {
  return remarks_of("infer_layouts",
                    fmt::format(R"(
kernel k stage traced {{
  scalar n: i64
  param A: f32[4, 8] strides [8, 1]
  grid b in 1 threads 8 {{
    alloc f: f32[4, 8] fragment
    alloc g: f32[4, 8] fragment
    alloc s: f32[8, 8] shared
    {}
  }}
}})",
                                body),
                    warps_machine(), {plan_grid, place, infer_layouts});
}

TEST(InferLayouts, SaysWhyAFragmentLiesInMemory) {
  const std::string g = "g lies in registers, 4 of each thread: 32b[(2:2,2:4t),(2:1,4:1t)]\n";
  EXPECT_EQ(reasons("fill f[1:+3, 0:+8] = 0:f32"), "f lies in fast: a part of it is used by itself\n" + g);
  EXPECT_EQ(reasons("store f[0, 0] = 0:f32"), "f lies in fast: an element is written outside a parallel loop\n" + g);
  EXPECT_EQ(reasons("let x: f32 = f[0, 0]"), "f lies in fast: an element is read outside a parallel loop\n" + g);
  EXPECT_EQ(reasons("when (f[0, 0] < 0:f32) { fill s[0:+8, 0:+8] = 0:f32 }"),
            "f lies in fast: an element is read outside a parallel loop\n" + g);
  EXPECT_EQ(reasons("for parallel i, j in 4, 8 { store f[(3 - i), j] = 0:f32 }"),
            "f lies in fast: an index is not the variable of a loop over its axis\n" + g);
  EXPECT_EQ(reasons("for parallel i, j in 4, 7 { store f[i, j] = 0:f32 }"),
            "f lies in fast: an index is not the variable of a loop over its axis\n" + g);
  EXPECT_EQ(reasons("for parallel i, j, k in 4, 8, 2 { store s[i, j] = (f[i, j] + cast<f32>(k)) }"),
            "f lies in fast: a loop over more than its axes uses it\n" + g);
  EXPECT_EQ(reasons("gemm f[0:+4, 0:+8] x s[0:+8, 0:+8] -> g[0:+4, 0:+8]"),
            "f lies in fast: it is an operand of a gemm that no matrix unit does\n" + g +
                "gemm: products one by one, in f32\n");
  // One of two fragments that a loop turns against each other; the later one of equal sizes gives way.
  EXPECT_EQ(remarks_of("infer_layouts", R"(
kernel k stage traced {
  grid b in 1 threads 8 {
    alloc f: f32[8, 8] fragment
    alloc g: f32[8, 8] fragment
    for parallel i, j in 8, 8 {
      store f[i, j] = g[j, i]
    }
    copy f[0:+8, 0:+8] -> g[0:+8, 0:+8]
  }
})",
                       warps_machine(), {plan_grid, place, infer_layouts}),
            "f lies in registers, 8 of each thread: 32b[(4:2,2:4t),(2:1,4:1t)]\n"
            "g lies in fast: f needs it distributed in another way\n");
  EXPECT_EQ(remarks_of("infer_layouts", R"(
kernel k stage traced {
  grid b in 1 threads 8 {
    alloc f: f32[8, 16] fragment
    alloc g: f32[8] fragment
    fill f[0:+8, 0:+16] = 0:f32
    fill g[0:+8] = 0:f32
  }
})",
                       warps_machine(), {plan_grid, place, infer_layouts}),
            "f lies in fast: the fragments need 68 bytes of registers of a thread, which has 64 for them\n"
            "g lies in registers, 1 of each thread: 32b[(2:4t,4:1t)]\n");
}

// A loop that updates memory: a row vector beside a whole row does not matter, for one thread runs each iteration;
// where the row vector alone deals the loop out, several threads would.
TEST(InferLayouts, AnUpdateOfMemoryNeedsOneThreadAnElement) {
  auto facts = [](const std::string& update) {
    return remarks_of("infer_layouts",
                      fmt::format(R"(
kernel k stage traced {{
  grid b in 1 threads 8 {{
    alloc v: f32[4, 8] fragment
    alloc r: f32[4] fragment
    alloc s: f32[4, 8] shared
    alloc q: f32[4] shared
    reduce sum v[0:+4, 0:+8] -> r[0:+4] axis 1
    {}
  }}
}})",
                                  update),
                      warps_machine(), {plan_grid, place, infer_layouts});
  };
  EXPECT_EQ(facts("for parallel i, j in 4, 8 { store s[i, j] = (s[i, j] + (v[i, j] * r[i])) }"),
            "v lies in registers, 4 of each thread: 32b[(2:2,2:4t),(2:1,4:1t)]\n"
            "r lies in registers, 2 of each thread: 32b[(2:1,2:4t)] rep(4:1t)\n");
  EXPECT_EQ(facts("for parallel i in 4 { store q[i] = (q[i] + r[i]) }"),
            "v lies in fast: it is used beside r, which lies in memory\n"
            "r lies in fast: several threads would hold it where q in memory is read and written\n");
}

TEST(InferLayouts, ThreadsThatAreNoWholeWarpsHoldNothingTogether) {
  EXPECT_EQ(remarks_of("infer_layouts", R"(
kernel k stage traced {
  grid b in 1 threads 6 {
    alloc f: f32[8] fragment
    fill f[0:+8] = 0:f32
  }
})",
                       warps_machine(), {plan_grid, place, infer_layouts}),
            "");
}

}  // namespace
}  // namespace tilewright
