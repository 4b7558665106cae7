#pragma once
// A pool of threads for launches of many short tasks. Everybody, the caller included, claims ranges of indices from one
// atomic word; the caller waits for claimed tasks only. So a thread that has not woken up is never waited for, small
// jobs finish on the caller, and a machine with more threads than cores cannot stall a launch.
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tilewright {

class ThreadPool {
 public:
  /// `threads` counts the caller; 0 means one for each processor that the process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  using Task = void (*)(void* context, int64_t index, int worker);

  /// Calls task(context, i, worker) once for each i in [0, count), in any order, and returns when all calls have ended.
  /// `worker` lies in [0, threads()) and no two calls at one time share it, so it may index scratch memory. The first
  /// exception of a task is thrown here; tasks that were not claimed by then are skipped. Several host threads may call
  /// run: their jobs follow each other. A run from inside a task of this pool executes on that thread, as that worker.
  /// A task may run jobs on another pool if that pool's tasks do not run jobs on this one.
  void run(int64_t count, Task task, void* context);

  /// The same for a callable f(index, worker).
  template <class F>
  void for_each(int64_t count, F&& f) {
    using Plain = std::remove_reference_t<F>;
    run(
        count, [](void* context, int64_t index, int worker) { (*static_cast<Plain*>(context))(index, worker); },
        const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  }

  /// The number of threads, the caller included.
  int threads() const;

  /// Changes it, between jobs; not from inside a task. 0 as in the constructor.
  void set_threads(int threads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright
