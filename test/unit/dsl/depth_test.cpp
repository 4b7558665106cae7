// A chain of a million additions and sixty doublings, written in the language, go through tracing, text, comparison,
// simplification and the interpreter: each step within a second, on a stack of 8 MiB. Times are printed.
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include "dsl/trace.h"
#include "ir/simplify.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "tilewright/jit.h"

#if defined(__SANITIZE_ADDRESS__)
#define TW_SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TW_SLOW_BUILD 1
#endif
#endif
#ifndef TW_SLOW_BUILD
#define TW_SLOW_BUILD 0
#endif

namespace tilewright {
namespace {

constexpr double kLimit = TW_SLOW_BUILD ? 30 : 1;  // seconds

template <class F>
void timed(const char* what, F&& f) {
  const std::clock_t start = std::clock();  // of this process: other work on the machine does not count
  f();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("  %-10s %7.3f s\n", what, seconds);
  EXPECT_LT(seconds, kLimit) << what;
}

/// Runs `f` on a thread with a stack of 8 MiB, whatever the limits of this process are.
template <class F>
void on_small_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{8} << 20), 0);
  pthread_t thread;
  auto run = [](void* context) -> void* {
    (*static_cast<F*>(context))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &f), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// y(0) = body(x(0), x(1)), through everything; x = (1, 2). Gives y(0).
template <class T, class Body>
T through_everything(DType type, Body body) {
  auto build = [&](Buffer x, Buffer y) {
    for (Var b : grid(1)) {
      auto p = let(x(0)), q = let(x(1));
      y(b) = body(p, q);
    }
  };
  auto arguments = signature(tensor("x", type, {2}).contiguous(), tensor("y", type, {1}).contiguous());
  ir::Ref<ir::Kernel> kernel, again, back, simple;
  std::string text;
  timed("trace", [&] { kernel = trace("deep", arguments, build); });
  again = trace("deep", arguments, build);
  timed("compare", [&] { EXPECT_TRUE(ir::equal(kernel, again)); });
  timed("hash", [&] { EXPECT_EQ(kernel->hash, again->hash); });  // made with each node
  timed("print", [&] { text = ir::print(kernel); });
  timed("parse", [&] { back = ir::parse_kernel(text, "deep"); });
  EXPECT_TRUE(ir::equal(kernel, back));
  timed("simplify", [&] { simple = ir::simplify(kernel); });
  EXPECT_EQ(simple->params.size(), 2u);
  again = back = nullptr;
  timed("destroy", [&] { kernel = nullptr; });

  std::vector<T> x{1, 2}, y{0};
  std::optional<Kernel> compiled(compile("deep", build, arguments, "interp"));
  timed("interpret", [&] { (*compiled)(Tensor{x.data(), type, {2}, {}}, Tensor{y.data(), type, {1}, {}}); });
  timed("unload", [&] { compiled.reset(); });
  return y[0];
}

constexpr int kChain = 1'000'000;

TEST(Depth, AMillionIntegerAdditions) {
  on_small_stack([] {
    int64_t y = through_everything<int64_t>(i64, [](const Let& p, const Let& q) {
      Expr sum = p;
      for (int n = 0; n < kChain; ++n) sum = sum + (n % 2 ? p : q);
      return sum;
    });
    EXPECT_EQ(y, 1 + kChain / 2 * 3);
  });
}

TEST(Depth, AMillionFloatAdditions) {
  on_small_stack([] {
    float y = through_everything<float>(f32, [](const Let& p, const Let& q) {
      Expr sum = p;
      for (int n = 0; n < kChain; ++n) sum += n % 2 ? p : q;
      return sum;
    });
    EXPECT_EQ(y, 1 + kChain / 2 * 3);  // whole numbers below 2^24: exact
  });
}

TEST(Depth, ReadsOfManyTiles) {
  // Each sum depends on every tile read so far: noting that may not cost a copy of the list for each addition.
  constexpr int kTiles = 500, kReads = 100'000;
  auto build = [](Buffer y) {
    for (Var b : grid(1)) {
      std::vector<Buffer> tiles;
      for (int i = 0; i < kTiles; ++i) tiles.push_back(shared(f32, {8}));
      for (const Buffer& t : tiles) fill(t, 1);
      Expr sum = 0;
      for (int n = 0; n < kReads; ++n) sum += tiles[n % kTiles](n % 8);
      y(b) = sum;
    }
  };
  timed("reads", [&] { trace("reads", signature(tensor("y", f32, {1})), build); });
}

TEST(Depth, SixtyDoublings) {
  on_small_stack([] {
    int64_t y = through_everything<int64_t>(i64, [](const Let&, const Let& q) {
      Expr x = q;
      for (int n = 0; n < 60; ++n) x = x + x;
      return x;
    });
    EXPECT_EQ(y, int64_t{2} << 60);
  });
}

TEST(Depth, SixtySquares) {
  on_small_stack([] {
    float y = through_everything<float>(f32, [](const Let& p, const Let&) {
      Expr x = p;
      for (int n = 0; n < 60; ++n) x = x * x;
      return x;
    });
    EXPECT_EQ(y, 1.f);
  });
}

}  // namespace
}  // namespace tilewright
