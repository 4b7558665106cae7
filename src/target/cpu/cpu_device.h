#pragma once
// The host CPU as a device: object code of the CPU target, run on a thread pool. Launches return when they are done.
#include <vector>

#include "base/thread_pool.h"
#include "runtime/host_memory.h"

namespace tilewright::cpu {

/// Memory of one worker for the tiles of a block, between two pages that cannot be accessed. Reused by all launches.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  /// At least `bytes`, aligned to 64, directly before the closing page. The content is undefined.
  void* reserve(int64_t bytes);

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0, bytes_ = 0;
};

class CpuDevice : public HostDevice {
 public:
  /// `threads` counts the caller; 0 = one for each processor that the process may use.
  explicit CpuDevice(int threads = 0);
  std::string name() const override { return "cpu"; }
  /// The device must outlive the kernel. DeviceError when the object is none of this machine's.
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

  int threads() const { return pool_.threads(); }
  /// Between launches only.
  void set_threads(int threads);

  /// Runs blocks 0 .. blocks - 1 of an entry of the object, in contiguous pieces.
  using Entry = void (*)(int64_t first, int64_t end, void** tensors, const uint64_t* scalars, void* scratch);
  void run(Entry entry, int64_t blocks, void** tensors, const uint64_t* scalars, int64_t scratch_bytes);

 private:
  ThreadPool pool_;
  std::vector<Scratch> scratch_;  // of each worker
};

}  // namespace tilewright::cpu
