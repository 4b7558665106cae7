// Wrong kernels: each planted fault is reported with its kind, buffer, index, threads and lines, and nothing else is.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels.h"
#include "target/common/emulator/simt/shadow.h"

namespace tilewright::simt {
namespace {
const bool registered = Batch::add("vector_add-1", "vector_add", without_barrier(kVectorAdd, 1)) &&
                        Batch::add("reverse-1", "reverse", without_barrier(kReverse, 1)) &&
                        Batch::add("block_sum-1", "block_sum", without_barrier(kBlockSum, 1)) &&
                        Batch::add("transpose-1", "transpose", without_barrier(kTranspose, 1)) &&
                        Batch::add("row_loop-1", "row_loop", without_barrier(kRowLoop, 1)) &&
                        Batch::add("row_loop-2", "row_loop", without_barrier(kRowLoop, 2)) &&
                        Batch::add("one_access", "one_access", R"(
__global__ void one_access(tw::global<const int> in, tw::global<int> out, long long read_at, long long write_at) {
  if (threadIdx.x == 3) {
    int v = in[read_at];
    out[write_at] = v;
  }
}
)") && Batch::add("uninitialised", "uninitialised", R"(
__global__ void uninitialised(tw::global<int> out) {
  tw::shared<int> s = tw::shared_at<int>(16, 8, "s");
  if (threadIdx.x != 5) s[threadIdx.x] = 1;
  tw::barrier();
  out[blockIdx.x * 8 + threadIdx.x] = s[threadIdx.x];
}
)") && Batch::add("shared_bounds", "shared_bounds", R"(
__global__ void shared_bounds() {
  tw::shared<int> s = tw::shared_at<int>(0, 8, "s");
  tw::shared<int> u = tw::shared_at<int>(32, 8, "u");
  u[threadIdx.x] = 0;
  s[threadIdx.x + 1] = 1;
}
)") && Batch::add("diverge", "diverge", R"(
__global__ void diverge(int how) {
  int t = threadIdx.x;
  if (how == 0 && t == 2) return;
  if (how == 1 && t >= 6) {
    tw::barrier();
  } else {
    tw::barrier();
  }
  for (int i = 0; how == 2 && i < t; ++i) tw::barrier();
}
)") && Batch::add("same_element", "same_element", R"(
__global__ void same_element(tw::global<int> out, int per_block) {
  if (threadIdx.x == 0) out[blockIdx.x / per_block] = 7;
}
)") && Batch::add("read_others", "read_others", R"(
__global__ void read_others(tw::global<int> data, tw::global<int> out) {
  if (threadIdx.x == 0) {
    out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
    data[blockIdx.x] = 1;
  }
}
)") && Batch::add("misaligned", "misaligned", R"(
struct Four { float v[4]; };
__global__ void misaligned(tw::global<const float> in, tw::global<float> out) {
  Four four = tw::emu::load<Four>(in.view, threadIdx.x, 4);
  out[threadIdx.x] = four.v[0];
}
)") && Batch::add("copy_floats", "copy_floats", R"(
__global__ void copy_floats(tw::global<const float> in, tw::global<float> out) { out[threadIdx.x] = in[threadIdx.x]; }
)") && Batch::add("byte_races", "byte_races", R"(
// thread 0 writes a word; thread 1 writes byte `at` of the same memory
__global__ void byte_races(int at) {
  tw::shared<unsigned> words = tw::shared_at<unsigned>(0, 4, "words");
  tw::shared<tw::u8> bytes = tw::shared_at<tw::u8>(0, 16, "bytes");
  if (threadIdx.x == 0) words[1] = 0u;
  if (threadIdx.x == 1) bytes[at] = 1;
}
)") && Batch::add("endless", "endless", R"(
__global__ void endless(tw::global<int> flag) {
  while (flag[0] == 0) {
  }
}
)") && Batch::add("alias", "alias", R"(
__global__ void alias(tw::global<const int> in, tw::global<int> out) { out[threadIdx.x] = in[threadIdx.x]; }
)") && Batch::add("user_lines", "user_lines", R"(
__global__ void user_lines() {
  tw::shared<int> s = tw::shared_at<int>(0, 1, "s");
#line 4001 "model.cpp"
  s[0] = 1;
}
)") && Batch::add("two_readers", "two_readers", R"(
// threads 0 and 1 read; then `writer` writes
__global__ void two_readers(tw::global<int> data, tw::global<int> out, int writer) {
  int t = threadIdx.x;
  if (t < 2) out[t] = data[0];
  if (t == writer) data[0] = 1;
}
)") && Batch::add("late_write", "late_write", R"(
// both blocks read; the later one writes in an interval of its own
__global__ void late_write(tw::global<int> data, tw::global<int> out) {
  out[blockIdx.x] = data[0];
  tw::barrier();
  if (blockIdx.x == 1) data[0] = 1;
}
)") && Batch::add("crossing", "crossing", R"(
struct Four { float v[4]; };
__global__ void crossing() {
  tw::shared<float> s = tw::shared_at<float>(0, 3, "s");
  tw::emu::store(s.view, 0, 4, Four{});
}
)") && Batch::add("tickets", "tickets", R"(
// the threads race for tickets; they run one at a time, so the tickets tell their order
__global__ void tickets(tw::global<int> next, tw::global<int> ticket) {
  for (int round = 0; round < 2; ++round) {
    int mine = next[0];
    next[0] = mine + 1;
    ticket[(blockIdx.x * 2 + round) * 16 + threadIdx.x] = mine;
    tw::barrier();
  }
}
)") && Batch::add("deep", "deep", R"(
// thread 2 alone has a frame of 160,000 bytes, of which it uses the end that is nearest to its caller
__device__ __attribute__((noinline)) void deep_frame(tw::global<int> out, int at) {
  volatile int frame[40000];
  frame[at] = 3;
  out[threadIdx.x] = frame[at];
}
__global__ void deep(tw::global<int> out, int at) {
  if (threadIdx.x == 2) deep_frame(out, at);
}
)") && Batch::add("no_arguments", "no_arguments", "__global__ void no_arguments() {}");

int64_t count(const Report& report, FaultKind kind) {
  int64_t n = 0;
  for (const Fault& f : report.faults) n += f.kind == kind;
  return n;
}

/// A report of exactly `total` faults, all of one kind and about one buffer.
void expect_only(const Report& report, FaultKind kind, const std::string& buffer, int64_t total) {
  EXPECT_EQ(report.total, total);
  ASSERT_FALSE(report.faults.empty());
  for (const Fault& f : report.faults) {
    EXPECT_STREQ(to_string(f.kind), to_string(kind)) << f.text;
    EXPECT_EQ(f.buffer, buffer) << f.text;
  }
}

Report run_vector_add(const char* key, uint64_t seed) {
  std::vector<float> a(128), c(128);
  LaunchOptions options;
  options.seed = seed;
  return launch(Batch::instance()[key], {1}, {128}, 512,
                std::vector{buffer("A", a), buffer("C", c), Argument::i64(128)}, options);
}

TEST(SimtFault, ThreadsThatReadOnlyTheirOwnElementsNeedNoBarrier) {
  EXPECT_EQ(run_vector_add("vector_add-1", 0).total, 0);  // a[127 - (127 - i)] is a[i]
  EXPECT_EQ(run_vector_add("vector_add-1", 9).total, 0);
}

TEST(SimtFault, ReverseWithoutItsBarrierIsReportedUnderEverySeed) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    std::vector<int> a(63), c(63);
    LaunchOptions options;
    options.seed = seed;
    Report report =
        launch(Batch::instance()["reverse-1"], {1}, {63}, 252, std::vector{buffer("A", a), buffer("C", c)}, options);
    // Of each pair of threads the earlier one reads what was never written, and the later one overwrites what was read.
    int64_t races = count(report, FaultKind::read_after_write) + count(report, FaultKind::write_after_read);
    EXPECT_GT(races, 0);
    EXPECT_EQ(races + count(report, FaultKind::uninitialised_read), static_cast<int64_t>(report.faults.size()));
    EXPECT_GE(report.total, 62);
    for (const Fault& f : report.faults) {
      EXPECT_EQ(f.buffer, "s");
      if (f.kind != FaultKind::uninitialised_read) {
        EXPECT_EQ(f.access.thread + f.earlier.thread, 62);
      }
      EXPECT_NE(f.index, 31);  // the middle thread meets only itself
    }
  }
}

