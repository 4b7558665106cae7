#pragma once
// What the compiler asks of a chip. A target knows what its instructions look like; how text becomes a binary and where
// it runs are Toolchain's and Device's business (toolchain.h, tilewright/runtime.h).
#include <optional>

#include "machine/caps.h"
#include "runtime/artifact.h"

namespace tilewright {

class Target {
 public:
  virtual ~Target() = default;
  virtual const Caps& caps() const = 0;
  /// What the chip cannot do with this statement, and what it can; nothing when it is fine.
  virtual std::optional<std::string> refuse(const ir::StmtNode& statement) const;
  /// The chip's own lowering of a tile operation on placed buffers; null = the portable loops.
  virtual ir::Stmt lower(const ir::StmtNode& operation) const;
  /// Text or object of a kernel in its final form. Pure: needs no hardware.
  virtual Artifact emit(const ir::Ref<ir::Kernel>& final_stage, const LaunchPlan& plan) const = 0;
  /// Names of further texts that a person may want to see ("assembly"), and one of them. The default has none.
  virtual std::vector<std::string> listings() const { return {}; }
  virtual std::string listing(const std::string& name, const ir::Ref<ir::Kernel>& final_stage,
                              const LaunchPlan& plan) const;
};

}  // namespace tilewright
