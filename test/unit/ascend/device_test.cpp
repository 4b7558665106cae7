// The engine emulator as a machine: results, and what it says of wrong programs.
#include <gtest/gtest.h>

#include <numeric>

#include "target/ascend/emulator_device.h"
#include "tilewright/jit.h"
#include "unit/ascend/texts.h"

namespace tilewright::ascend {
namespace {

std::vector<float> counted(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

Tensor on(std::vector<float>& data, std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
  return {data.data(), f32, std::move(shape), std::move(strides)};
}

/// y = 2 x, (M, N) in tiles of (3, 13): rows of odd length, tails on both axes.
Kernel doubling(uint64_t seed = 0) {
  return compile(
      "doubling",
      [](Buffer x, Buffer y) {
        auto [M, N] = x.shape<2>();
        for (auto [bn, bm] : grid(ceildiv(N, 13), ceildiv(M, 3))) {
          auto t = shared(f32, {3, 13});
          copy(x[{bm * 3, bn * 13}], t);
          for (auto [i, j] : parallel(3, 13)) t(i, j) *= 2;
          copy(t, y[{bm * 3, bn * 13}]);
        }
      },
      signature(tensor("x", f32, {"M", "N"}).strides({"p", 1}), tensor("y", f32, {"M", "N"}).strides({"q", 1})),
      "ascend-emulator", {.seed = seed});
}

TEST(AscendDevice, RowsOfOddLengthWithTailsAndPitches) {
  for (uint64_t seed : {0, 1, 2}) {
    Kernel k = doubling(seed);
    for (int64_t m : {1, 3, 4, 10})
      for (int64_t n : {1, 12, 13, 14, 40}) {
        const int64_t p = n + 3, q = n + 1;
        std::vector<float> x = counted(m * p), y(static_cast<size_t>(m * q), -1.0f);
        k(on(x, {m, n}, {p, 1}), on(y, {m, n}, {q, 1}));
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < q; ++j)
            ASSERT_EQ(y[static_cast<size_t>(i * q + j)], j < n ? 2 * x[static_cast<size_t>(i * p + j)] : -1.0f)
                << m << " " << n << " (" << i << ", " << j << ")";
      }
  }
}

TEST(AscendDevice, AColumnIsMovedElementByElement) {
  Kernel k = compile(
      "column",
      [](Buffer x, Buffer y) {
        for (Var b : grid(1)) {
          auto t = shared(f32, {5, 1});
          copy(x.tile({b, 2}, {5, 1}), t);
          for (Var i : parallel(5)) t(i, 0) += 0.5f;
          copy(t, y.tile({b, 1}, {5, 1}));
        }
      },
      signature(tensor("x", f32, {5, 4}).contiguous(), tensor("y", f32, {5, 2}).contiguous()), "ascend-emulator");
  std::vector<float> x = counted(20), y(10, -1.0f);
  k(on(x, {5, 4}), on(y, {5, 2}));
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(y[2 * i], -1.0f);
    EXPECT_EQ(y[2 * i + 1], x[4 * i + 2] + 0.5f);
  }
}

TEST(AscendDevice, APhaseSeesTheWritesOfTheOneBefore) {
  Kernel k = compile(
      "phases",
      [](Buffer x, Buffer y) {
        for (int phase = 0; phase < 2; ++phase)
          for (Var b : grid(4)) {
            auto t = shared(f32, {8});
            if (phase == 0)
              copy(x[{b * 8}], t);
            else
              copy(y[{24 - b * 8}], t);  // another core's
            for (Var i : parallel(8)) t(i) += 1;
            copy(t, phase == 0 ? y[{b * 8}] : x[{b * 8}]);
          }
      },
      signature(tensor("x", f32, {32}).contiguous(), tensor("y", f32, {32}).contiguous()), "ascend-emulator");
  std::vector<float> x = counted(32), y(32, -1.0f);
  const std::vector<float> before = x;
  k(on(x, {32}), on(y, {32}));
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(x[i], before[(3 - i / 8) * 8 + i % 8] + 2);
}

TEST(AscendDevice, ControlFlowReadsTiles) {
  Kernel k = compile(
      "control",
      [](Buffer x, Buffer y) {
        for (Var b : grid(2)) {
          auto t = shared(f32, {8});
          auto rounds = shared(i64, {4});
          copy(x[{b * 8}], t);
          for (Var i : parallel(4)) rounds(i) = 3;
          auto first = let(t(0));
          for (Var r : serial(rounds(0))) {  // the number of rounds is read once
            (void)r;
            for (Var i : parallel(8)) t(i) += first;
            for (Var i : parallel(4)) rounds(i) = 1;
            when(t(0) > 20, [&] { copy(x[{b * 8}], t); });
          }
          copy(t, y[{b * 8}]);
        }
      },
      signature(tensor("x", f32, {16}).contiguous(), tensor("y", f32, {16}).contiguous()), "ascend-emulator");
  std::vector<float> x = counted(16), y(16, -1.0f);
  k(on(x, {16}), on(y, {16}));
  for (int block = 0; block < 2; ++block) {
    std::vector<float> t(x.begin() + 8 * block, x.begin() + 8 * block + 8);
    const std::vector<float> original = t;
    for (int round = 0; round < 3; ++round) {
      for (float& v : t) v += original[0];
      if (t[0] > 20) t = original;
    }
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(y[static_cast<size_t>(8 * block) + i], t[i]);
  }
}

TEST(AscendDevice, AConvertingCopyReadsOnlyWhatItStores) {
  Kernel k = compile(
      "converting",
      [](Buffer x, Buffer y) {
        auto [N] = x.shape<1>();
        for (Var b : grid(1)) {
          auto t = shared(f32, {16});
          for (Var i : parallel(16)) when(i < N, [&] { t(i) = cast(f32, i) + 0.5f; });
          copy(t, x[{b}]);  // to f16
          copy(x[{b}], t, 7);
          copy(t, y[{b}]);
        }
      },
      signature(tensor("x", f16, {"N"}).contiguous(), tensor("y", f32, {16}).contiguous()), "ascend-emulator");
  std::vector<uint16_t> x(5);
  std::vector<float> y(16);
  k(Tensor{x.data(), f16, {5}, {}}, on(y, {16}));
  EXPECT_EQ(x[4], 0x4480);  // 4.5
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], i < 5 ? static_cast<float>(i) + 0.5f : 7.0f);
}

