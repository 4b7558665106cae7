#pragma once
// The interpreter: it is the meaning of a program. It runs the traced stage and the final loops form on host memory.
#include "ir/nodes.h"
#include "runtime/launch_plan.h"

namespace tilewright::interp {

/// Something that checked mode found: the statement's line, and a sentence.
struct Finding {
  Location at;
  std::string text;
};

struct Options {
  /// Reports out-of-range element accesses, reads of elements that nothing wrote, conflicts between iterations of a
  /// parallel loop or between blocks, division by zero and outputs that `covers` names and the kernel leaves unwritten.
  bool checked = false;
  size_t max_findings = 20;
};

/// Runs the kernel on bound arguments (host memory). Findings are empty unless `checked`.
std::vector<Finding> interpret(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan,
                               const BoundArguments& arguments, const Options& options = {});

}  // namespace tilewright::interp
