#pragma once
// Fibers: one stack per emulated thread, switched by hand on x86-64 and by ucontext elsewhere.
#include <cstdint>
#include <memory>
#include <vector>

namespace tilewright::simt {

/// `count` fibers that share one entry function. resume(i) runs fiber i until it calls pause() or its entry returns. A
/// fiber may be abandoned and restarted at any pause. Stacks lie between guard pages: overflow is a fault of the
/// process, never a write into a neighbour.
class Fibers {
 public:
  /// `portable` asks for ucontext. DeviceError when the memory cannot be had.
  Fibers(int count, int64_t stack_bytes, bool portable, void (*entry)(void*), void* argument);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Fiber i starts at its entry at the next resume.
  void restart(int i);
  void resume(int i);
  /// Back to the caller of resume. Called on a fiber.
  void pause();

 private:
  struct Portable;
  static void start();
  char* top(int i) const;

  int count_;
  bool portable_;
  int64_t stride_ = 0;  // bytes from one stack to the next, guard page included
  int64_t slab_bytes_ = 0;
  char* slab_ = nullptr;
  void (*entry_)(void*);
  void* argument_;
  int current_ = -1;
  void* caller_ = nullptr;     // stack pointer of resume's caller
  std::vector<void*> stacks_;  // stack pointers of paused fibers
  std::unique_ptr<Portable> contexts_;
};

}  // namespace tilewright::simt
