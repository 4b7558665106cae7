// GEMM by the portable loop lowering beside OpenBLAS, at the sizes of `tilewright run`, with equal threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tilewright/jit.h"
#include "tilewright/kernels.h"
#include "tilewright/numerics.h"
#include "tools/baseline/loops.h"
#include "tools/baseline/openblas.h"

namespace tilewright {
namespace {

constexpr double kLeastRatio = 0.05;  // of OpenBLAS
constexpr int kRounds = 5;

struct Case {
  DType type;
  int64_t size;
  int threads;  // 0 = all
};

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// OpenBLAS's time over ours; the least of interleaved rounds each.
double ratio_of(const Case& c) {
  const int64_t n = c.size, count = n * n;
  const int threads = c.threads != 0 ? c.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<char> a(c.type.bytes(count)), b(c.type.bytes(count));
  for (int64_t i = 0; i < count; ++i) {
    write_element(c.type, a.data(), i, static_cast<double>(i % 13) - 6);
    write_element(c.type, b.data(), i, static_cast<double>(i % 11) - 5);
  }
  std::vector<float> ours(count), theirs(count), wide_a(count), wide_b(count);
  Kernel kernel = compile("gemm", [](Buffer x, Buffer y, Buffer z) { gemm_kernel(x, y, z, false, {}); },
                          gemm_signature(c.type, f32, false), "cpu", {.threads = threads});
  auto run_kernel = [&] {
    kernel(Tensor{a.data(), c.type, {n, n}}, Tensor{b.data(), c.type, {n, n}}, Tensor{ours.data(), f32, {n, n}});
  };
  auto run_library = [&] {
    const void *x = a.data(), *y = b.data();
    if (c.type == bf16) {  // OpenBLAS has no product of bf16
      baseline::widen(static_cast<const uint16_t*>(x), wide_a.data(), count, threads);
      baseline::widen(static_cast<const uint16_t*>(y), wide_b.data(), count, threads);
      x = wide_a.data(), y = wide_b.data();
    }
    baseline::openblas_sgemm(static_cast<const float*>(x), static_cast<const float*>(y), theirs.data(), n, n, n,
                             threads);
  };
  run_kernel();
  run_library();
  EXPECT_EQ(ours, theirs);  // small whole numbers: every sum is exact
  double our_time = 1e9, their_time = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    our_time = std::min(our_time, seconds_of(run_kernel));
    their_time = std::min(their_time, seconds_of(run_library));
  }
  const double flop = 2 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  fmt::print("{} {}x{}x{}, {} threads: {:.1f} GFLOP/s, {:.2f} x {}\n", to_string(c.type), n, n, n, threads,
             flop / our_time * 1e-9, their_time / our_time, baseline::openblas_name());
  return their_time / our_time;
}

class GemmSpeed : public testing::TestWithParam<Case> {};

TEST_P(GemmSpeed, ReachesTheBar) {
  if (baseline::openblas_name().empty()) GTEST_SKIP() << "this build found no OpenBLAS";
  EXPECT_GE(ratio_of(GetParam()), kLeastRatio);
}

INSTANTIATE_TEST_SUITE_P(Sizes, GemmSpeed,
                         testing::Values(Case{f32, 512, 0}, Case{f32, 1024, 0}, Case{f32, 2048, 0}, Case{f32, 1024, 1},
                                         Case{bf16, 1024, 0}),
                         [](const auto& info) {
                           const Case& c = info.param;
                           return fmt::format("{}_{}{}", to_string(c.type), c.size, c.threads == 1 ? "_1_thread" : "");
                         });

}  // namespace
}  // namespace tilewright
