// The protocol. One 64-bit word holds the job's number (high half) and its next unclaimed unit (low half); a unit is
// one index, or several when there are more than 2^20. `limit` holds the job's number and its unit count. A claim is a
// compare-exchange that moves the next unit forward by a share of what is left (large shares first, single units last).
// It can succeed only while the job has unclaimed units, and a job with unclaimed or unfinished units cannot be
// replaced, so after a claim the job's fields are stable. The caller claims until nothing is left, then waits until the
// units claimed by others have ended. Idle workers spin briefly, then sleep on `signal`.
#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tilewright {
namespace {

constexpr int64_t kMostUnits = int64_t{1} << 20;
constexpr auto kSpin = std::chrono::microseconds(30);
constexpr int kSharesPerThread = 4;  // a claim takes at most 1 / (4 threads) of what is left

constexpr uint64_t pack(uint64_t job, uint64_t units) { return job << 32 | units; }
constexpr uint64_t job_of(uint64_t word) { return word >> 32; }
constexpr uint64_t units_of(uint64_t word) { return word & 0xffffffff; }

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Spins until `done()` or the time is over. Whether it was done.
template <class Done>
bool spin(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// The tasks that this thread is inside of, innermost first.
struct Frame {
  const void* pool;
  int worker;
  const Frame* outer;
};
thread_local const Frame* innermost = nullptr;

class Enter {
 public:
  Enter(const void* pool, int worker) : frame_{pool, worker, innermost} { innermost = &frame_; }
  ~Enter() { innermost = frame_.outer; }
  Enter(const Enter&) = delete;
  Enter& operator=(const Enter&) = delete;

 private:
  Frame frame_;
};

/// The worker that this thread is in the pool; -1 when it is not inside one of the pool's tasks.
int worker_of(const void* pool) {
  for (const Frame* f = innermost; f != nullptr; f = f->outer) {
    if (f->pool == pool) return f->worker;
  }
  return -1;
}

int usable_threads(int asked) {
  TW_CHECK(asked >= 0, "ThreadPool: " + std::to_string(asked) + " threads");
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct ThreadPool::State {
  // Claimed from by everybody.
  alignas(64) std::atomic<uint64_t> next{0};
  // Written by the publisher before `next`; the fields below it are read after a claim only.
  alignas(64) std::atomic<uint64_t> limit{0};
  Task task = nullptr;
  void* context = nullptr;
  int64_t count = 0;
  int64_t unit = 1;     // indices of one unit
  int share_shift = 0;  // a claim takes units left >> share_shift; constant while workers exist
  // Units that threads other than the caller have finished.
  alignas(64) std::atomic<uint32_t> done{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // written by the thread that set `failed`
  // Sleep and wake.
  alignas(64) std::atomic<uint32_t> signal{0};
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};

  std::mutex one_job;  // held by the caller of run
  std::atomic<int> thread_count{1};
  std::vector<std::thread> workers;

  bool has_work() const {
    const uint64_t word = next.load(), last = limit.load();
    return job_of(word) == job_of(last) && units_of(word) < units_of(last);
  }

  /// Claims units [first, first + n) and returns n; 0 when nothing is left.
  uint64_t claim(uint64_t& first) {
    uint64_t word = next.load(std::memory_order_acquire);
    for (;;) {
      const uint64_t last = limit.load(std::memory_order_acquire);
      if (job_of(word) != job_of(last) || units_of(word) >= units_of(last)) return 0;
      const uint64_t n = std::max<uint64_t>(1, (units_of(last) - units_of(word)) >> share_shift);
      if (next.compare_exchange_weak(word, word + n, std::memory_order_acq_rel, std::memory_order_acquire)) {
        first = units_of(word);
        return n;
      }
    }
  }

  void call(uint64_t first, uint64_t n, int worker) noexcept {
    const int64_t begin = static_cast<int64_t>(first) * unit;
    const int64_t end = std::min(count, begin + static_cast<int64_t>(n) * unit);
    try {
      for (int64_t i = begin; i < end && !failed.load(std::memory_order_relaxed); ++i) task(context, i, worker);
    } catch (...) {
      if (!failed.exchange(true)) error = std::current_exception();
    }
  }

  void work(int worker) {
    const Enter enter(this, worker);
    while (!stop.load()) {
      uint64_t first = 0;
      while (const uint64_t n = claim(first)) {
        call(first, n, worker);
        done.fetch_add(static_cast<uint32_t>(n), std::memory_order_acq_rel);
        done.notify_one();
      }
      if (!spin([this] { return has_work() || stop.load(std::memory_order_relaxed); })) sleep();
    }
  }

  void sleep() {
    const uint32_t seen = signal.load();
    sleepers.fetch_add(1);  // before the last look for work, as the publisher publishes before it looks for sleepers
    if (!has_work() && !stop.load()) signal.wait(seen);
    sleepers.fetch_sub(1);
  }

  void wake(int64_t wanted) {
    const int asleep = sleepers.load();
    if (asleep == 0 || wanted <= 0) return;
    signal.fetch_add(1);
    if (wanted >= asleep) return signal.notify_all();
    for (int64_t i = 0; i < wanted; ++i) signal.notify_one();
  }

  void publish(int64_t n, Task f, void* c) {
    task = f;
    context = c;
    count = n;
    unit = (n + kMostUnits - 1) / kMostUnits;
    failed.store(false, std::memory_order_relaxed);
    done.store(0, std::memory_order_relaxed);
    const uint64_t job = (job_of(next.load(std::memory_order_relaxed)) + 1) & 0xffffffff;
    const int64_t units = (n + unit - 1) / unit;
    limit.store(pack(job, static_cast<uint64_t>(units)));
    next.store(pack(job, 0));
    wake(units - 1);
  }

  void run_job(int64_t n, Task f, void* c) {
    publish(n, f, c);
    const uint32_t units = static_cast<uint32_t>(units_of(limit.load(std::memory_order_relaxed)));
    uint32_t mine = 0;
    uint64_t first = 0;
    while (const uint64_t claimed = claim(first)) {
      call(first, claimed, 0);
      mine += static_cast<uint32_t>(claimed);
    }
    const uint32_t others = units - mine;
    if (!spin([&] { return done.load(std::memory_order_acquire) == others; })) {
      for (uint32_t now = done.load(); now != others; now = done.load()) done.wait(now);
    }
    if (failed.load(std::memory_order_relaxed)) std::rethrow_exception(std::exchange(error, nullptr));
  }

  void start(int threads) {
    share_shift = 0;
    while ((1 << share_shift) < kSharesPerThread * threads) ++share_shift;
    stop.store(false);
    try {
      for (int w = 1; w < threads; ++w) workers.emplace_back([this, w] { work(w); });
    } catch (...) {  // the system has no more threads
      finish();
      throw;
    }
    thread_count.store(threads);
  }

  void finish() {
    stop.store(true);
    signal.fetch_add(1);
    signal.notify_all();
    for (std::thread& t : workers) t.join();
    workers.clear();
    thread_count.store(1);
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) { state_->start(usable_threads(threads)); }

ThreadPool::~ThreadPool() { state_->finish(); }

int ThreadPool::threads() const { return state_->thread_count.load(); }

void ThreadPool::set_threads(int threads) {
  TW_CHECK(worker_of(state_.get()) < 0, "ThreadPool: set_threads from inside a task");
  threads = usable_threads(threads);
  const std::lock_guard lock(state_->one_job);
  if (threads == state_->thread_count.load()) return;
  state_->finish();
  state_->start(threads);
}

void ThreadPool::run(int64_t count, Task task, void* context) {
  if (count <= 0) return;
  if (const int worker = worker_of(state_.get()); worker >= 0) {
    for (int64_t i = 0; i < count; ++i) task(context, i, worker);
    return;
  }
  const std::lock_guard lock(state_->one_job);
  const Enter enter(state_.get(), 0);
  if (count > 1 && !state_->workers.empty()) return state_->run_job(count, task, context);
  for (int64_t i = 0; i < count; ++i) task(context, i, 0);
}

}  // namespace tilewright