TEST(SimtFault, RaceNamesElementThreadsAndLines) {
  std::vector<int> a(4), c(4);
  Report report = launch(Batch::instance()["reverse-1"], {1}, {4}, 16, std::vector{buffer("A", a), buffer("C", c)});
  // Ascending order: threads 0 and 1 read s[3] and s[2] before they are written; 2 and 3 write them, then read s[1],
  // s[0].
  ASSERT_EQ(report.total, 6);
  const Fault& first = report.faults.at(0);
  EXPECT_EQ(first.kind, FaultKind::uninitialised_read);
  EXPECT_EQ(first.index, 3);
  const Fault& war = report.faults.at(2);
  EXPECT_EQ(war.kind, FaultKind::write_after_read);
  EXPECT_EQ(war.index, 2);
  EXPECT_EQ(war.access.thread, 2);
  EXPECT_EQ(war.access.line, 5);
  EXPECT_EQ(war.earlier.thread, 1);
  EXPECT_EQ(war.earlier.line, 7);
  EXPECT_EQ(
      war.text,
      "thread 2 of block 0 writes s[2] (line 5), thread 1 of block 0 read it (line 7) with no barrier between them");
  const Fault& raw = report.faults.at(3);
  EXPECT_EQ(raw.kind, FaultKind::read_after_write);
  EXPECT_EQ(raw.index, 1);
  EXPECT_EQ(
      raw.text,
      "thread 2 of block 0 reads s[1] (line 7), thread 1 of block 0 wrote it (line 5) with no barrier between them");
}

