// Launches and compilations from several host threads at once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "tilewright/jit.h"
#include "tilewright/kernels.h"

namespace tilewright {
namespace {

constexpr int kHosts = 6;  // more than most machines have processors to spare

/// Runs body(host) on kHosts threads; what one throws fails the test.
template <class F>
void on_many_threads(F body) {
  std::vector<std::thread> hosts;
  std::atomic<bool> go{false};
  for (int h = 0; h < kHosts; ++h)
    hosts.emplace_back([&, h] {
      while (!go.load()) std::this_thread::yield();
      try {
        body(h);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "thread " << h << ": " << e.what();
      }
    });
  go.store(true);
  for (std::thread& t : hosts) t.join();
}

std::vector<float> random_values(int64_t count, uint32_t seed) {
  std::mt19937 bits(seed);
  std::uniform_real_distribution<float> range(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = range(bits);
  return values;
}

Tensor view(std::vector<float>& data, std::vector<int64_t> shape) { return {data.data(), f32, std::move(shape)}; }

Kernel compile_add(int threads) {
  return compile("vector_add", [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {}); },
                 vector_add_signature(f32), "cpu", {.threads = threads});
}

Kernel compile_softmax(int threads) {
  return compile("softmax", [](Buffer x, Buffer y) { softmax_kernel(x, y, {.rows = 4, .columns = 128}); },
                 softmax_signature(f32), "cpu", {.threads = threads});
}

Kernel compile_gemm(int threads) {
  return compile("gemm", [](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c, false, {.m = 32, .n = 48, .k = 16}); },
                 gemm_signature(f32, f32, false), "cpu", {.threads = threads});
}

void add_many_sizes(Kernel add, int host, int launches) {
  for (int round = 0; round < launches; ++round) {
    const int64_t n = (host * 977 + round * 613) % 9001;
    std::vector<float> x(n), y(n), z(n + 1, -1.f);
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i + host), y[i] = static_cast<float>(2 * i + round);
    add(view(x, {n}), view(y, {n}), view(z, {n}));
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(z[i], static_cast<float>(3 * i + host + round)) << "n " << n;
    ASSERT_EQ(z[n], -1.f);
  }
}

/// Scratch memory belongs to a worker, so the tiles of two launches never meet.
void softmax_many_sizes(Kernel softmax, Kernel alone, int host, int launches) {
  for (int round = 0; round < launches; ++round) {
    const int64_t rows = 1 + (host * 7 + round * 5) % 23, columns = 1 + (host * 131 + round * 37) % 300;
    std::vector<float> x = random_values(rows * columns, static_cast<uint32_t>(host * 1000 + round)), y(x.size()), e(y);
    softmax(view(x, {rows, columns}), view(y, {rows, columns}));
    alone(view(x, {rows, columns}), view(e, {rows, columns}));
    ASSERT_EQ(y, e) << rows << " x " << columns;
  }
}

void gemm_many_sizes(Kernel gemm, Kernel alone, int host, int launches) {
  for (int round = 0; round < launches; ++round) {
    const int64_t m = 1 + (host * 31 + round * 17) % 70, n = 1 + (host * 13 + round * 29) % 90, k = 1 + round % 50;
    std::vector<float> a = random_values(m * k, static_cast<uint32_t>(host + round)), b = random_values(k * n, 3);
    std::vector<float> c(static_cast<size_t>(m * n)), e(c);
    gemm(view(a, {m, k}), view(b, {k, n}), view(c, {m, n}));
    alone(view(a, {m, k}), view(b, {k, n}), view(e, {m, n}));
    ASSERT_EQ(c, e) << m << " x " << n << " x " << k;
  }
}

TEST(CpuThreads, HostThreadsLaunchOneKernelAtOnce) {
  for (int threads : {1, 3}) {
    Kernel add = compile_add(threads);
    on_many_threads([&](int host) { add_many_sizes(add, host, 600); });
  }
}

TEST(CpuThreads, HostThreadsLaunchDifferentKernelsAtOnce) {
  for (int threads : {1, 3}) {
    Kernel add = compile_add(threads), softmax = compile_softmax(threads), gemm = compile_gemm(threads);
    on_many_threads([&](int host) {
      switch (host % 3) {
        case 0:
          return add_many_sizes(add, host, 200);
        case 1: {
          Kernel alone = compile_softmax(2);
          return softmax_many_sizes(softmax, alone, host, 200);
        }
        default: {
          Kernel alone = compile_gemm(2);
          return gemm_many_sizes(gemm, alone, host, 200);
        }
      }
    });
  }
}

TEST(CpuThreads, KernelsOfOneThreadCountShareTheirThreads) {
  Kernel add = compile_add(3), softmax = compile_softmax(3), other = compile_add(2);
  EXPECT_EQ(&add.device(), &softmax.device());
  EXPECT_NE(&add.device(), &other.device());
}

TEST(CpuThreads, HostThreadsCompileAtOnce) {
  on_many_threads([&](int host) {
    for (int round = 0; round < 3; ++round) add_many_sizes(compile_add(1 + host % 3), host, 5);
  });
}

TEST(CpuThreads, AWrongCallIsAnErrorAtItsOwnLineWhileOthersGoOn) {
  Kernel add = compile_add(3);
  std::atomic<int> refused{0};
  on_many_threads([&](int host) {
    if (host % 2 == 0) return add_many_sizes(add, host, 600);
    std::vector<float> x(100), y(99), z(100, -1.f);
    for (int round = 0; round < 150; ++round) {
      uint32_t line = 0;
      try {
        line = __LINE__ + 1;
        add(view(x, {100}), view(y, {99}), view(z, {100}));
        ADD_FAILURE() << "a tensor of the wrong size was taken";
      } catch (const UserError& e) {
        EXPECT_EQ(e.location().line, line);
        EXPECT_EQ(e.message(), "vector_add: size 0 of y is 99 but size 0 of x is 100; both must be N");
        ++refused;
      }
    }
    EXPECT_EQ(z, std::vector<float>(100, -1.f));
  });
  EXPECT_EQ(refused.load(), kHosts / 2 * 150);
}

}  // namespace
}  // namespace tilewright
