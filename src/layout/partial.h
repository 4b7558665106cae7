#pragma once
// Finding modes for a function that is known only at some points (left inverses of layouts with holes).
#include <string>
#include <vector>

#include "tilewright/layout.h"

namespace tilewright {

/// An index layout over `shape` that gives values[i] at every linear index i with values[i] >= 0; all known values are
/// below `limit`. Complete while the search stays within its budget, which the reason says otherwise.
LayoutResult fit_partial(const char* operation, const Coord& shape, const std::vector<int64_t>& values, int64_t limit);

}  // namespace tilewright