TEST(SimtFault, BlockSumWithoutItsBarrierRacesEvenWhereTheSumIsRight) {
  std::vector<float> a(101, 1.0f), out(1);
  LaunchOptions options;
  for (uint64_t seed : {0, 4}) {
    options.seed = seed;
    Report report = launch(Batch::instance()["block_sum-1"], {1}, {48}, 192,
                           std::vector{buffer("A", a), buffer("out", out), Argument::i32(101)}, options);
    EXPECT_GT(count(report, FaultKind::read_after_write) + count(report, FaultKind::write_after_read), 0);
    for (const Fault& f : report.faults) EXPECT_EQ(f.buffer, "s");
  }
}

TEST(SimtFault, TransposeWithoutItsBarrier) {
  std::vector<uint16_t> a(17 * 33), b(17 * 33);
  Report report = launch(Batch::instance()["transpose-1"], {3, 2}, {16, 4}, 64 + 16 * 17 * 2,
                         std::vector{buffer("A", a), buffer("B", b), Argument::i32(17), Argument::i32(33)});
  EXPECT_GT(report.total, 100);
  for (const Fault& f : report.faults) EXPECT_EQ(f.buffer, "tile");
}

TEST(SimtFault, LoopWithoutItsFirstBarrierReadsTooEarly) {
  std::vector<int> in(64 * 5), out(64);
  Report report = launch(Batch::instance()["row_loop-1"], {1}, {64}, 256,
                         std::vector{buffer("in", in), buffer("out", out), Argument::i32(1)});
  EXPECT_GT(count(report, FaultKind::write_after_read), 0);
  EXPECT_GT(count(report, FaultKind::read_after_write), 0);
}

