// The generated texts, whole.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/golden.h"
#include "unit/ascend/texts.h"

namespace tilewright::ascend {
namespace {

TEST(AscendText, VectorAddIsACompleteText) {
  const Artifact a = emitted("vector_add", vector_add_signature(f32),
                             [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {.n = 128}); });
  EXPECT_EQ(a.language, "Ascend C");
  EXPECT_EQ(a.arch, "2201");
  EXPECT_GOLDEN(a.text, R"(
    #include "kernel_operator.h"

    namespace tw {
    __aicore__ inline uint32_t bits_of(float a) {
      union { float value; uint32_t bits; } both;
      both.value = a;
      return both.bits;
    }
    template <class A>
    __aicore__ inline A neg(A a) {
      return static_cast<A>(0 - static_cast<uint64_t>(a));
    }
    template <class A, class B>
    __aicore__ inline auto truncdiv(A a, B b) {
      return b == 0 ? 0 : b == static_cast<B>(-1) && b < 0 ? tw::neg(a) : a / b;
    }
    template <class A, class B>
    __aicore__ inline auto truncmod(A a, B b) {
      return b == 0 || (b == static_cast<B>(-1) && b < 0) ? 0 : a % b;
    }
    template <class A, class B>
    __aicore__ inline auto floormod(A a, B b) {
      const auto rest = tw::truncmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    template <class A, class B>
    __aicore__ inline auto ceildiv(A a, B b) {
      const auto rest = tw::truncmod(a, b);
      return tw::truncdiv(a, b) + (rest != 0 && (rest < 0) == (b < 0) ? 1 : 0);
    }
    template <class A, class B>
    __aicore__ inline auto min(A a, B b) {
      return b < a ? b : a;
    }
    __aicore__ inline float min(float a, float b) {
      if (a != a) return b;
      if (b != b) return a;
      return a == b ? (tw::bits_of(a) >> 31 ? a : b) : a < b ? a : b;
    }
    }  // namespace tw

    extern "C" __global__ __vector__ void vector_add(GM_ADDR x_, GM_ADDR y_, GM_ADDR z_, int64_t N) {
      AscendC::InitSocState();
      AscendC::GlobalTensor<float> x;
      x.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x_));
      AscendC::GlobalTensor<float> y;
      y.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y_));
      AscendC::GlobalTensor<float> z;
      z.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(z_));
      const int64_t core = AscendC::GetBlockIdx();
      AscendC::LocalTensor<float> shared0(AscendC::TPosition::VECIN, 0, 128);
      AscendC::LocalTensor<float> shared1(AscendC::TPosition::VECIN, 512, 128);
      AscendC::LocalTensor<float> shared2(AscendC::TPosition::VECIN, 1024, 128);
      const int64_t v0 = tw::ceildiv(N, 128LL);
      for (int64_t round = 0; round < tw::ceildiv(v0 - core, tw::min(v0, 2LL)); ++round) {
        const int64_t block = round * tw::min(tw::ceildiv(N, 128LL), 2LL) + core;
        const int64_t high = tw::min(128LL, N - block * 128);
        if (high != 128) {
          for (int64_t i_1 = 0; i_1 < 128; ++i_1) {
            shared0.SetValue(i_1, 0.0f);
          }
        }
        if (0 < high) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::DataCopyPad(shared0[0], x[block * 128],
                               AscendC::DataCopyExtParams{1, uint32_t(high * 4), 0, 0, 0},
                               AscendC::DataCopyPadExtParams<float>{true, 0, uint8_t(tw::floormod(0 - high, 8LL)), 0.0f});
        }
        const int64_t high_1 = tw::min(128LL, N - block * 128);
        if (high_1 != 128) {
          for (int64_t i_2 = 0; i_2 < 128; ++i_2) {
            shared1.SetValue(i_2, 0.0f);
          }
        }
        if (0 < high_1) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(1);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(1);
          AscendC::DataCopyPad(shared1[0], y[block * 128],
                               AscendC::DataCopyExtParams{1, uint32_t(high_1 * 4), 0, 0, 0},
                               AscendC::DataCopyPadExtParams<float>{true, 0, uint8_t(tw::floormod(0 - high_1, 8LL)), 0.0f});
        }
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(0);
        for (int64_t i = 0; i < 128; ++i) {
          shared2.SetValue(i, shared0.GetValue(i) + shared1.GetValue(i));
        }
        const int64_t high_2 = tw::min(128LL, N - block * 128);
        if (0 < high_2) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(0);
          AscendC::DataCopyPad(z[block * 128], shared2[0], AscendC::DataCopyExtParams{1, uint32_t(high_2 * 4), 0, 0, 0});
        }
      }
    }
  )");
}

