#pragma once
// The engine emulator as a device: Ascend C artifacts, compiled by the host's compiler and run with every access
// checked for its order, its bounds and its alignment.
#include "machine/toolchain.h"
#include "runtime/host_memory.h"

namespace tilewright::ascend {

/// Whether there is a host compiler, and which.
Availability probe_emulator();

class EmulatorDevice : public HostDevice {
 public:
  /// `seed` chooses the order in which the engines run; 0 = the order of the program.
  explicit EmulatorDevice(uint64_t seed) : seed_(seed) {}
  std::string name() const override { return "engine emulator"; }
  /// The text is compiled at the first launch of any kernel, together with all texts that wait for it by then. A fault
  /// of a launch is an error at the user's line: a UserError where the program is wrong (elements that nothing wrote,
  /// blocks that write the same elements), else an InternalError.
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

 private:
  uint64_t seed_;
};

}  // namespace tilewright::ascend