TEST(SimtFault, LoopWithoutItsSecondBarrierRacesAcrossTheLoopEdgeFromTwoTripsOn) {
  std::vector<int> in(64 * 5), out(64);
  auto run = [&](int steps, uint64_t seed) {
    LaunchOptions options;
    options.seed = seed;
    options.listed_faults = 1000;
    return launch(Batch::instance()["row_loop-2"], {1}, {64}, 256,
                  std::vector{buffer("in", in), buffer("out", out), Argument::i32(steps)}, options);
  };
  EXPECT_EQ(run(0, 0).total, 0);
  EXPECT_EQ(run(1, 0).total, 0);
  for (uint64_t seed : {0, 8}) {
    Report report = run(2, seed);
    EXPECT_GT(report.total, 0);
    for (const Fault& f : report.faults) {
      EXPECT_EQ(f.buffer, "row");
      EXPECT_TRUE(f.kind == FaultKind::write_after_read || f.kind == FaultKind::read_after_write);
      EXPECT_EQ(f.access.thread + f.earlier.thread, 63);
    }
  }
  // In ascending order the lower half reads, then the upper half overwrites what it has read: 32 elements, one edge.
  EXPECT_EQ(count(run(2, 0), FaultKind::write_after_read), 32);
}

struct OneAccess {
  std::vector<int> in = std::vector<int>(10, 3), out = std::vector<int>(10, 4);
  Report run(int64_t read_at, int64_t write_at) {
    return launch(Batch::instance()["one_access"], {1}, {5}, 0,
                  std::vector{buffer("in", in), buffer("out", out), Argument::i64(read_at), Argument::i64(write_at)});
  }
};

TEST(SimtFault, ReadOutsideABufferGivesZeroAndNamesTheElement) {
  for (int64_t at : {int64_t{10}, int64_t{-1}, int64_t{1} << 40, INT64_MIN, INT64_MAX}) {
    OneAccess test;
    Report report = test.run(at, 9);
    expect_only(report, FaultKind::out_of_bounds_read, "in", 1);
    EXPECT_EQ(report.faults.at(0).index, at);
    EXPECT_EQ(report.faults.at(0).access.thread, 3);
    EXPECT_EQ(report.faults.at(0).access.line, 4);
    EXPECT_EQ(test.out[9], 0);
  }
  OneAccess test;
  EXPECT_EQ(test.run(10, 0).faults.at(0).text,
            "thread 3 of block 0 reads in[10] (line 4), 4 bytes, but in holds 10 elements of 4 bytes");
  EXPECT_EQ(test.run(9, 9).total, 0);
}

TEST(SimtFault, WriteOutsideABufferIsDropped) {
  for (int64_t at : {int64_t{10}, int64_t{-1}, int64_t{1} << 62}) {
    OneAccess test;
    Report report = test.run(0, at);
    expect_only(report, FaultKind::out_of_bounds_write, "out", 1);
    EXPECT_EQ(report.faults.at(0).index, at);
    EXPECT_EQ(test.out, std::vector<int>(10, 4));
  }
}

TEST(SimtFault, BufferEndsWhereItsBytesEnd) {
  std::vector<int> in(10), out(10);
  Report report = launch(
      Batch::instance()["one_access"], {1}, {5}, 0,
      std::vector{Argument::buffer("in", in.data(), 38), buffer("out", out), Argument::i64(9), Argument::i64(0)});
  expect_only(report, FaultKind::out_of_bounds_read, "in", 1);  // two of its four bytes lie outside
}

TEST(SimtFault, EmptyBufferHasNoElements) {
  std::vector<int> none, out(10);
  Report report = launch(Batch::instance()["one_access"], {1}, {5}, 0,
                         std::vector{buffer("in", none), buffer("out", out), Argument::i64(0), Argument::i64(0)});
  expect_only(report, FaultKind::out_of_bounds_read, "in", 1);
}

