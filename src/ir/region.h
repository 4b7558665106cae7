#pragma once
// Facts about the extents of buffers and regions.
#include <vector>

#include "ir/nodes.h"

namespace tilewright::ir {

/// The number of elements of a tile, whose extents are constants.
int64_t element_count(const Buffer& tile);

/// The axes of a region whose extent is not the constant 1: the axes that a loop runs over.
std::vector<size_t> loop_axes(const Region& region);

}  // namespace tilewright::ir
