#pragma once
// The CPU target: kernels in loops form become object code through LLVM. See cpu_device.h for running it.
#include "machine/target.h"

namespace tilewright::cpu {

struct Options {
  std::string cpu = {};  // an LLVM CPU name, such as "x86-64-v3"; empty = this machine
  int opt_level = 3;     // 0: scalar code; 1 and more: vectorised
  bool verify = false;   // run LLVM's verifier on what was emitted (always on in builds without NDEBUG)
};

/// Everything that one compilation yields.
struct CodeTexts {
  Artifact artifact;
  std::string plain_text;  // LLVM IR before optimisation; artifact.text is the optimised one
  std::string assembly;
  std::vector<std::string> notes;  // what LLVM was asked for and did not do
};

class CpuTarget : public Target {
 public:
  explicit CpuTarget(Options options = {});
  const Caps& caps() const override { return caps_; }
  std::optional<std::string> refuse(const ir::StmtNode& statement) const override;
  /// Object file in `binary`, optimised LLVM IR in `text`. DeviceError when the LLVM module is missing.
  Artifact emit(const ir::Ref<ir::Kernel>& final_stage, const LaunchPlan& plan) const override;
  /// The same with all texts, for tools and tests.
  CodeTexts compile(const ir::Ref<ir::Kernel>& final_stage, const LaunchPlan& plan) const;
  /// "plain" (LLVM IR before optimisation), "assembly", "notes".
  std::vector<std::string> listings() const override;
  std::string listing(const std::string& name, const ir::Ref<ir::Kernel>& final_stage,
                      const LaunchPlan& plan) const override;

 private:
  CodeTexts run(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan, bool all_texts) const;
  Options options_;
  Caps caps_;
};

/// Tables of a machine of this kind; `arch` names the processor.
Caps make_caps(const std::string& arch);

/// This processor: instruction set level, family, model and a hash of its feature bits. Part of cache keys; needs no
/// LLVM.
std::string host_arch();

}  // namespace tilewright::cpu