TEST(SimtFault, SharedBufferEndsWhereItIsDeclaredToEndAndWhereTheArenaEnds) {
  Report whole = launch(Batch::instance()["shared_bounds"], {1}, {8}, 64, {});
  expect_only(whole, FaultKind::out_of_bounds_write, "s", 1);
  EXPECT_EQ(whole.faults.at(0).index, 8);
  Report cut = launch(Batch::instance()["shared_bounds"], {1}, {7}, 40, {});
  expect_only(cut, FaultKind::out_of_bounds_write, "u", 5);
  EXPECT_EQ(cut.faults.at(0).index, 2);
}

TEST(SimtFault, UninitialisedSharedReadInEveryBlock) {
  std::vector<int> out(16, 0);
  Report report = launch(Batch::instance()["uninitialised"], {2}, {8}, 48, std::vector{buffer("out", out)});
  expect_only(report, FaultKind::uninitialised_read, "s", 2);  // what block 0 wrote does not count for block 1
  EXPECT_EQ(report.faults.at(0).index, 5);
  EXPECT_EQ(report.faults.at(1).access.block, 1);
  EXPECT_EQ(out[5], -1);  // the poison
  EXPECT_EQ(out[4], 1);
}

TEST(SimtFault, BarrierThatAThreadNeverReachesIsReportedAndEndsTheLaunch) {
  for (bool portable : {false, true}) {
    LaunchOptions options;
    options.portable_fibers = portable;
    Report exits = launch(Batch::instance()["diverge"], {3}, {8}, 0, std::vector{Argument::i32(0)}, options);
    expect_only(exits, FaultKind::barrier_divergence, "", 1);
    EXPECT_TRUE(exits.stopped);
    EXPECT_EQ(exits.faults.at(0).access.thread, 2);
    EXPECT_EQ(exits.faults.at(0).earlier.thread, 0);
    EXPECT_EQ(exits.faults.at(0).earlier.line, 8);
    EXPECT_EQ(
        exits.faults.at(0).text,
        "barrier at line 8: thread 0 of block 0 waits there but thread 2 of block 0 has ended; 7 of 8 threads wait");

    Report elsewhere = launch(Batch::instance()["diverge"], {3}, {8}, 0, std::vector{Argument::i32(1)}, options);
    expect_only(elsewhere, FaultKind::barrier_divergence, "", 1);
    EXPECT_EQ(elsewhere.faults.at(0).access.thread, 6);
    EXPECT_EQ(elsewhere.faults.at(0).access.line, 6);
    EXPECT_EQ(elsewhere.faults.at(0).earlier.line, 8);

    Report counts = launch(Batch::instance()["diverge"], {3}, {8}, 0, std::vector{Argument::i32(2)}, options);
    expect_only(counts, FaultKind::barrier_divergence, "", 1);
    EXPECT_EQ(counts.barriers, 1);

    Report fine = launch(Batch::instance()["diverge"], {3}, {8}, 0, std::vector{Argument::i32(3)}, options);
    EXPECT_EQ(fine.total, 0);
    EXPECT_EQ(fine.barriers, 3);
  }
}

TEST(SimtFault, TwoBlocksThatWriteOneElement) {
  std::vector<int> out(4);
  Report report =
      launch(Batch::instance()["same_element"], {4}, {8}, 0, std::vector{buffer("out", out), Argument::i32(2)});
  expect_only(report, FaultKind::block_conflict, "out", 2);
  EXPECT_EQ(report.faults.at(1).index, 1);
  EXPECT_EQ(report.faults.at(1).access.block, 3);
  EXPECT_EQ(report.faults.at(1).earlier.block, 2);
  EXPECT_EQ(report.faults.at(1).earlier.line, 3);
  EXPECT_EQ(
      launch(Batch::instance()["same_element"], {4}, {8}, 0, std::vector{buffer("out", out), Argument::i32(1)}).total,
      0);
}

