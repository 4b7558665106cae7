#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tilewright/error.h"

namespace tilewright {
namespace {

/// How often each index was seen, and whether workers were in range and not shared.
struct Counted {
  explicit Counted(int64_t count, int threads)
      : seen(static_cast<size_t>(count)), busy(static_cast<size_t>(threads)), threads(threads) {}
  void operator()(int64_t index, int worker) {
    if (worker < 0 || worker >= threads || busy[static_cast<size_t>(worker)].exchange(true)) {
      bad_worker = true;
      return;
    }
    ++seen[static_cast<size_t>(index)];
    busy[static_cast<size_t>(worker)] = false;
  }
  bool each_once() const {
    for (const auto& s : seen) {
      if (s != 1) return false;
    }
    return true;
  }
  std::vector<std::atomic<int>> seen;
  std::vector<std::atomic<bool>> busy;
  int threads;
  std::atomic<bool> bad_worker{false};
};

TEST(ThreadPool, EveryIndexRunsOnceForEveryCountAndThreadCount) {
  for (int threads : {1, 2, 3, 5, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 7, 31, 64, 65, 1000, 4097}) {
      Counted counted(count, threads);
      pool.for_each(count, counted);
      EXPECT_TRUE(counted.each_once()) << threads << " threads, " << count << " tasks";
      EXPECT_FALSE(counted.bad_worker) << threads << " threads, " << count << " tasks";
    }
  }
}

TEST(ThreadPool, ZeroThreadsMeansTheProcessorsAndZeroOrNegativeTasksMeanNothing) {
  ThreadPool pool;
  EXPECT_EQ(pool.threads(), static_cast<int>(std::thread::hardware_concurrency()));
  bool ran = false;
  pool.for_each(0, [&](int64_t, int) { ran = true; });
  pool.for_each(-3, [&](int64_t, int) { ran = true; });
  EXPECT_FALSE(ran);
}

TEST(ThreadPool, PlainFunctionsGetTheirContext) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  pool.run(100, [](void* context, int64_t i, int) { *static_cast<std::atomic<int64_t>*>(context) += i; }, &sum);
  EXPECT_EQ(sum, 4950);
}

TEST(ThreadPool, ResultsOfTasksAreVisibleAfterRun) {
  ThreadPool pool(4);
  std::vector<int64_t> out(1001);  // not atomic: run() orders it
  for (int64_t round = 0; round < 200; ++round) {
    pool.for_each(1001, [&](int64_t i, int) { out[static_cast<size_t>(i)] += i + round; });
  }
  for (int64_t i = 0; i < 1001; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], 200 * i + 19900);
}

TEST(ThreadPool, OtherThreadsTakePartInLongTasks) {
  ThreadPool pool(2);
  // Each task waits for the other one, so one thread alone would not finish.
  std::atomic<int> arrived{0};
  pool.for_each(2, [&](int64_t, int) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, SleepingWorkersWakeUp) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough that all are asleep
    std::atomic<int> arrived{0};
    pool.for_each(3, [&](int64_t, int) {
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
    });
    EXPECT_EQ(arrived, 3);
  }
}

TEST(ThreadPool, AHundredThousandShortLaunches) {
  ThreadPool pool(3);
  std::atomic<int64_t> calls{0};
  int64_t expected = 0;
  for (int launch = 0; launch < 100000; ++launch) {
    const int64_t count = 2 + launch % 63;
    pool.for_each(count, [&](int64_t, int) { calls.fetch_add(1, std::memory_order_relaxed); });
    expected += count;
    ASSERT_EQ(calls, expected) << "launch " << launch;
  }
}

TEST(ThreadPool, TheFirstExceptionReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(4);
  for (int round = 0; round < 500; ++round) {
    std::atomic<int> calls{0};
    try {
      pool.for_each(50, [&](int64_t i, int) {
        ++calls;
        if (i == round % 50) throw std::runtime_error("task " + std::to_string(i));
      });
      FAIL() << "no exception in round " << round;
    } catch (const std::runtime_error& e) {
      ASSERT_EQ(std::string(e.what()), "task " + std::to_string(round % 50));
    }
    ASSERT_LE(calls, 50);
    Counted counted(20, 4);
    pool.for_each(20, counted);
    ASSERT_TRUE(counted.each_once());
  }
}

TEST(ThreadPool, WhenEveryTaskThrowsOneExceptionArrives) {
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> calls{0};
    EXPECT_THROW(pool.for_each(1000,
                               [&](int64_t, int) {
                                 ++calls;
                                 throw UserError({}, "no");
                               }),
                 UserError);
    EXPECT_GE(calls, 1);
    EXPECT_LE(calls, threads);  // the others are skipped
  }
}

