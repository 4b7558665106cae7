// The generated texts, whole.
#include <gtest/gtest.h>

#include "support/golden.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

TEST(CudaText, VectorAdd) {
  const Artifact a = vector_add(200, bf16);
  EXPECT_EQ(a.language, "CUDA C++");
  EXPECT_EQ(a.arch, "sm_80");
  EXPECT_EQ(a.plan.phases.at(0).entry, "vector_add_kernel");
  EXPECT_GOLDEN(a.text, R"(
    extern "C" __global__ void __launch_bounds__(128) vector_add_kernel(tw::argument<const tw::bf16> x, tw::argument<const tw::bf16> y, tw::argument<tw::bf16> z, tw::i64 N) {
      const int bx = blockIdx.x;
      const auto shared0 = tw::shared_at<tw::bf16>(0, 200, "shared0");
      const auto shared1 = tw::shared_at<tw::bf16>(400, 200, "shared1");
      const auto shared2 = tw::shared_at<tw::bf16>(800, 200, "shared2");
      const int t = threadIdx.x;
      for (int round = 0; round < 2; ++round) {
        const int i_1 = round * 128 + t;
        if (i_1 < 200) {
          const tw::i64 v0 = tw::i64(bx) * 200 + i_1;
          shared0[i_1] = v0 < N ? x[v0] : tw::narrow<tw::bf16>(0.0f);
        }
      }
      for (int round_1 = 0; round_1 < 2; ++round_1) {
        const int i_2 = round_1 * 128 + t;
        if (i_2 < 200) {
          const tw::i64 v1 = tw::i64(bx) * 200 + i_2;
          shared1[i_2] = v1 < N ? y[v1] : tw::narrow<tw::bf16>(0.0f);
        }
      }
      for (int round_2 = 0; round_2 < 2; ++round_2) {
        const int i = round_2 * 128 + t;
        if (i < 200) {
          shared2[i] = tw::narrow<tw::bf16>(tw::to_f32(shared0[i]) + tw::to_f32(shared1[i]));
        }
      }
      for (int round_3 = 0; round_3 < 2; ++round_3) {
        const int i_3 = round_3 * 128 + t;
        if (i_3 < 200) {
          if (tw::i64(bx) * 200 + i_3 < N) {
            z[tw::i64(bx) * 200 + i_3] = shared2[i_3];
          }
        }
      }
    }
  )");
}

TEST(CudaText, Reverse) {
  EXPECT_GOLDEN(reverse().text, R"(
    extern "C" __global__ void __launch_bounds__(128) reverse_kernel(tw::argument<const float> x, tw::argument<float> y, tw::i64 N) {
      const int bx = blockIdx.x;
      const auto shared0 = tw::shared_at<float>(0, 128, "shared0");
      const auto shared1 = tw::shared_at<float>(512, 128, "shared1");
      const int t = threadIdx.x;
      const tw::i64 v0 = N - tw::i64(bx + 1) * 128 + t;
      shared0[t] = 0 <= v0 ? x[v0] : 0.0f;
      tw::barrier();
      shared1[t] = shared0[127 - t];
      if (tw::i64(bx) * 128 + t < N) {
        y[tw::i64(bx) * 128 + t] = shared1[t];
      }
    }
  )");
}

