// Copies against the documented formulas, for random parameters and all element types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "texts.h"

namespace tilewright::engine {
namespace {

constexpr int kUbBytes = 32768, kGmBytes = 65536;
constexpr uint8_t kBefore = 0x5a;  // what the destination holds before the copy

// Loads GM a with DataCopyPad into UB bytes [0, 32768) that hold 0x5a, then brings those bytes to GM b.
constexpr std::string_view kIn = R"(
extern "C" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, int32_t count, uint32_t length, uint32_t src,
                                             uint32_t dst, bool pad, uint8_t left, uint8_t right, uint64_t value) {
  using namespace AscendC;
  using T = TYPE;
  GlobalTensor<T> A; A.SetGlobalBuffer((__gm__ T*)a);
  GlobalTensor<uint8_t> B; B.SetGlobalBuffer((__gm__ uint8_t*)b);
  LocalTensor<T> x(TPosition::VECIN, 0, 32768 / sizeof(T));
  LocalTensor<int32_t> all(TPosition::VECIN, 0, 8192);
  Duplicate(all, 0x5a5a5a5a, 8192);
  PipeBarrier<PIPE_ALL>();
  T v;
  __builtin_memcpy(&v, &value, sizeof(T));
  DataCopyPad(x, A, DataCopyExtParams(count, length, src, dst, 0), DataCopyPadExtParams<T>(pad, left, right, v));
  PipeBarrier<PIPE_ALL>();
  DataCopy(B, x.ReinterpretCast<uint8_t>(), 32768);
}
)";

// Stores UB, which holds the first 32768 bytes of GM a, to GM b with DataCopyPad.
constexpr std::string_view kOut = R"(
extern "C" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, int32_t count, uint32_t length, uint32_t src,
                                             uint32_t dst) {
  using namespace AscendC;
  using T = TYPE;
  GlobalTensor<T> A, B; A.SetGlobalBuffer((__gm__ T*)a); B.SetGlobalBuffer((__gm__ T*)b);
  LocalTensor<T> x(TPosition::VECOUT, 0, 32768 / sizeof(T));
  DataCopy(x, A, 32768 / sizeof(T));
  PipeBarrier<PIPE_ALL>();
  DataCopyPad(B, x, DataCopyExtParams(count, length, src, dst, 0));
}
)";

// DataCopy with DataCopyParams, all three ways: a -> UB [0, 32768), UB -> UB [32768, 65536), UB -> b.
constexpr std::string_view kPlain = R"(
extern "C" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b, uint16_t count, uint16_t length, uint16_t gap1,
                                             uint16_t gap2, uint16_t gap3, uint16_t gap4) {
  using namespace AscendC;
  GlobalTensor<half> A, B; A.SetGlobalBuffer((__gm__ half*)a); B.SetGlobalBuffer((__gm__ half*)b);
  LocalTensor<half> x(TPosition::VECIN, 0, 16384), y(TPosition::VECOUT, 32768, 16384);
  DataCopy(x, A, DataCopyParams(count, length, gap1, gap2));
  PipeBarrier<PIPE_ALL>();
  DataCopy(y, x, DataCopyParams(count, length, gap2, gap3));
  PipeBarrier<PIPE_ALL>();
  DataCopy(B, y, DataCopyParams(count, length, gap3, gap4));
}
)";

struct ElementType {
  const char* name;
  int size;
};
const ElementType kTypes[] = {{"int8_t", 1},   {"uint8_t", 1},  {"half", 2},     {"bfloat16_t", 2},
                              {"int16_t", 2},  {"uint16_t", 2}, {"float", 4},    {"int32_t", 4},
                              {"uint32_t", 4}, {"int64_t", 8},  {"uint64_t", 8}, {"double", 8}};

Text of_type(std::string_view text, const char* prefix, const ElementType& t) {
  Text out = named(text, std::string(prefix) + t.name);
  out.source.replace(out.source.find("TYPE"), 4, t.name);
  return out;
}

