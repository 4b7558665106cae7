#pragma once
// How the warps of a block share a gemm that a matrix unit does. Internal to src/pass.
#include <optional>

#include "machine/caps.h"
#include "pass/distribution.h"

namespace tilewright {

/// The warps lie in `row_warps` x `column_warps` over c; each has `row_tiles` x `column_tiles` tiles of the unit, one
/// beside the other, and goes through k in `steps`.
struct UnitTiling {
  int64_t row_warps = 1, column_warps = 1, row_tiles = 1, column_tiles = 1, steps = 1;
  bool operator==(const UnitTiling&) const = default;
};

/// The elements that one call of a matrix unit takes or gives.
struct UnitShape {
  int64_t m, n, k;
  explicit UnitShape(const MatrixUnit& unit);
};

/// A tiling of c (m, n) += a (m, k) b (k, n) over whole tiles of the unit and all warps, that reads the least of a and
/// b; `whole_rows`: one warp has all of a row where that is possible.
std::optional<UnitTiling> tile_unit(const MatrixUnit& unit, int64_t m, int64_t n, int64_t k, int64_t warps,
                                    bool whole_rows);

/// Where c lies, and where a does when its fragments are held in registers.
Distribution accumulator_of(const MatrixUnit& unit, const UnitTiling& tiling, int64_t lanes);
Distribution operand_a_of(const MatrixUnit& unit, const UnitTiling& tiling, int64_t lanes);

}  // namespace tilewright