TEST(SimtFault, BlockThatReadsWhatAnotherWritesInEitherOrder) {
  for (uint64_t seed : {0, 1, 2}) {
    std::vector<int> data(5), out(5);
    LaunchOptions options;
    options.seed = seed;
    Report report = launch(Batch::instance()["read_others"], {5}, {2}, 0,
                           std::vector{buffer("data", data), buffer("out", out)}, options);
    expect_only(report, FaultKind::block_conflict, "data", 5);  // each element has one reader and one writer
    EXPECT_EQ(launch(Batch::instance()["read_others"], {1}, {2}, 0,
                     std::vector{buffer("data", data), buffer("out", out)}, options)
                  .total,
              0);
  }
}

TEST(SimtFault, VectorAccessAtAnAddressThatIsNoMultipleOfItsBytes) {
  alignas(16) float in[40] = {};
  std::vector<float> out(32, 9.0f);
  Report report = launch(Batch::instance()["misaligned"], {1}, {32}, 0,
                         std::vector{Argument::buffer("in", in, sizeof in), buffer("out", out)});
  expect_only(report, FaultKind::misaligned, "in", 24);
  EXPECT_EQ(report.faults.at(0).index, 1);
  EXPECT_EQ(report.faults.at(0).access.thread, 1);
}

TEST(SimtFault, BufferWhoseStartIsNotAligned) {
  alignas(16) char bytes[64] = {};
  std::vector<float> out(8);
  Report report = launch(Batch::instance()["copy_floats"], {1}, {8}, 0,
                         std::vector{Argument::buffer("in", bytes + 2, 32), buffer("out", out)});
  expect_only(report, FaultKind::misaligned, "in", 8);
}

TEST(SimtFault, RacesAreExactToTheByteWhenTypesAreMixed) {
  for (int at = 0; at < 16; ++at) {
    for (uint64_t seed : {0, 3, 5}) {
      LaunchOptions options;
      options.seed = seed;
      Report report = launch(Batch::instance()["byte_races"], {1}, {2}, 16, std::vector{Argument::i32(at)}, options);
      EXPECT_EQ(report.total, at / 4 == 1 ? 1 : 0) << at;
      if (report.total == 1) {
        EXPECT_EQ(report.faults.at(0).kind, FaultKind::write_after_write);
      }
    }
  }
}

TEST(SimtFault, LoopThatNeverEndsIsStoppedByTheAccessLimit) {
  std::vector<int> flag(1, 0);
  LaunchOptions options;
  options.access_limit = 1000;
  Report report = launch(Batch::instance()["endless"], {2}, {4}, 0, std::vector{buffer("flag", flag)}, options);
  expect_only(report, FaultKind::limit_exceeded, "", 1);
  EXPECT_TRUE(report.stopped);
}

TEST(SimtFault, ArgumentsThatOverlapInMemoryShareTheirHistory) {
  std::vector<int> data(20);
  auto at = [&](int i) { return Argument::buffer(i ? "out" : "in", data.data() + i, 40); };
  EXPECT_EQ(launch(Batch::instance()["alias"], {1}, {10}, 0, std::vector{at(0), at(10)}).total, 0);
  Report report = launch(Batch::instance()["alias"], {1}, {10}, 0, std::vector{at(0), at(1)});
  EXPECT_EQ(report.total, 9);
  EXPECT_EQ(report.faults.at(0).kind, FaultKind::read_after_write);
  EXPECT_EQ(report.faults.at(0).buffer, "in");
  EXPECT_EQ(report.faults.at(0).index, 1);
}

TEST(SimtFault, LineDirectivesGiveTheUsersLines) {
  Report report = launch(Batch::instance()["user_lines"], {1}, {2}, 4, {});
  expect_only(report, FaultKind::write_after_write, "s", 1);
  EXPECT_EQ(report.faults.at(0).access.line, 4001);
  EXPECT_EQ(report.faults.at(0).earlier.line, 4001);
}

