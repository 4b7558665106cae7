#pragma once
// The SIMT emulator as a device: CUDA C++ artifacts, compiled by the host's compiler and run with every access checked.
#include "machine/toolchain.h"
#include "runtime/host_memory.h"

namespace tilewright::cuda {

/// Whether there is a host compiler, and which.
Availability probe_emulator();

class EmulatorDevice : public HostDevice {
 public:
  /// `seed` chooses the order in which threads and blocks run; 0 = ascending.
  explicit EmulatorDevice(uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "SIMT emulator"; }
  /// The text is compiled at the first launch, together with all texts that were loaded and not launched by then. A
  /// fault of a launch is an error at the line where the faulty statement was written.
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

 private:
  uint64_t seed_;
};

}  // namespace tilewright::cuda
