// The first compilation of a fresh process, which also loads LLVM. Nothing in this executable compiles in its own
// process, so each child starts without it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tilewright/jit.h"
#include "tilewright/kernels.h"

namespace tilewright {
namespace {

constexpr int kTries = 7;  // the least of them: what else runs on the machine only adds

/// Kernel::compile_seconds() of `compile()` in a child process; -1 when the child failed.
template <class F>
double in_a_child(F compile) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    double seconds = -1;
    try {
      seconds = compile().compile_seconds();
    } catch (const std::exception& e) {
      fmt::print(stderr, "{}\n", e.what());
    }
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = -1;
  if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = -1;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return seconds;
}

template <class F>
void expect_within(double bar, F compile) {
  double least = 1e9;
  for (int i = 0; i < kTries; ++i) {
    const double seconds = in_a_child(compile);
    ASSERT_GT(seconds, 0) << "the child could not compile";
    least = std::min(least, seconds);
  }
  fmt::print("{:.1f} ms, bar {:.0f} ms\n", least * 1e3, bar * 1e3);
  EXPECT_LT(least, bar);
}

TEST(ColdCompile, VectorAdd) {
  expect_within(0.030, [] {
    return compile(
        "vector_add", [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {}); }, vector_add_signature(f32));
  });
}

class ColdCompileGemm : public testing::TestWithParam<DType> {};

TEST_P(ColdCompileGemm, IsWithinTheBar) {
  expect_within(0.150, [] {
    return compile(
        "gemm", [](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c, false, {}); },
        gemm_signature(GetParam(), f32, false));
  });
}

INSTANTIATE_TEST_SUITE_P(Types, ColdCompileGemm, testing::Values(f32, bf16),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace tilewright