TEST(SimtFault, ListIsCappedAndTheTotalIsNot) {
  std::vector<int> a(63), c(63);
  LaunchOptions options;
  options.listed_faults = 3;
  Report report =
      launch(Batch::instance()["reverse-1"], {1}, {63}, 252, std::vector{buffer("A", a), buffer("C", c)}, options);
  EXPECT_EQ(report.faults.size(), 3u);
  EXPECT_GT(report.total, 60);
}

TEST(SimtFault, WriterAmongTheReadersStillConflictsWithTheOtherReader) {
  for (int writer : {0, 1, 2}) {
    std::vector<int> data(1), out(2);
    Report report = launch(Batch::instance()["two_readers"], {1}, {3}, 0,
                           std::vector{buffer("data", data), buffer("out", out), Argument::i32(writer)});
    if (writer == 0) {  // 0 reads and writes, then 1 reads
      expect_only(report, FaultKind::read_after_write, "data", 1);
    } else {
      expect_only(report, FaultKind::write_after_read, "data", 1);
      EXPECT_EQ(report.faults.at(0).earlier.thread, 0);
    }
    for (uint64_t seed = 1; seed < 20; ++seed) {
      LaunchOptions options;
      options.seed = seed;
      Report permuted = launch(Batch::instance()["two_readers"], {1}, {3}, 0,
                               std::vector{buffer("data", data), buffer("out", out), Argument::i32(writer)}, options);
      EXPECT_GE(permuted.total, 1) << seed;
      EXPECT_LE(permuted.total, writer == 2 ? 2 : 1) << seed;  // thread 2 may write before both reads
    }
  }
}

TEST(SimtFault, FirstReaderThatWritesAfterASecondReader) {
  // Interval order: 0 reads, 1 reads, 0 writes. Fibers run to their barrier, so the cells are asked directly.
  char memory[4] = {};
  Region region(memory, 4, false);
  Stamp earlier;
  int64_t where = 0;
  Clock clock{3, 2};
  EXPECT_EQ(region.read(clock, 0, 4, 0, 10, earlier, where), Conflict::none);
  EXPECT_EQ(region.read(clock, 0, 4, 1, 11, earlier, where), Conflict::none);
  EXPECT_EQ(region.write(clock, 0, 4, 0, 12, earlier, where), Conflict::write_after_read);
  EXPECT_EQ(earlier.thread, 1);
}

TEST(SimtFault, BlockThatWritesWhatAnEarlierBlockAndThenItselfHaveRead) {
  std::vector<int> data(1), out(2);
  Report report =
      launch(Batch::instance()["late_write"], {2}, {1}, 0, std::vector{buffer("data", data), buffer("out", out)});
  expect_only(report, FaultKind::block_conflict, "data", 1);
  EXPECT_EQ(report.faults.at(0).access.block, 1);
  EXPECT_EQ(report.faults.at(0).earlier.block, 0);
}

TEST(SimtFault, VectorAccessThatCrossesTheEndOfABuffer) {
  Report report = launch(Batch::instance()["crossing"], {1}, {1}, 64, {});
  expect_only(report, FaultKind::out_of_bounds_write, "s", 1);
}

TEST(SimtOrder, SeedPermutesThreadsInEveryIntervalAndBlocks) {
  auto run = [](uint64_t seed) {
    std::vector<int> next(1), ticket(3 * 2 * 16);
    LaunchOptions options;
    options.seed = seed;
    const Report report = launch(Batch::instance()["tickets"], {3}, {16}, 0,
                                 std::vector{buffer("next", next), buffer("ticket", ticket)}, options);
    for (const Fault& f : report.faults) EXPECT_EQ(f.buffer, "next") << f.text;
    return ticket;
  };
  std::vector<int> ascending = run(0);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(ascending[i], i);
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  std::vector<int> one = run(1);
  auto interval = [&](int k) {
    std::vector<int> order(one.begin() + k * 16, one.begin() + k * 16 + 16);
    int first = *std::min_element(order.begin(), order.end());
    for (int& v : order) v -= first;
    return order;
  };
  EXPECT_NE(interval(0), interval(1));
  EXPECT_TRUE(std::is_permutation(one.begin(), one.end(), ascending.begin()));
  bool blocks_move = false;
  for (uint64_t seed = 1; seed < 10; ++seed) blocks_move |= run(seed)[0] >= 32;
  EXPECT_TRUE(blocks_move);
}

