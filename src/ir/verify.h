#pragma once
// What a stage promises, checked. A failure is a mistake of a pass (or of a text given to tw-opt), never of a kernel.
#include "ir/nodes.h"

namespace tilewright::ir {

/// Throws InternalError with the broken promise, the statement and the user's line when `kernel` breaks a rule of its
/// stage (docs/architecture.md lists them).
void verify(const Ref<Kernel>& kernel);

}  // namespace tilewright::ir
