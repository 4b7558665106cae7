#pragma once
// NVRTC, NVIDIA's run-time compiler, found while the program runs. It needs no GPU.
#include "machine/toolchain.h"

namespace tilewright::cuda {

/// Compiles CUDA C++ artifacts to cubins. The library is looked for below the folder $TILEWRIGHT_NVRTC (an installed
/// wheel or toolkit) when it is set, else where the loader looks and below /usr/local/cuda. Safe for several threads.
class Nvrtc : public Toolchain {
 public:
  std::string name() const override { return "NVRTC"; }
  Availability probe() const override;
  /// `arch`: "sm_80", "sm_90a". The report has the cubin, the log, registers of one thread and bytes of spilled ones;
  /// without log and figures when NVRTC takes the cubin from its own cache, where the driver is installed.
  CompileReport compile(const Artifact& artifact, const std::string& arch) const override;
  /// "13.0"; empty when there is none.
  std::string version() const;
};

}  // namespace tilewright::cuda
