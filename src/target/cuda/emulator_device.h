#pragma once
// The SIMT emulator as a device: CUDA C++ artifacts, compiled by the host's compiler and run with every access checked.
#include <mutex>
#include <vector>

#include "machine/toolchain.h"
#include "runtime/host_memory.h"
#include "target/common/emulator/simt/simt.h"

namespace tilewright::cuda {

/// Whether there is a host compiler, and which.
Availability probe_emulator();

class EmulatorDevice : public HostDevice {
 public:
  /// `seed` chooses the order in which threads and blocks run; 0 = ascending.
  explicit EmulatorDevice(uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "SIMT emulator"; }
  /// The text is compiled at the first launch of any kernel, together with all texts that wait for it by then. A fault
  /// of a launch is a UserError at the line that the faulty statement was written at.
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

 private:
  uint64_t seed_;
};

}  // namespace tilewright::cuda
