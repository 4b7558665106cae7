#pragma once
// Huawei Ascend NPUs (A2 and A3, __NPU_ARCH__ 2201): prints the engines form as Ascend C for one vector core, in the
// static-tensor style: addresses in UB are numbers, flags are explicit. A text is complete: the vendor's compiler and
// the emulator (src/target/common/emulator/engine) take it as it is.
#include "machine/target.h"

namespace tilewright::ascend {

class AscendTarget : public Target {
 public:
  /// `cores`: vector cores that a launch uses at most.
  explicit AscendTarget(int64_t cores = 48);
  const Caps& caps() const override { return caps_; }
  std::optional<std::string> refuse(const ir::StmtNode& statement) const override;
  Artifact emit(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan) const override;

 private:
  Caps caps_;
};

}  // namespace tilewright::ascend
