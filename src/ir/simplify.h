#pragma once
// Simpler programs that compute the same: for all values, wrap-around, division by 0 and NaN included. A rewrite with a
// side condition fires only when the condition is proved (bounds.h). Float arithmetic changes only where every bit of
// the result stays (x * 1 is x; x + 0 is not x, for x = -0).
#include "ir/bounds.h"
#include "ir/nodes.h"

namespace tilewright::ir {

/// Folds constants and neutral elements, merges the terms of integer sums, divides sums by constants where the parts
/// are proved to stay apart, decides comparisons and selections. Sharing is kept, and so is what cannot be improved:
/// the result is the same node then.
Expr simplify(const Expr& e, const Context& context);

/// The same in a whole kernel, with the ranges of its loops and the facts of its conditions. Loops without iterations,
/// branches that are never taken and lets of constants go; a loop variable with one value is replaced by it.
Ref<Kernel> simplify(const Ref<Kernel>& kernel);

}  // namespace tilewright::ir