TEST(AscendText, AFrontThatTheTensorLacksIsPaddedFromTheLeft) {
  const Artifact a =
      emitted("reverse", reverse_signature(f16), [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 128}); });
  EXPECT_GOLDEN(kernels_of(a), R"(
    extern "C" __global__ __vector__ void reverse(GM_ADDR x_, GM_ADDR y_, int64_t N) {
      AscendC::InitSocState();
      AscendC::GlobalTensor<half> x;
      x.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(x_));
      AscendC::GlobalTensor<half> y;
      y.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(y_));
      const int64_t core = AscendC::GetBlockIdx();
      AscendC::LocalTensor<half> shared0(AscendC::TPosition::VECIN, 0, 128);
      AscendC::LocalTensor<half> shared1(AscendC::TPosition::VECIN, 256, 128);
      const int64_t v0 = tw::ceildiv(N, 128LL);
      for (int64_t round = 0; round < tw::ceildiv(v0 - core, tw::min(v0, 2LL)); ++round) {
        const int64_t block = round * tw::min(tw::ceildiv(N, 128LL), 2LL) + core;
        const int64_t low = tw::max(0LL, block * 128 - N + 128);
        if (low != 0) {
          for (int64_t i_1 = 0; i_1 < 128; ++i_1) {
            shared0.SetValue(i_1, static_cast<half>(0.0f));
          }
        }
        if (low < 128) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::DataCopyPad(shared0[low - low % 16], x[N - (block + 1) * 128 + low],
                               AscendC::DataCopyExtParams{1, uint32_t((128 - low) * 2), 0, 0, 0},
                               AscendC::DataCopyPadExtParams<half>{true, uint8_t(low % 16), uint8_t(tw::floormod(0 - (low % 16 + (128 - low)), 16LL)), static_cast<half>(0.0f)});
        }
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(0);
        for (int64_t i = 0; i < 128; ++i) {
          shared1.SetValue(i, shared0.GetValue(127 - i));
        }
        const int64_t high_1 = tw::min(128LL, N - block * 128);
        if (0 < high_1) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(0);
          AscendC::DataCopyPad(y[block * 128], shared1[0], AscendC::DataCopyExtParams{1, uint32_t(high_1 * 2), 0, 0, 0});
        }
      }
    }
  )");
}

TEST(AscendText, RowsOfATileBeginAtUnits) {
  const Artifact a =
      emitted("rows", signature(tensor("x", bf16, {"M", 50}).contiguous(), tensor("y", bf16, {"M", 50}).contiguous()),
              [](Buffer x, Buffer y) {
                for (Var b : grid(ceildiv(x.extent(0), 3))) {
                  auto t = shared(bf16, {3, 50});
                  copy(x[{b * 3, 0}], t);
                  for (auto [i, j] : parallel(3, 50)) t(i, j) = t(i, j) * 2;
                  copy(t, y[{b * 3, 0}]);
                }
              });
  EXPECT_GOLDEN(kernels_of(a), R"(
    extern "C" __global__ __vector__ void rows(GM_ADDR x_, GM_ADDR y_, int64_t M) {
      AscendC::InitSocState();
      AscendC::GlobalTensor<bfloat16_t> x;
      x.SetGlobalBuffer(reinterpret_cast<__gm__ bfloat16_t*>(x_));
      AscendC::GlobalTensor<bfloat16_t> y;
      y.SetGlobalBuffer(reinterpret_cast<__gm__ bfloat16_t*>(y_));
      const int64_t core = AscendC::GetBlockIdx();
      AscendC::LocalTensor<bfloat16_t> shared0(AscendC::TPosition::VECIN, 0, 192);
      const int64_t v0 = tw::ceildiv(M, 3LL);
      for (int64_t round = 0; round < tw::ceildiv(v0 - core, tw::min(v0, 2LL)); ++round) {
        const int64_t block = round * tw::min(tw::ceildiv(M, 3LL), 2LL) + core;
        const int64_t high = tw::min(3LL, M - block * 3);
        if (high != 3) {
          AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(0);
          AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(0);
          for (int64_t i_1 = 0; i_1 < 3; ++i_1) {
            for (int64_t j_1 = 0; j_1 < 50; ++j_1) {
              shared0.SetValue(i_1 * 64 + j_1, AscendC::ToBfloat16(0.0f));
            }
          }
        }
        if (0 < high) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(0);
          AscendC::SetFlag<AscendC::HardEvent::MTE3_MTE2>(0);
          AscendC::WaitFlag<AscendC::HardEvent::MTE3_MTE2>(0);
          for (int64_t row0_ = 0; row0_ < high; ++row0_) {
            AscendC::DataCopyPad(shared0[row0_ * 64], x[(block * 3 + row0_) * 50],
                                 AscendC::DataCopyExtParams{1, 100, 0, 0, 0},
                                 AscendC::DataCopyPadExtParams<bfloat16_t>{true, 0, 14, AscendC::ToBfloat16(0.0f)});
          }
        }
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);
        AscendC::SetFlag<AscendC::HardEvent::MTE3_S>(1);
        AscendC::WaitFlag<AscendC::HardEvent::MTE3_S>(1);
        for (int64_t i = 0; i < 3; ++i) {
          for (int64_t j = 0; j < 50; ++j) {
            shared0.SetValue(i * 64 + j, AscendC::ToBfloat16(AscendC::ToFloat(shared0.GetValue(i * 64 + j)) * 2.0f));
          }
        }
        const int64_t high_1 = tw::min(3LL, M - block * 3);
        if (0 < high_1) {
          AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(0);
          AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(0);
          for (int64_t row0_ = 0; row0_ < high_1; ++row0_) {
            AscendC::DataCopyPad(y[(block * 3 + row0_) * 50], shared0[row0_ * 64], AscendC::DataCopyExtParams{1, 100, 0, 0, 0});
          }
        }
      }
    }
  )");
}