TEST(AscendDevice, ATileThatNothingWroteIsReportedAtTheLineThatReadsIt) {
  unsigned line = 0;
  Kernel k = compile(
      "unwritten",
      [&](Buffer x) {
        for (Var b : grid(1)) {
          auto t = shared(f32, {8}), u = shared(f32, {8});
          line = __LINE__ + 1;
          for (Var i : parallel(8)) u(i) = t(i) + 1;
          copy(u, x[{b}]);
        }
      },
      signature(tensor("x", f32, {8}).contiguous()), "ascend-emulator");
  std::vector<float> x(8);
  try {
    k(on(x, {8}));
    FAIL() << "nothing reported";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(),
              "unwritten: uninitialised: GetValue needs byte 0 of UB, which has no value (never written, or padding "
              "without a value)");
    EXPECT_EQ(e.location().line, line);
  }
}

TEST(AscendDevice, BlocksThatWriteTheSameElementsAreReported) {
  unsigned line = 0;
  Kernel k = compile(
      "collision",
      [&](Buffer x) {
        for (Var b : grid(2)) {
          auto t = shared(f32, {8});
          fill(t, 1);
          line = __LINE__ + 1;
          copy(t, x[{b * 4}]);
        }
      },
      signature(tensor("x", f32, {12}).contiguous()), "ascend-emulator");
  std::vector<float> x(12);
  try {
    k(on(x, {12}));
    FAIL() << "nothing reported";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(),
              "collision: cross-core: core 1 writes bytes [16, 32) of x, which core 0 touched in the same "
              "launch");
    EXPECT_EQ(e.location().line, line);
  }
}

TEST(AscendDevice, AFaultOfTheTextIsOursAtTheUsersLine) {
  unsigned line = 0;
  Artifact a = emitted("broken", signature(tensor("x", f32, {8}).contiguous()), [&](Buffer x) {
    for (Var b : grid(1)) {
      auto t = shared(f32, {8});
      copy(x[{b}], t);
      line = __LINE__ + 1;
      for (Var i : parallel(8)) t(i) += 1;
      copy(t, x[{b}]);
    }
  });
  for (const char* half :
       {"AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);", "AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);"})
    a.text.erase(a.text.find(half), std::string(half).size());
  std::unique_ptr<LoadedKernel> k = EmulatorDevice(0).load(a);
  std::vector<float> x = counted(8);
  try {
    k->launch(std::vector<Argument>{on(x, {8})}, {});
    FAIL() << "nothing reported";
  } catch (const InternalError& e) {
    EXPECT_TRUE(
        e.message().starts_with("broken: raw: GetValue on S reads bytes [0, 4) of UB, written by MTE2 at line "))
        << e.message();
    EXPECT_EQ(e.location().line, line);
  }
}

TEST(AscendDevice, ATextThatDoesNotCompileIsNoOthersFault) {
  Artifact a = emitted("fine", signature(tensor("x", f32, {8}).contiguous()), [&](Buffer x) {
    for (Var b : grid(1)) {
      auto t = shared(f32, {8});
      fill(t, 3);
      copy(t, x[{b}]);
    }
  });
  Artifact broken = a;
  broken.text += "nonsense\n";
  EmulatorDevice device(0);
  std::unique_ptr<LoadedKernel> bad = device.load(broken), good = device.load(a);
  std::vector<float> x(8);
  good->launch(std::vector<Argument>{on(x, {8})}, {});
  EXPECT_EQ(x[7], 3);
  EXPECT_THROW(bad->launch(std::vector<Argument>{on(x, {8})}, {}), DeviceError);
  a.language = "CUDA C++";
  EXPECT_THROW(device.load(a), DeviceError);
}

}  // namespace
}  // namespace tilewright::ascend
