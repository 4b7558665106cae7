#pragma once
// From a kernel to the plain data of its launch plan.
#include "machine/caps.h"
#include "runtime/launch_plan.h"

namespace tilewright {

/// The tensors and scalars of the kernel, with the access of each tensor inferred from the body; no phases yet.
LaunchPlan plan_arguments(const ir::Kernel& kernel);

/// The whole plan of a kernel in its final form. What the user wrote says which tensors are read and written, and how
/// many blocks a grid has.
LaunchPlan plan_launch(const ir::Kernel& final_stage, const ir::Kernel& traced, const Caps& caps);

/// How the body uses each parameter, in order: in, out or inout.
std::vector<Access> infer_access(const ir::Kernel& kernel);

/// The formula of an integer expression over the plan's scalars. Anything else in it is an InternalError.
Formula formula_of(const ir::Expr& expression, const LaunchPlan& plan);

}  // namespace tilewright