TEST(SimtLimit, StackThatOverflowsHitsItsGuardPageNotANeighbour) {
  std::vector<int> out(4);
  std::vector<Argument> arguments = {buffer("out", out), Argument::i32(39999)};
  LaunchOptions options;
  options.stack_bytes = 256 << 10;
  EXPECT_EQ(launch(Batch::instance()["deep"], {1}, {4}, 0, arguments, options).total, 0);
  EXPECT_EQ(out, (std::vector<int>{0, 0, 3, 0}));
  options.stack_bytes = 128 << 10;
  EXPECT_DEATH(launch(Batch::instance()["deep"], {1}, {4}, 0, arguments, options), "");
}

TEST(SimtReport, CommonFormHasTheSameFaults) {
  std::vector<int> a(4), c(4);
  LaunchOptions options;
  options.listed_faults = 5;
  Report report =
      launch(Batch::instance()["reverse-1"], {1}, {4}, 16, std::vector{buffer("A", a), buffer("C", c)}, options);
  tilewright::Report common = report.common("reverse");
  EXPECT_EQ(common.total, 6);
  ASSERT_EQ(common.faults.size(), 5u);
  const tilewright::Fault& war = common.faults[2];
  EXPECT_EQ(war.kind, "write_after_read");
  EXPECT_EQ(war.kernel, "reverse");
  EXPECT_EQ(war.memory, "s");
  EXPECT_EQ(war.offset, 8);
  EXPECT_EQ(war.bytes, 4);
  EXPECT_EQ(war.actor, "block 0 thread 2");
  EXPECT_EQ(war.other, "block 0 thread 1");
  EXPECT_EQ(war.line, 5u);
  EXPECT_EQ(war.other_line, 7u);
  EXPECT_EQ(war.sentence, report.faults.at(2).text);
  EXPECT_TRUE(launch(Batch::instance()["no_arguments"], {1}, {4}, 0, {}).common("k").clean());
}

TEST(SimtLimit, ThreadsGridAndSharedMemory) {
  auto sentence = [](Dim3 grid, Dim3 block, int64_t bytes) {
    Report report = launch(Batch::instance()["no_arguments"], grid, block, bytes, {});
    if (report.total == 0) return std::string();
    EXPECT_EQ(report.faults.at(0).kind, FaultKind::limit_exceeded);
    EXPECT_TRUE(report.stopped);
    return report.faults.at(0).text;
  };
  EXPECT_EQ(sentence({1}, {1024}, 232448), "");
  EXPECT_EQ(sentence({1}, {1, 1024}, 0), "");
  EXPECT_EQ(sentence({1, 65535}, {1}, 0), "");
  EXPECT_EQ(sentence({1}, {1025}, 0),
            "no_arguments: a block of 1025 x 1 x 1 threads; a block has at least 1 and at most 1024 threads, at most "
            "64 in z");
  EXPECT_NE(sentence({1}, {33, 32}, 0), "");
  EXPECT_NE(sentence({1}, {1, 1, 65}, 0), "");
  EXPECT_NE(sentence({1}, {0}, 0), "");
  EXPECT_EQ(sentence({1, 65536}, {1}, 0),
            "no_arguments: a grid of 1 x 65536 x 1 blocks; at least 1, at most 2147483647 in x and 65535 in y and z");
  EXPECT_NE(sentence({0}, {1}, 0), "");
  EXPECT_EQ(sentence({1}, {1}, 232449), "no_arguments: 232449 bytes of shared memory; a block has at most 232448");
}

}  // namespace
}  // namespace tilewright::simt