TEST(AscendText, EachPhaseIsAFunctionAndWordsOfTheLanguageAreNoNames) {
  const Artifact a =
      emitted("template", signature(tensor("int", i32, {64}).contiguous(), scalar("v0", i32)), [](Buffer x, Expr v) {
        for (int phase = 0; phase < 2; ++phase)
          for (Var b : grid(1)) {
            auto t = shared(i32, {64});
            copy(x[{b}], t);
            for (Var i : parallel(64)) t(i) += v;
            copy(t, x[{b}]);
          }
      });
  ASSERT_EQ(a.plan.phases.size(), 2u);
  EXPECT_EQ(a.plan.phases[1].entry, "template_1");
  EXPECT_GOLDEN(kernels_of(a), R"(
    extern "C" __global__ __vector__ void template_0(GM_ADDR int_1_, int32_t v0_1) {
      AscendC::InitSocState();
      AscendC::GlobalTensor<int32_t> int_1;
      int_1.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(int_1_));
      const int64_t core = AscendC::GetBlockIdx();
      AscendC::LocalTensor<int32_t> shared0(AscendC::TPosition::VECIN, 0, 64);
      AscendC::DataCopyPad(shared0[0], int_1[0],
                           AscendC::DataCopyExtParams{1, 256, 0, 0, 0},
                           AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
      AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);
      for (int64_t i = 0; i < 64; ++i) {
        shared0.SetValue(i, tw::add(shared0.GetValue(i), v0_1));
      }
      AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(0);
      AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(0);
      AscendC::DataCopyPad(int_1[0], shared0[0], AscendC::DataCopyExtParams{1, 256, 0, 0, 0});
    }

    extern "C" __global__ __vector__ void template_1(GM_ADDR int_1_, int32_t v0_1) {
      AscendC::InitSocState();
      AscendC::GlobalTensor<int32_t> int_1;
      int_1.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(int_1_));
      const int64_t core_1 = AscendC::GetBlockIdx();
      AscendC::LocalTensor<int32_t> shared1(AscendC::TPosition::VECIN, 0, 64);
      AscendC::DataCopyPad(shared1[0], int_1[0],
                           AscendC::DataCopyExtParams{1, 256, 0, 0, 0},
                           AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
      AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(0);
      AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(0);
      for (int64_t i_1 = 0; i_1 < 64; ++i_1) {
        shared1.SetValue(i_1, tw::add(shared1.GetValue(i_1), v0_1));
      }
      AscendC::SetFlag<AscendC::HardEvent::S_MTE3>(0);
      AscendC::WaitFlag<AscendC::HardEvent::S_MTE3>(0);
      AscendC::DataCopyPad(int_1[0], shared1[0], AscendC::DataCopyExtParams{1, 256, 0, 0, 0});
    }
  )");
}

TEST(AscendText, LinesLeadToTheUsersLines) {
  unsigned copy_line = 0, add_line = 0;
  const Artifact a = emitted("lines", signature(tensor("x", f32, {64}).contiguous()), [&](Buffer x) {
    for (Var b : grid(1)) {
      auto t = shared(f32, {64});
      copy_line = __LINE__ + 1;
      copy(x[{b}], t);
      add_line = __LINE__ + 1;
      for (Var i : parallel(64)) t(i) = t(i) + 1;
      copy(t, x[{b}]);
    }
  });
  auto users_line = [&](const std::string& part) {
    const size_t at = a.text.find(part);
    return a.lines.at(static_cast<size_t>(std::count(a.text.begin(), a.text.begin() + static_cast<long>(at), '\n')))
        .line;
  };
  EXPECT_EQ(a.lines.size(), static_cast<size_t>(std::count(a.text.begin(), a.text.end(), '\n')));
  EXPECT_EQ(users_line("DataCopyPad(shared0"), copy_line);
  EXPECT_EQ(users_line("SetValue"), add_line);
}

}  // namespace
}  // namespace tilewright::ascend