std::vector<uint8_t> random_bytes(std::mt19937& rng, size_t n) {
  std::vector<uint8_t> v(n);
  for (uint8_t& b : v) b = static_cast<uint8_t>(rng());
  return v;
}

int64_t round32(int64_t n) { return (n + 31) / 32 * 32; }

bool only_uninitialised(const Report& r) {
  return std::all_of(r.faults.begin(), r.faults.end(), [](const Fault& f) { return f.kind == "uninitialised"; });
}

TEST(EngineCopy, DataCopyPadIntoLocalMemoryFollowsItsFormula) {
  std::vector<Text> batch;
  for (const ElementType& t : kTypes) batch.push_back(of_type(kIn, "in_", t));
  const Program p = Program::compile(batch);
  std::mt19937 rng(7);
  auto draw = [&](int64_t below) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(below)); };
  int padded = 0, ragged = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const ElementType& t = kTypes[draw(std::size(kTypes))];
    const int64_t length = t.size * (1 + draw(trial % 3 ? 40 : 600)), count = 1 + draw(trial % 5 ? 8 : 40);
    const int64_t src_gap = t.size * draw(20), dst_gap = draw(5);
    const bool pad = draw(2);
    const int64_t left = draw(3) ? 0 : draw(32 / t.size + 1), right = draw(2) ? 0 : draw(32 / t.size + 1);
    uint64_t value = t.size == 8 ? 0 : 0x1122334455667788u >> (8 * draw(4)) | 1;
    const int64_t row = round32(left * t.size + length + right * t.size);
    if (count * (row + 32 * dst_gap) > kUbBytes || count * (length + src_gap) > kGmBytes) continue;
    std::vector<uint8_t> a = random_bytes(rng, kGmBytes), b(kUbBytes);
    const Report r =
        p.launch(std::string("in_") + t.name, 1,
                 {Argument::global(a.data(), kGmBytes), Argument::global(b.data(), kUbBytes),
                  Argument::scalar(static_cast<int32_t>(count)), Argument::scalar(static_cast<uint32_t>(length)),
                  Argument::scalar(static_cast<uint32_t>(src_gap)), Argument::scalar(static_cast<uint32_t>(dst_gap)),
                  Argument::scalar(pad), Argument::scalar(static_cast<uint8_t>(left)),
                  Argument::scalar(static_cast<uint8_t>(right)), Argument::scalar(value)},
                 {trial % 2 == 1, static_cast<uint64_t>(trial)});
    // The formula, byte by byte; -1: any value.
    std::vector<int> want(kUbBytes, kBefore);
    bool holes = false;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = k * (row + 32 * dst_gap);
      for (int64_t i = 0; i < row; ++i) {
        const int64_t from = i - left * t.size;
        if (from >= 0 && from < length) {
          want[at + i] = a[k * (length + src_gap) + from];
        } else if (pad && (left || right)) {
          want[at + i] = static_cast<int>(value >> (8 * (i % t.size)) & 0xff);
          ++padded;
        } else {
          want[at + i] = -1;
          holes = true, ++ragged;
        }
      }
    }
    for (int i = 0; i < kUbBytes; ++i) {
      ASSERT_TRUE(want[i] < 0 || want[i] == b[i])
          << "byte " << i << " of " << t.name << ' ' << count << " x " << length;
    }
    EXPECT_TRUE(only_uninitialised(r)) << r.to_string();
    EXPECT_EQ(r.clean(), !holes) << r.to_string();
  }
  EXPECT_GT(padded, 1000);
  EXPECT_GT(ragged, 1000);
}

