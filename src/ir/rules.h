#pragma once
// What one statement or declaration must satisfy by itself, whatever stands around it: types, ranks, extents. The
// parser refuses a text that breaks one, verify() checks every node.
#include <string>

#include "ir/nodes.h"

namespace tilewright::ir {

/// The rule that `node` breaks, as a sentence; empty when it breaks none. Children that are statements or expressions
/// are not visited.
std::string broken_rule(const Node& node);

/// "f32[128, 64]": dtype and extents, `?` for an extent that is no constant.
std::string shape_text(DType dtype, const Exprs& extents);

}  // namespace tilewright::ir
