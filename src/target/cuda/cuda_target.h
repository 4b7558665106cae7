#pragma once
// NVIDIA GPUs: prints the threads form as small self-contained CUDA C++. The text follows a device header (real or
// emulated, src/target/common/emulator/simt) that supplies the namespace tw.
#include "machine/target.h"

namespace tilewright::cuda {

class CudaTarget : public Target {
 public:
  /// `arch`: "sm_80", "sm_90a" and so on.
  explicit CudaTarget(std::string arch = "sm_80");
  const Caps& caps() const override { return caps_; }
  Artifact emit(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan) const override;

 private:
  Caps caps_;
};

}  // namespace tilewright::cuda