TEST(ThreadPool, ANestedRunExecutesInlineAsTheSameWorker) {
  ThreadPool pool(3);
  std::atomic<int> inner{0}, moved{0};
  pool.for_each(7, [&](int64_t, int outer_worker) {
    const auto thread = std::this_thread::get_id();
    pool.for_each(11, [&](int64_t, int worker) {
      ++inner;
      if (worker != outer_worker || std::this_thread::get_id() != thread) ++moved;
    });
    EXPECT_THROW(pool.for_each(2, [](int64_t, int) { throw std::runtime_error("inner"); }), std::runtime_error);
  });
  EXPECT_EQ(inner, 77);
  EXPECT_EQ(moved, 0);
}

TEST(ThreadPool, ATaskMayUseAnotherPool) {
  ThreadPool outer(3), inner(2);
  std::atomic<int> calls{0};
  outer.for_each(6, [&](int64_t, int) { inner.for_each(9, [&](int64_t, int) { ++calls; }); });
  EXPECT_EQ(calls, 54);
}

TEST(ThreadPool, HostThreadsTakeTurnsAndWorkersAreNeverShared) {
  constexpr int kRounds = 200, kTasks = 9;
  ThreadPool pool(3);
  std::vector<std::atomic<bool>> busy(3);
  std::vector<std::atomic<int>> totals(5);
  std::atomic<int> shared{0};
  std::atomic<bool> start{false};
  std::vector<std::thread> hosts;
  for (std::atomic<int>& total : totals) {
    hosts.emplace_back([&] {
      while (!start) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) {
        pool.for_each(kTasks, [&](int64_t, int worker) {
          if (busy[static_cast<size_t>(worker)].exchange(true)) ++shared;
          ++total;
          std::this_thread::yield();  // lets another host in
          busy[static_cast<size_t>(worker)] = false;
        });
      }
    });
  }
  start = true;
  for (std::thread& t : hosts) t.join();
  for (const auto& t : totals) EXPECT_EQ(t, kRounds * kTasks);
  EXPECT_EQ(shared, 0);
}

TEST(ThreadPool, ManyMoreThreadsThanProcessorsStillFinish) {
  ThreadPool pool(40);
  for (int round = 0; round < 100; ++round) {
    Counted counted(200, 40);
    pool.for_each(200, counted);
    ASSERT_TRUE(counted.each_once());
    ASSERT_FALSE(counted.bad_worker);
  }
}

TEST(ThreadPool, TheNumberOfThreadsCanChangeBetweenJobs) {
  ThreadPool pool(2);
  for (int threads : {5, 1, 3, 3, 2}) {
    pool.set_threads(threads);
    EXPECT_EQ(pool.threads(), threads);
    Counted counted(100, threads);
    pool.for_each(100, counted);
    EXPECT_TRUE(counted.each_once());
    EXPECT_FALSE(counted.bad_worker);
  }
  EXPECT_THROW(pool.for_each(1, [&](int64_t, int) { pool.set_threads(4); }), InternalError);
  EXPECT_THROW(pool.set_threads(-1), InternalError);
  EXPECT_THROW(ThreadPool(-1), InternalError);
}

TEST(ThreadPool, APoolMayBeDestroyedAtOnce) {
  for (int round = 0; round < 200; ++round) {
    ThreadPool pool(3);
    if (round % 2 == 0) pool.for_each(3, [](int64_t, int) {});
  }
}

TEST(ThreadPool, LargeCountsRunEachIndexOnce) {
  ThreadPool pool(3);
  for (int64_t count : {(int64_t{1} << 20) - 1, (int64_t{1} << 20) + 1, (int64_t{3} << 20) + 5}) {
    std::vector<char> seen(static_cast<size_t>(count));
    std::atomic<int64_t> beyond{0};
    pool.for_each(count, [&](int64_t i, int) { i < count ? void(++seen[static_cast<size_t>(i)]) : void(++beyond); });
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), count);
    EXPECT_EQ(beyond, 0);
  }
}

TEST(ThreadPool, CountsBeyondThirtyTwoBitsAreAccepted) {
  // Every task throws, so that few of the 2^33 run.
  ThreadPool pool(2);
  constexpr int64_t kCount = (int64_t{1} << 33) + 5;
  std::atomic<int> outside{0};
  const auto task = [&](int64_t i, int) {
    if (i < 0 || i >= kCount) ++outside;
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(pool.for_each(kCount, task), std::runtime_error);
  EXPECT_EQ(outside, 0);
}

}  // namespace
}  // namespace tilewright
