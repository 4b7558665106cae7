// Every barrier of the generated texts is needed: without it the emulator reports a race, and the whole text runs
// without one.
#include <gtest/gtest.h>

#include <numeric>

#include "target/common/emulator/simt/simt.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

std::vector<float> counted(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

/// Inputs, then the output; and the sizes.
struct Data {
  std::vector<std::vector<float>> tensors;
  std::vector<int64_t> scalars;
};

/// A race, or a read before any thread wrote: what the absence of a barrier leads to, and nothing else does.
bool lacks_a_barrier(const simt::Report& report) {
  using enum simt::FaultKind;
  for (const simt::Fault& f : report.faults)
    if (f.kind != read_after_write && f.kind != write_after_read && f.kind != write_after_write &&
        f.kind != uninitialised_read)
      return false;
  return !report.clean();
}

/// Runs the text and each text without one barrier, with threads in ascending and in seeded orders. The number of
/// barriers.
size_t each_removal_is_reported(const Artifact& artifact, const Data& data) {
  const std::vector<std::string> fewer = without_each_barrier(artifact.text);
  const Phase& phase = artifact.plan.phases.at(0);
  std::vector<simt::KernelText> texts{{phase.entry, artifact.text}};
  for (const std::string& text : fewer) texts.push_back({phase.entry, text});
  const std::vector<simt::Kernel> kernels = simt::compile_batch(texts);
  auto run = [&](const simt::Kernel& kernel, uint64_t seed) {
    std::vector<std::vector<float>> tensors = data.tensors;
    std::vector<simt::Argument> arguments;
    for (std::vector<float>& t : tensors)
      arguments.push_back(simt::Argument::buffer("tensor", t.data(), static_cast<int64_t>(t.size() * sizeof(float))));
    for (int64_t scalar : data.scalars) arguments.push_back(simt::Argument::i64(scalar));
    return simt::launch(kernel, {phase.blocks.evaluate(data.scalars)}, {phase.threads}, phase.fast_memory_bytes,
                        arguments, {.seed = seed});
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const simt::Report whole = run(kernels[0], seed);
    EXPECT_TRUE(whole.clean()) << whole.common("whole").to_string() << artifact.text;
    for (size_t i = 0; i < fewer.size(); ++i) {
      const simt::Report report = run(kernels[i + 1], seed);
      EXPECT_TRUE(lacks_a_barrier(report)) << "seed " << seed << ": " << report.common("fewer").to_string() << fewer[i];
    }
  }
  return fewer.size();
}

// Each thread adds the elements that it copied itself: there is nothing to wait for.
TEST(CudaRemoval, VectorAddNeedsNoBarrier) {
  for (int64_t n : {1, 127, 128, 129, 1000})
    EXPECT_EQ(each_removal_is_reported(vector_add(), {{counted(n), counted(n), counted(n)}, {n}}), 0u);
}

TEST(CudaRemoval, TheOneBarrierOfReverseIsNeeded) {
  for (int64_t n : {127, 128, 129, 1000})
    EXPECT_EQ(each_removal_is_reported(reverse(), {{counted(n), counted(n)}, {n}}), 1u);
}

TEST(CudaRemoval, EachBarrierOfGemmIsNeeded) {
  const int64_t m = 33, n = 49, k = 32;
  EXPECT_EQ(each_removal_is_reported(gemm(), {{counted(m * k), counted(k * n), counted(m * n)}, {m, k, n, k, n, n}}),
            2u);
}

// A tile that every thread reads whole, written again in each round: one wait before and one after.
TEST(CudaRemoval, BothBarriersOfALoopAreNeeded) {
  const Artifact a =
      emitted("rows", signature(tensor("x", f32, {"R", 64}).contiguous(), tensor("y", f32, {64}).contiguous()),
              [](Buffer x, Buffer y) {
                auto [R, C] = x.shape<2>();
                for (Var b : grid(1, threads{32})) {
                  auto row = shared(f32, {64}), sum = shared(f32, {64});
                  fill(sum, b * 0);
                  for (Var r : serial(R)) {
                    copy(x.tile({r, 0}, {1, 64}), row);
                    for (Var i : parallel(64)) sum(i) += row(63 - i);
                  }
                  copy(sum, y[{b * 64}]);
                }
              });
  EXPECT_EQ(each_removal_is_reported(a, {{counted(3 * 64), counted(64)}, {3}}), 2u);
}

}  // namespace
}  // namespace tilewright::cuda
