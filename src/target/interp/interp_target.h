#pragma once
// The interpreter as a target and a device, so that it is driven like every other machine.
#include "machine/target.h"
#include "runtime/host_memory.h"
#include "target/interp/interpret.h"

namespace tilewright::interp {

/// Takes the traced kernel as it is; the artifact is its text.
class InterpTarget : public Target {
 public:
  const Caps& caps() const override;
  Artifact emit(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan) const override;
};

/// Host memory; a loaded kernel parses the artifact's text and interprets it.
class InterpDevice : public HostDevice {
 public:
  explicit InterpDevice(Options options = {}) : options_(options) {}
  std::string name() const override { return "interpreter"; }
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

 private:
  Options options_;
};

}  // namespace tilewright::interp
