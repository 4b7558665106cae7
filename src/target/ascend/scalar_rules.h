#pragma once
// The language's rules as functions of the scalar unit: what a generated text calls as tw::NAME is printed in front of
// it, so that a text is complete.
#include <string>

#include "ir/nodes.h"

namespace tilewright::ascend {

/// Whether the scalar unit computes the operator; f32 functions like exp it does not.
bool has_scalar_rule(UnaryOp op);

/// The functions that `text` calls, and those that they call, in a namespace tw; empty when it calls none.
std::string scalar_rules_for(const std::string& text);

}  // namespace tilewright::ascend
