// The scalar operators are the interpreter's inner loop: a chain of them costs below 20 ns each in an optimised build.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "types.h"

namespace tilewright::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr bool kOptimised = false;
#elif defined(__has_feature)
constexpr bool kOptimised = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kOptimised = true;
#endif

/// The best of 20 runs, nanoseconds a call; the best one is not disturbed by other programs.
template <class F>
double cost(F f) {
  double best = 1e9;
  for (int run = 0; run < 20; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10000; ++i) f(i);
    best = std::min(best,
                    std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / 10000);
  }
  return best;
}

TEST(Speed, AChainOfOperatorsCostsBelowTwentyNanosecondsEach) {
  if (!kOptimised) GTEST_SKIP() << "not an optimised build";
  Scalar x = real(f32, 1), y = real(f32, 1.0000001);
  EXPECT_LT(cost([&](int) { x = evaluate(BinaryOp::mul, x, y); }), 20);
  EXPECT_GT(x.as_double(), 1);
  Scalar a = integer(i64, 1), b = integer(i64, 3);
  EXPECT_LT(cost([&](int) { a = evaluate(BinaryOp::add, a, b); }), 20);
  EXPECT_EQ(a.as_int(), 1 + 3 * 200000);
  unsigned char memory[256] = {};
  for (DType t : {f64, f32, f16, bf16, e4m3, e2m1, i64, i32, i8, i4, boolean}) {
    Scalar s = real(t, 1);
    EXPECT_LT(cost([&](int i) { store_element(memory, i & 31, s); }), 20) << to_string(t);
    EXPECT_LT(cost([&](int i) { s = load_element(t, memory, i & 31); }), 20) << to_string(t);
    EXPECT_EQ(s.to_double(), 1) << to_string(t);
  }
}

}  // namespace
}  // namespace tilewright::test