TEST(CudaText, Gemm) {
  EXPECT_GOLDEN(gemm().text, R"(
    extern "C" __global__ void __launch_bounds__(128) gemm_kernel(tw::argument<const float> A, tw::argument<const float> B, tw::argument<float> C, tw::i64 M, tw::i64 K, tw::i64 N, tw::i64 A_pitch, tw::i64 B_pitch, tw::i64 C_pitch) {
      const int block = blockIdx.x;
      const auto shared0 = tw::shared_at<float>(0, 512, "shared0");
      const auto shared1 = tw::shared_at<float>(2048, 768, "shared1");
      const tw::i64 bx = tw::floormod(tw::i64(block), tw::ceildiv(N, 48LL));
      const int by = tw::floordiv(tw::i64(block), tw::ceildiv(N, 48LL));
      const int t = threadIdx.x;
      float frag0[16];
      #pragma unroll
      for (int slot = 0; slot < 8; ++slot) {
        #pragma unroll
        for (int slot_1 = 0; slot_1 < 2; ++slot_1) {
          const int j_1 = slot_1 * 32 + t % 32;
          if (j_1 < 48) {
            frag0[slot * 2 + slot_1] = 0.0f;
          }
        }
      }
      for (tw::i64 k = 0; k < tw::ceildiv(K, 16LL); ++k) {
        tw::barrier();
        for (int round = 0; round < 4; ++round) {
          const int iteration = round * 128 + t;
          const int i_2 = iteration / 16;
          const int j_2 = iteration % 16;
          const tw::i64 v0 = tw::i64(by) * 32 + i_2;
          const tw::i64 v1 = k * 16 + j_2;
          shared0[i_2 * 16 + j_2] = 0 <= v0 && v0 < M && v1 < K ? A[v0 * A_pitch + v1] : 0.0f;
        }
        for (int round_1 = 0; round_1 < 6; ++round_1) {
          const int iteration_1 = round_1 * 128 + t;
          const int i_3 = iteration_1 / 48;
          const int j_3 = iteration_1 % 48;
          const tw::i64 v2 = k * 16 + i_3;
          const tw::i64 v3 = bx * 48 + j_3;
          shared1[i_3 * 48 + j_3] = v2 < K && v3 < N ? B[v2 * B_pitch + v3] : 0.0f;
        }
        tw::barrier();
        for (int k_1 = 0; k_1 < 16; ++k_1) {
          #pragma unroll
          for (int slot_2 = 0; slot_2 < 8; ++slot_2) {
            #pragma unroll
            for (int slot_3 = 0; slot_3 < 2; ++slot_3) {
              const int m = slot_2 * 4 + t / 32;
              const int n = slot_3 * 32 + t % 32;
              if (n < 48) {
                frag0[slot_2 * 2 + slot_3] = tw::fma(shared0[m * 16 + k_1], shared1[k_1 * 48 + n], frag0[slot_2 * 2 + slot_3]);
              }
            }
          }
        }
      }
      #pragma unroll
      for (int slot_4 = 0; slot_4 < 8; ++slot_4) {
        #pragma unroll
        for (int slot_5 = 0; slot_5 < 2; ++slot_5) {
          const int j = slot_5 * 32 + t % 32;
          if (j < 48) {
            frag0[slot_4 * 2 + slot_5] = frag0[slot_4 * 2 + slot_5];
          }
        }
      }
      #pragma unroll
      for (int slot_6 = 0; slot_6 < 8; ++slot_6) {
        #pragma unroll
        for (int slot_7 = 0; slot_7 < 2; ++slot_7) {
          const int i_4 = slot_6 * 4 + t / 32;
          const int j_4 = slot_7 * 32 + t % 32;
          if (j_4 < 48) {
            const tw::i64 v4 = tw::i64(by) * 32 + i_4;
            if (0 <= v4 && v4 < M && bx * 48 + j_4 < N) {
              C[(tw::i64(by) * 32 + i_4) * C_pitch + bx * 48 + j_4] = frag0[slot_6 * 2 + slot_7];
            }
          }
        }
      }
    }
  )");
}

// A sum that 32 bits hold stays there; one that they may not hold is computed in 64, and one that 64 may not by a rule.
TEST(CudaText, WidthsOfIndices) {
  const Artifact a =
      emitted("widths", signature(tensor("x", i64, {"N"}).contiguous(), scalar("s", i64)), [](Buffer x, Expr s) {
        for (Var b : grid(1 << 16, threads{32}))
          for (Var i : parallel(32)) {
            x(i) = i * 3 + 1;
            x(i + 1) = cast(i64, b) * 40000 + i;
            x(i + 2) = cast(i64, b) * s;
            x(i + 3) = (i - 5) / 2;
            x(i + 4) = i / 2;
          }
      });
  EXPECT_GOLDEN(a.text, R"(
    extern "C" __global__ void __launch_bounds__(32) widths_kernel(tw::argument<tw::i64> x, tw::i64 N, tw::i64 s) {
      const int bx = blockIdx.x;
      const int t = threadIdx.x;
      if (t < N) {
        x[t] = t * 3 + 1;
      }
      if (t + 1 < N) {
        x[t + 1] = tw::i64(bx) * 40000 + t;
      }
      if (t + 2 < N) {
        x[t + 2] = tw::mul(tw::i64(bx), s);
      }
      if (t + 3 < N) {
        x[t + 3] = (t + 1) / 2 - 3;
      }
      if (t + 4 < N) {
        x[t + 4] = t / 2;
      }
    }
  )");
}

// The constant part of an offset may take a short index beyond 32 bits.
TEST(CudaText, OffsetsBeyond32Bits) {
  const Artifact a = emitted("far", signature(tensor("x", i8, {4, 1000000000}).contiguous()), [](Buffer x) {
    for (Var b : grid(976563, threads{32}))
      for (Var i : parallel(32)) x(2, b * 1024 + i) = x(1, b * 1024 + i);
  });
  EXPECT_GOLDEN(a.text, R"(
    extern "C" __global__ void __launch_bounds__(32) far_kernel(tw::argument<tw::i8> x) {
      const int bx = blockIdx.x;
      const int t = threadIdx.x;
      x[tw::i64(bx * 1024 + t) + 2000000000] = x[bx * 1024 + t + 1000000000];
    }
  )");
}

