#pragma once
// What a stage promises, checked (docs/architecture.md, "Stages" and "The final forms").
#include <optional>
#include <string>

#include "ir/nodes.h"

namespace tilewright::ir {

/// A rule that a kernel breaks: the sentence, with the text of the statement, and the user's line.
struct BrokenPromise {
  std::string sentence;
  Location at;
};

/// The first promise of its stage that `kernel` breaks; nothing when it keeps all.
std::optional<BrokenPromise> broken_promise(const Ref<Kernel>& kernel);

/// Throws InternalError when `kernel` breaks a promise of its stage: that is a mistake of a pass, never of a kernel.
void verify(const Ref<Kernel>& kernel);

}  // namespace tilewright::ir
