#pragma once
// Views of a layout that the algebra shares: its images one by one, and its digits with their weight in the linear
// index.
#include <string>
#include <vector>

#include "tilewright/layout.h"

namespace tilewright {

inline constexpr Dim kDims[] = {Dim::block, Dim::group, Dim::thread, Dim::offset};

/// Most images that one question may enumerate.
inline constexpr int64_t kEnumerationLimit = int64_t{1} << 22;

/// Every image, replicas of a coordinate together, in linear order. UserError above kEnumerationLimit.
std::vector<Point> all_images(const Layout& layout);

/// The largest sum of digit * stride[dim] over the logical coordinates of one axis.
int64_t axis_maximum(const Axis& axis, Dim dim);

/// Modes with the same values below `extent` of the padded domain: none of extent 1, no two that merge, least
/// significant digit first.
std::vector<Mode> merged_digits(const std::vector<Mode>& modes);

/// A digit of the linear index (replicas have weight 0).
struct Digit {
  int64_t extent;  // values that logical coordinates reach
  Point stride;
  int64_t weight;    // of the linear index
  bool cut = false;  // the top digit of a padded axis: not every combination with the digits below it occurs
};
/// Digits of a layout of modes that logical coordinates reach, extent 2 and more. The base and the XOR are not in them.
std::vector<Digit> linear_digits(const Layout& layout);

/// Proves that the XOR of the layout permutes [0, cosize) so that the box is the box without it. False = not proved.
bool swizzle_keeps_box(const Layout& layout);

/// The single dimension that a stride drives; false when it drives none or several.
bool single_dim(const Point& stride, Dim& dim);

std::string to_text(const Point& p, int64_t element_bits);
std::string to_text(const Coord& x);

}  // namespace tilewright
