#pragma once
// Finding modes for a function that is known at every coordinate.
#include "tilewright/layout.h"

namespace tilewright {

/// Modes (and, where no modes alone do, modes under one XOR) that give `points`: every coordinate in linear order,
/// `replicas` images each, offsets in bits. Complete: a refusal means that no modes and no XOR below the top bit of the
/// largest offset express the function; the reason names the first coordinate at which modes alone fail.
LayoutResult fit_points(int64_t element_bits, const Coord& shape, const std::vector<Point>& points, int64_t replicas);

/// Digits, most significant first, of a function of one coordinate given at 0 .. n - 1; values[0] is the base.
bool fit_axis(const std::vector<Point>& values, std::vector<Mode>& modes, int64_t& failed_at);

}  // namespace tilewright
