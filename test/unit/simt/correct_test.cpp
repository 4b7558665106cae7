// Correct kernels: right values, no fault, under every seed and with both kinds of fibers.
#include <gtest/gtest.h>

#include "kernels.h"

namespace tilewright::simt {
namespace {
const bool registered = Batch::add("vector_add", "vector_add", kVectorAdd) &&
                        Batch::add("reverse", "reverse", kReverse) && Batch::add("block_sum", "block_sum", kBlockSum) &&
                        Batch::add("transpose", "transpose", kTranspose) &&
                        Batch::add("row_loop", "row_loop", kRowLoop) && Batch::add("wide", "wide", R"(
// accesses of several elements each
struct Pair { float v[2]; };
struct Four { float v[4]; };
__global__ void wide(tw::global<const float> A, tw::global<float> C) {
  tw::shared<float> s = tw::shared_at<float>(0, 32, "s");
  int t = threadIdx.x;
  if (t < 8) tw::emu::store(s.view, 4 * t, 4, tw::emu::load<Four>(A.view, 4 * t, 4));
  tw::barrier();
  float left = s[t];
  tw::barrier();
  s[31 - t] = left;
  tw::barrier();
  if (t < 16) {
    Pair pair = tw::emu::load<Pair>((s + 2 * t).view, 0, 4);
    pair.v[0] *= 10.0f;
    tw::emu::store((C + 2 * t).view, 0, 4, pair);
  }
}
)") && Batch::add("mixed", "mixed", R"(
// bytes and words of one piece of shared memory; each thread's bytes are its own until the barrier
__global__ void mixed(tw::global<unsigned> out) {
  tw::shared<tw::u8> bytes = tw::shared_at<tw::u8>(0, 64, "bytes");
  tw::shared<unsigned> words = tw::shared_at<unsigned>(0, 16, "words");
  int t = threadIdx.x;
  words[t] = 0u;
  for (int i = 0; i < 4; ++i) bytes[4 * t + i] = tw::u8(t + i);
  tw::barrier();
  out[t] = words[15 - t];
}
)");

struct Setting {
  uint64_t seed;
  bool portable;
};
constexpr Setting kSettings[] = {{0, false}, {1, false}, {2, false}, {77, false}, {0, true}, {5, true}};

LaunchOptions options_of(const Setting& s) {
  LaunchOptions options;
  options.seed = s.seed;
  options.portable_fibers = s.portable;
  return options;
}

/// EXPECTs a clean report and shows the first fault otherwise.
void expect_clean(const Report& report) {
  EXPECT_EQ(report.total, 0) << (report.faults.empty() ? "" : report.faults[0].text);
  EXPECT_FALSE(report.stopped);
}

TEST(SimtCorrect, VectorAddWithATail) {
  for (int n : {0, 1, 127, 128, 129, 1000}) {
    for (const Setting& s : kSettings) {
      std::vector<float> a(n), c(n, -1.0f);
      for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i) * 0.5f;
      Report report = launch(Batch::instance()["vector_add"], {std::max(1, (n + 127) / 128)}, {128}, 512,
                             std::vector{buffer("A", a), buffer("C", c), Argument::i64(n)}, options_of(s));
      expect_clean(report);
      for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + 1.0f) << "n " << n << " i " << i;
    }
  }
}

TEST(SimtCorrect, ReverseThroughSharedMemory) {
  for (int threads : {1, 2, 31, 64, 127, 1024}) {
    for (const Setting& s : kSettings) {
      std::vector<int> a(threads * 3), c(threads * 3, -1);
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int>(i * i);
      Report report = launch(Batch::instance()["reverse"], {3}, {threads}, threads * 4,
                             std::vector{buffer("A", a), buffer("C", c)}, options_of(s));
      expect_clean(report);
      EXPECT_EQ(report.barriers, 3);
      EXPECT_EQ(report.accesses, 3 * threads * 4);
      for (int b = 0; b < 3; ++b)
        for (int t = 0; t < threads; ++t) ASSERT_EQ(c[b * threads + t], a[b * threads + threads - 1 - t]);
    }
  }
}

TEST(SimtCorrect, BlockSumForThreadCountsThatAreNoPowersOfTwo) {
  for (int threads : {1, 3, 48, 96, 128}) {
    for (const Setting& s : kSettings) {
      const int per_block = 101, blocks = 4;
      std::vector<float> a(per_block * blocks), out(blocks, -1.0f);
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13);
      Report report = launch(Batch::instance()["block_sum"], {blocks}, {threads}, threads * 4,
                             std::vector{buffer("A", a), buffer("out", out), Argument::i32(per_block)}, options_of(s));
      expect_clean(report);
      for (int b = 0; b < blocks; ++b) {
        float sum = 0;
        for (int i = 0; i < per_block; ++i) sum += a[b * per_block + i];
        EXPECT_EQ(out[b], sum);  // small integers: exact in any order
      }
    }
  }
}

TEST(SimtCorrect, TransposeOfOddShapesInTwoDimensionalBlocks) {
  for (auto [rows, columns] : {std::pair{1, 1}, {16, 16}, {17, 33}, {40, 7}}) {
    for (const Setting& s : kSettings) {
      std::vector<uint16_t> a(rows * columns), b(rows * columns, 0xdead);
      for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint16_t>(i);
      Report report = launch(
          Batch::instance()["transpose"], {(columns + 15) / 16, (rows + 15) / 16}, {16, 4}, 64 + 16 * 17 * 2,
          std::vector{buffer("A", a), buffer("B", b), Argument::i32(rows), Argument::i32(columns)}, options_of(s));
      expect_clean(report);
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) ASSERT_EQ(b[x * rows + y], a[y * columns + x]);
    }
  }
}

TEST(SimtCorrect, OneSharedRowReusedByALoop) {
  for (int steps : {0, 1, 2, 5}) {
    for (const Setting& s : kSettings) {
      std::vector<int> in(64 * 5), out(64, -1);
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7 % 31);
      Report report = launch(Batch::instance()["row_loop"], {1}, {64}, 256,
                             std::vector{buffer("in", in), buffer("out", out), Argument::i32(steps)}, options_of(s));
      expect_clean(report);
      EXPECT_EQ(report.barriers, 2 * steps);
      for (int t = 0; t < 64; ++t) {
        int sum = 0;
        for (int k = 0; k < steps; ++k) sum += in[k * 64 + 63 - t];
        EXPECT_EQ(out[t], sum);
      }
    }
  }
}

TEST(SimtCorrect, VectorAccessesAndMovedViews) {
  for (const Setting& s : kSettings) {
    alignas(16) float a[32], c[32];
    for (int i = 0; i < 32; ++i) a[i] = static_cast<float>(i);
    Report report =
        launch(Batch::instance()["wide"], {1}, {32}, 128,
               std::vector{Argument::buffer("A", a, sizeof a), Argument::buffer("C", c, sizeof c)}, options_of(s));
    expect_clean(report);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(c[i], static_cast<float>(31 - i) * (i % 2 ? 1.0f : 10.0f));
  }
}

TEST(SimtCorrect, BytesAndWordsOfTheSameSharedMemory) {
  std::vector<unsigned> out(16);
  expect_clean(launch(Batch::instance()["mixed"], {1}, {16}, 64, std::vector{buffer("out", out)}));
  for (unsigned t = 0; t < 16; ++t) {
    unsigned u = 15 - t;
    EXPECT_EQ(out[t], u | (u + 1) << 8 | (u + 2) << 16 | (u + 3) << 24);
  }
}

}  // namespace
}  // namespace tilewright::simt