// Parts that are used twice are computed once, reads of memory too; a side of a choice is not.
TEST(CudaText, SharedParts) {
  const Artifact a =
      emitted("shared_parts", signature(tensor("x", f32, {64}).contiguous(), tensor("y", f32, {64}).contiguous()),
              [](Buffer x, Buffer y) {
                for (Var b : grid(1, threads{32}))
                  for (Var i : parallel(64)) {
                    Expr v = x(i) + cast(f32, b);
                    for (int k = 0; k < 5; ++k) v = v * v + v;
                    y(i) = select(v > 1, exp2(x(i) / v) * exp2(x(i) / v), v);
                  }
              });
  EXPECT_GOLDEN(a.text, R"(
    extern "C" __global__ void __launch_bounds__(32) shared_parts_kernel(tw::argument<const float> x, tw::argument<float> y) {
      const int bx = blockIdx.x;
      const int t = threadIdx.x;
      for (int round = 0; round < 2; ++round) {
        const int i = round * 32 + t;
        const float v0 = x[i] + 0.0f;
        const float v1 = v0 * v0 + v0;
        const float v2 = v1 * v1 + v1;
        const float v3 = v2 * v2 + v2;
        const float v4 = v3 * v3 + v3;
        const float v5 = v4 * v4 + v4;
        y[i] = v5 > 1.0f ? tw::exp2(x[i] / v5) * tw::exp2(x[i] / v5) : v5;
      }
    }
  )");
}

TEST(CudaText, EachPhaseIsAFunctionAndWordsOfTheLanguageAreNoNames) {
  const Artifact a = emitted("exp2",
                             signature(tensor("threadIdx", f32, {64}).contiguous(),
                                       tensor("v0", f32, {64}).contiguous(), scalar("double", f32)),
                             [](Buffer x, Buffer y, Expr s) {
                               for (Var b : grid(2, threads{32}))
                                 for (Var i : parallel(32)) y(b * 32 + i) = x(b * 32 + i) * s;
                               for (Var b : grid(2, threads{32}))
                                 for (Var i : parallel(32)) y(b * 32 + i) += x(63 - (b * 32 + i));
                             });
  ASSERT_EQ(a.plan.phases.size(), 2u);
  EXPECT_GOLDEN(a.text, R"(
    extern "C" __global__ void __launch_bounds__(32) exp2_0_kernel(tw::argument<const float> threadIdx_1, tw::argument<float> v0_1, float double_1) {
      const int bx = blockIdx.x;
      const int t = threadIdx.x;
      v0_1[bx * 32 + t] = threadIdx_1[bx * 32 + t] * double_1;
    }

    extern "C" __global__ void __launch_bounds__(32) exp2_1_kernel(tw::argument<const float> threadIdx_1, tw::argument<float> v0_1, float double_1) {
      const int bx_1 = blockIdx.x;
      const int t_1 = threadIdx.x;
      v0_1[bx_1 * 32 + t_1] = v0_1[bx_1 * 32 + t_1] + threadIdx_1[63 - (bx_1 * 32 + t_1)];
    }
  )");
}

TEST(CudaText, LinesLeadToTheUsersLines) {
  uint32_t first = 0;
  const Artifact a =
      emitted("lines", signature(tensor("x", f32, {64}).contiguous(), tensor("y", f32, {64}).contiguous()),
              [&](Buffer x, Buffer y) {
                for (Var b : grid(1, threads{32})) {
                  auto u = shared(f32, {64});
                  first = __LINE__ + 1;
                  copy(x[{b * 64}], u);
                  copy(u, y[{b * 64}]);
                }
              });
  std::vector<std::string> lines;
  for (size_t at = 0, end; (end = a.text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(a.text.substr(at, end - at));
  ASSERT_EQ(lines.size(), a.lines.size());
  int checked = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool in = lines[i].find("] = x[") != std::string::npos,
               out = lines[i].find("y[") == lines[i].find_first_not_of(' ');
    if (in || out) {
      EXPECT_EQ(a.lines[i].line, in ? first : first + 1) << lines[i];
      ++checked;
    }
  }
  EXPECT_EQ(checked, 2) << a.text;
}

}  // namespace
}  // namespace tilewright::cuda