TEST(EngineCopy, DataCopyPadOutOfLocalMemoryFollowsItsFormula) {
  std::vector<Text> batch;
  for (const ElementType& t : kTypes) batch.push_back(of_type(kOut, "out_", t));
  const Program p = Program::compile(batch);
  std::mt19937 rng(11);
  auto draw = [&](int64_t below) { return static_cast<int64_t>(rng() % static_cast<uint64_t>(below)); };
  int trials = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const ElementType& t = kTypes[draw(std::size(kTypes))];
    const int64_t length = t.size * (1 + draw(trial % 3 ? 40 : 600)), count = 1 + draw(trial % 5 ? 8 : 60);
    const int64_t src_gap = draw(5), dst_gap = t.size * draw(20), row = round32(length);
    if (count * (row + 32 * src_gap) > kUbBytes || count * (length + dst_gap) > kGmBytes) continue;
    ++trials;
    std::vector<uint8_t> a = random_bytes(rng, kUbBytes), b(kGmBytes, kBefore), want = b;
    const Report r =
        p.launch(std::string("out_") + t.name, 1,
                 {Argument::global(a.data(), kUbBytes), Argument::global(b.data(), kGmBytes),
                  Argument::scalar(static_cast<int32_t>(count)), Argument::scalar(static_cast<uint32_t>(length)),
                  Argument::scalar(static_cast<uint32_t>(src_gap)), Argument::scalar(static_cast<uint32_t>(dst_gap))});
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t i = 0; i < length; ++i) want[k * (length + dst_gap) + i] = a[k * (row + 32 * src_gap) + i];
    }
    ASSERT_EQ(b, want) << t.name << ' ' << count << " x " << length;
    EXPECT_TRUE(r.clean()) << r.to_string();
  }
  EXPECT_GT(trials, 200);
}

TEST(EngineCopy, DataCopyWithGapsCountsIn32ByteUnitsOnBothSides) {
  const Program p = Program::compile({named(kPlain, "plain")});
  std::mt19937 rng(3);
  int trials = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const uint16_t count = 1 + rng() % 9, length = 1 + rng() % 20, g1 = rng() % 4, g2 = rng() % 4, g3 = rng() % 4,
                   g4 = rng() % 4;
    std::vector<uint8_t> a = random_bytes(rng, kUbBytes), b(kUbBytes, kBefore), want = b;
    const Report r = p.launch("plain", 1,
                              {Argument::global(a.data(), kUbBytes), Argument::global(b.data(), kUbBytes),
                               Argument::scalar(count), Argument::scalar(length), Argument::scalar(g1),
                               Argument::scalar(g2), Argument::scalar(g3), Argument::scalar(g4)});
    for (int k = 0; k < count; ++k) {
      std::memcpy(&want[static_cast<size_t>(32 * k * (length + g4))], &a[static_cast<size_t>(32 * k * (length + g1))],
                  32 * length);
    }
    ASSERT_EQ(b, want);
    EXPECT_TRUE(r.clean()) << r.to_string();
    ++trials;
  }
  EXPECT_EQ(trials, 200);
}

TEST(EngineCopy, DataCopyRoundsItsSizeDown) {
  const Program p =
      Program::compile({named("extern \"C\" __global__ __vector__ void KERNEL(GM_ADDR a, GM_ADDR b) { using namespace "
                              "AscendC; GlobalTensor<float> A, B;"
                              "A.SetGlobalBuffer((__gm__ float*)a); B.SetGlobalBuffer((__gm__ float*)b); "
                              "LocalTensor<float> x(TPosition::VECIN, 0, 64);"
                              "DataCopy(x, A, 8); PipeBarrier<PIPE_ALL>(); DataCopy(B, x, 15); }",
                              "down")});
  std::vector<float> a(16, 1.0f), b(16, 9.0f);
  const Report r = p.launch("down", 1, {Argument::global(a.data(), 64), Argument::global(b.data(), 64)});
  EXPECT_TRUE(r.has("copy-size"));
  EXPECT_EQ(b[7], 1.0f);
  EXPECT_EQ(b[8], 9.0f);
}

}  // namespace
}  // namespace tilewright::engine
