// Products on the matrix unit: how many calls the emulated texts make, and that their barriers are needed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "target/common/emulator/simt/simt.h"
#include "target/cuda/emulator_device.h"
#include "tilewright/numerics.h"
#include "unit/cuda/matrix_map.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

constexpr GemmTile kTile{.m = 64, .n = 48, .k = 32, .stages = 0, .threads = 128};

Artifact product(DType type, bool transpose_b) {
  return emitted("product", gemm_signature(type, f32, transpose_b),
                 [=](Buffer A, Buffer B, Buffer C) { gemm_kernel(A, B, C, transpose_b, kTile); });
}

/// C (m, n) of small integers through the emulator, compared; the report.
simt::Report run(const simt::Kernel& kernel, const Phase& phase, DType type, bool transpose_b, int64_t m, int64_t n,
                 int64_t k) {
  std::vector<uint16_t> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
  std::vector<float> c(static_cast<size_t>(m * n), -1);
  auto x = [](int64_t i, int64_t j) { return static_cast<float>((i * 7 + j * 3) % 11 - 5); };
  auto y = [](int64_t i, int64_t j) { return static_cast<float>((i * 5 + j * 13) % 9 - 4); };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < k; ++j) write_element(type, a.data(), i * k + j, x(i, j));
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) write_element(type, b.data(), transpose_b ? j * k + i : i * n + j, y(i, j));
  std::vector<simt::Argument> arguments{simt::Argument::buffer("A", a.data(), static_cast<int64_t>(a.size() * 2)),
                                        simt::Argument::buffer("B", b.data(), static_cast<int64_t>(b.size() * 2)),
                                        simt::Argument::buffer("C", c.data(), static_cast<int64_t>(c.size() * 4))};
  const std::vector<int64_t> scalars{m, k, n, k, transpose_b ? k : n, n};
  for (int64_t scalar : scalars) arguments.push_back(simt::Argument::i64(scalar));
  simt::Report report = simt::launch(kernel, {phase.blocks.evaluate(scalars)}, {phase.threads}, phase.fast_memory_bytes,
                                     arguments, {.seed = 3});
  if (!report.clean()) return report;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float wanted = 0;
      for (int64_t q = 0; q < k; ++q) wanted += x(i, q) * y(q, j);
      EXPECT_EQ(c[static_cast<size_t>(i * n + j)], wanted) << i << ", " << j;
    }
  return report;
}

TEST(CudaMatrix, AsManyCallsAsTheTilesHave) {
  for (DType type : {f16, bf16})
    for (bool transpose_b : {false, true}) {
      const Artifact artifact = product(type, transpose_b);
      const simt::Kernel kernel =
          simt::compile_batch(std::vector{simt::KernelText{"product_kernel", artifact.text}})[0];
      for (auto [m, n, k] : {std::tuple(33, 65, 97), std::tuple(128, 128, 64), std::tuple(1, 1, 1)}) {
        SCOPED_TRACE(fmt::format("{} {} {}x{}x{}", to_string(type), transpose_b, m, n, k));
        const simt::Report report = run(kernel, artifact.plan.phases.at(0), type, transpose_b, m, n, k);
        EXPECT_TRUE(report.clean()) << report.common("product").to_string();
        const int64_t blocks = ((m + 63) / 64) * ((n + 47) / 48), steps = (k + 31) / 32;
        EXPECT_EQ(report.matrix_calls, blocks * steps * (64 / 16) * (48 / 8) * (32 / 16));
      }
    }
}

TEST(CudaMatrix, EveryElementLiesWhereTheLayoutsSay) {
  EmulatorDevice device(0);
  for (DType type : {f16, bf16}) EXPECT_EQ(map_on(device, type, "sm_80"), wanted_map()) << to_string(type);
}

TEST(CudaMatrix, BothBarriersAreNeeded) {
  const Artifact artifact = product(f16, false);
  std::vector<simt::KernelText> texts;
  for (const std::string& text : without_each_barrier(artifact.text)) texts.push_back({"product_kernel", text});
  EXPECT_EQ(texts.size(), 2u);
  for (const simt::Kernel& kernel : simt::compile_batch(texts))
    EXPECT_FALSE(run(kernel, artifact.plan.phases.at(0), f16, false, 64, 48, 96).clean());
}

// A shuffle or product that not all threads of a warp reach ends the launch.
TEST(CudaMatrix, AWarpThatIsNotTogetherIsReported) {
  const std::string text =
      "__global__ void apart(tw::argument<float> y) {\n"
      "  float v = 1;\n"
      "  if (threadIdx.x != 5) v = tw::shuffle_xor(v, 1);\n"
      "  y[threadIdx.x] = v;\n"
      "}\n";
  std::vector<float> y(32);
  const simt::Kernel kernel = simt::compile_batch(std::vector{simt::KernelText{"apart", text}})[0];
  const simt::Report report =
      simt::launch(kernel, {1}, {32}, 0, std::vector{simt::Argument::buffer("y", y.data(), 128)}, {});
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].text,
            "exchange at line 3: thread 0 of block 0 waits there, but not all threads of its warp come");
}

}  // namespace
}  // namespace tilewright::cuda
