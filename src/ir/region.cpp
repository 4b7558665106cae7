#include "ir/region.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ir/build.h"

namespace tilewright::ir {

int64_t element_count(const Buffer& tile) {
  int64_t count = 1, extent = 0;
  for (const Expr& e : tile.shape) {
    TW_CHECK(is_constant(e, &extent), fmt::format("{}: an extent of a tile is not a constant", tile.name));
    TW_CHECK(!__builtin_mul_overflow(count, extent, &count), fmt::format("{}: a tile beyond 64 bits", tile.name));
  }
  return count;
}

std::vector<size_t> loop_axes(const Region& region) {
  std::vector<size_t> axes;
  for (size_t d = 0; d < region.extent.size(); ++d)
    if (!is_constant_equal(region.extent[d], 1)) axes.push_back(d);
  return axes;
}

}  // namespace tilewright::ir
