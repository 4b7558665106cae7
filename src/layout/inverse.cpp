// Inverses and complements. As in algebra.cpp: a closed rule first, then, where the domain is small, a complete search.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "layout/arith.h"
#include "layout/digits.h"
#include "layout/fit.h"
#include "layout/partial.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

std::string refusal(const char* operation, const std::string& why) {
  return fmt::format("{} is not expressible by modes: {}", operation, why);
}

/// Points per element of `box`, with the offset in elements.
Coord inverse_shape(const Layout& l, const Point& box) {
  Coord shape;
  for (Dim d : {Dim::block, Dim::group, Dim::thread})
    if (box[d] > 1) shape.push_back(box[d]);
  shape.push_back(box.offset / l.element_bits());
  return shape;
}

Coord inverse_coordinate(const Layout& l, const Point& box, const Point& p) {
  Coord x;
  for (Dim d : {Dim::block, Dim::group, Dim::thread})
    if (box[d] > 1) x.push_back(p[d]);
  x.push_back(p.offset / l.element_bits());
  return x;
}

struct Sorted {
  int64_t stride, extent, weight;
  bool cut;
};

/// The digits along `dim` by rising stride. False when some digit drives several dimensions.
bool digits_along(const Layout& l, Dim dim, int64_t unit, std::vector<Sorted>& out) {
  for (const Digit& d : linear_digits(l)) {
    Dim only = Dim::offset;
    if (d.stride == Point{}) continue;
    if (!single_dim(d.stride, only)) return false;
    if (only == dim) out.push_back({d.stride[dim] / unit, d.extent, d.weight, d.cut});
  }
  std::sort(out.begin(), out.end(), [](const Sorted& a, const Sorted& b) { return a.stride < b.stride; });
  return true;
}

bool has_zero_digit(const Layout& l) {
  for (const Digit& d : linear_digits(l))
    if (d.stride == Point{} && d.weight != 0) return true;
  return false;
}

/// The inverse digit by digit: along each dimension the strides must divide one another with room for the digits
/// between. `exact`: no holes either.
bool invert_digits(const Layout& l, const Point& box, bool exact, Layout& result) {
  if (l.is_table() || l.swizzle().bits > 0 || l.base() != Point{}) return false;
  std::vector<Axis> axes;
  for (Dim dim : kDims) {
    int64_t unit = dim == Dim::offset ? l.element_bits() : 1;
    int64_t extent = box[dim] / unit;
    std::vector<Sorted> digits;
    if (!digits_along(l, dim, unit, digits)) return false;
    if (extent == 1 && dim != Dim::offset) continue;
    Axis axis({}, extent);
    int64_t reach = 1;  // strides below are covered
    for (size_t k = 0; k < digits.size(); ++k) {
      const Sorted& d = digits[k];
      if (d.stride % reach != 0 || (exact && (d.stride != reach || d.cut))) return false;
      if (k == 0 && d.stride > 1) axis.modes.push_back({d.stride, {}});
      int64_t radix = ceil_div(extent, d.stride);
      if (k + 1 < digits.size()) {
        radix = digits[k + 1].stride / d.stride;
        if (digits[k + 1].stride % d.stride != 0 || radix < d.extent) return false;
      }
      axis.modes.push_back({radix, {0, 0, 0, d.weight}});
      reach = d.stride;
      if (exact) reach = d.stride * d.extent;
    }
    if (digits.empty()) axis.modes.push_back({extent, {}});
    std::reverse(axis.modes.begin(), axis.modes.end());
    axes.push_back(std::move(axis));
  }
  result = Layout::from_modes(1, std::move(axes));
  return true;
}

/// Whether the images fill the box by digits alone; false = not proved.
bool digits_fill_box(const Layout& l) {
  Layout ignored;
  return invert_digits(l, l.box(), true, ignored);
}

bool small(const Point& box, int64_t element_bits) {
  int64_t n = 1;
  for (int64_t v : {box.block, box.group, box.thread, box.offset / element_bits})
    if (__builtin_mul_overflow(n, v, &n) || n > kSearchLimit) return false;
  return true;
}

bool small_layout(const Layout& l, const Point& box) {
  int64_t n;
  return !__builtin_mul_overflow(l.size(), l.replicas(), &n) && n <= kSearchLimit && small(box, l.element_bits());
}

/// Linear index of every point of the box that is an image, -1 elsewhere; the smallest of several.
std::vector<int64_t> index_of_points(const Layout& l, const Point& box) {
  Coord shape = inverse_shape(l, box);
  std::vector<int64_t> index(static_cast<size_t>(Layout::shape_size(shape)), -1);
  std::vector<Point> images = all_images(l);
  for (size_t i = 0; i < images.size(); ++i) {
    Coord x = inverse_coordinate(l, box, images[i]);
    int64_t at = 0;
    for (size_t a = 0; a < shape.size(); ++a) at = at * shape[a] + x[a];
    int64_t& slot = index[static_cast<size_t>(at)];
    if (slot < 0) slot = static_cast<int64_t>(i) / l.replicas();
  }
  return index;
}

std::string point_text(const Coord& shape, int64_t at) {
  Coord x(shape.size());
  for (size_t a = shape.size(); a-- > 0;) {
    x[a] = at % shape[a];
    at /= shape[a];
  }
  return to_text(x);
}

LayoutResult fit_index(const char* operation, const Coord& shape, const std::vector<int64_t>& index) {
  std::vector<Point> points;
  for (int64_t v : index) points.push_back({0, 0, 0, v});
  LayoutResult fitted = fit_points(1, shape, points, 1);
  if (!fitted) return LayoutResult::refuse(refusal(operation, fitted.reason()));
  return fitted;
}

LayoutResult too_large(const char* operation) {
  return LayoutResult::refuse(refusal(
      operation,
      fmt::format("strides do not divide one another, and more than {} points were not searched", kSearchLimit)));
}

}  // namespace

Coord inverse_coordinate(const Layout& layout, const Point& p) { return inverse_coordinate(layout, layout.box(), p); }

bool Layout::is_injective() const {
  if (!is_table() && !has_zero_digit(*this)) {
    bool nested = true;  // each digit steps over all smaller ones: no two sums agree
    for (Dim dim : kDims) {
      std::vector<Sorted> digits;
      nested = nested && digits_along(*this, dim, 1, digits);
      int64_t reach = 0;
      for (const Sorted& d : digits) {
        nested = nested && d.stride > reach;
        reach += (d.extent - 1) * d.stride;
      }
    }
    if (nested) return true;
  }
  std::vector<Point> images = all_images(*this);
  std::vector<std::pair<Point, int64_t>> owners;
  for (size_t i = 0; i < images.size(); ++i) owners.push_back({images[i], static_cast<int64_t>(i) / replicas()});
  std::sort(owners.begin(), owners.end());
  for (size_t i = 0; i + 1 < owners.size(); ++i)
    if (owners[i].first == owners[i + 1].first && owners[i].second != owners[i + 1].second) return false;
  return true;
}

bool Layout::covers(const Point& extent) const {
  Point whole = box();
  if (extent.block > whole.block || extent.group > whole.group || extent.thread > whole.thread ||
      extent.offset > whole.offset)
    return false;
  if (extent == whole && digits_fill_box(*this)) return true;
  std::vector<Point> images = all_images(*this);
  std::sort(images.begin(), images.end());
  images.erase(std::unique(images.begin(), images.end()), images.end());
  int64_t inside = 0;
  for (const Point& p : images)
    if (p.block < extent.block && p.group < extent.group && p.thread < extent.thread && p.offset < extent.offset)
      ++inside;
  int64_t wanted = ceil_div(std::max<int64_t>(extent.offset, 0), element_bits_);
  for (int64_t v : {extent.block, extent.group, extent.thread})
    if (__builtin_mul_overflow(wanted, std::max<int64_t>(v, 0), &wanted)) return false;
  return inside == wanted;
}

LayoutResult right_inverse(const Layout& l) {
  Point box = l.box();
  Layout result;
  if (invert_digits(l, box, true, result)) return result;
  Coord shape = inverse_shape(l, box);
  if (!small_layout(l, box)) {
    int64_t points, images = l.size() * l.replicas();
    bool more = __builtin_mul_overflow(box.block, box.group, &points) ||
                __builtin_mul_overflow(points, box.thread, &points) ||
                __builtin_mul_overflow(points, box.offset / l.element_bits(), &points) || points > images;
    if (!more) return too_large("right inverse");
    return LayoutResult::refuse(
        refusal("right inverse", fmt::format("{} images do not fill the box {}", images, to_text(shape))));
  }
  std::vector<int64_t> index = index_of_points(l, box);
  for (size_t i = 0; i < index.size(); ++i)
    if (index[i] < 0)
      return LayoutResult::refuse(
          refusal("right inverse", fmt::format("no coordinate reaches the point {} of the box {}",
                                               point_text(shape, static_cast<int64_t>(i)), to_text(shape))));
  return fit_index("right inverse", shape, index);
}

LayoutResult left_inverse(const Layout& l) {
  Point box = l.box();
  Layout result;
  if (!has_zero_digit(l) && invert_digits(l, box, false, result)) return result;
  if (!small_layout(l, box)) return too_large("left inverse");
  if (!l.is_injective()) return LayoutResult::refuse(refusal("left inverse", "two coordinates share an image"));
  Coord shape = inverse_shape(l, box);
  std::vector<int64_t> index = index_of_points(l, box);
  if (std::find(index.begin(), index.end(), -1) == index.end()) return fit_index("left inverse", shape, index);
  return fit_partial("left inverse", shape, index, l.size());
}

LayoutResult complement(const Layout& l, int64_t n, Dim dim) {
  if (n < 1) throw UserError({}, fmt::format("complement: up to {}; wanted 1 or more", n));
  int64_t unit = dim == Dim::offset ? l.element_bits() : 1;
  auto mode = [&](int64_t extent, int64_t stride) {
    Mode m{extent, {}};
    m.stride[dim] = checked_mul(stride, unit);
    return m;
  };
  std::vector<Sorted> digits;
  if (!l.is_table() && l.swizzle().bits == 0 && l.base() == Point{} && !has_zero_digit(l) &&
      digits_along(l, dim, unit, digits)) {
    Axis axis({}, 0);
    int64_t reach = 1;
    bool closed = true;
    for (const Sorted& d : digits) {
      closed = closed && d.stride % reach == 0 && !d.cut;
      if (!closed) break;
      if (d.stride > reach) axis.modes.push_back(mode(d.stride / reach, reach));
      reach = checked_mul(d.stride, d.extent);
    }
    if (closed && n % reach == 0) {
      if (n > reach) axis.modes.push_back(mode(n / reach, reach));
      std::reverse(axis.modes.begin(), axis.modes.end());
      return Layout::from_modes(l.element_bits(), {std::move(axis)});
    }
  }
  int64_t count = checked_mul(l.size(), l.replicas());
  if (n > kSearchLimit || count > kSearchLimit) return too_large("complement");
  // Greedy: the smallest value that is not covered must be the next value of the complement.
  std::vector<int64_t> values;
  bool alone = true;  // a layout that also drives other dimensions is taken as the set of its values along `dim`
  for (Dim d : kDims) alone = alone && (d == dim || !l.uses(d));
  for (const Point& p : all_images(l)) values.push_back(p[dim] / unit);
  if (!alone) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  std::vector<bool> covered(static_cast<size_t>(n), false);
  std::vector<Point> starts;
  for (int64_t v = 0; v < n; ++v) {
    if (covered[static_cast<size_t>(v)]) continue;
    Point start;
    start[dim] = v * unit;
    starts.push_back(start);
    for (int64_t a : values) {
      if (v + a >= n || covered[static_cast<size_t>(v + a)])
        return LayoutResult::refuse(
            refusal("complement",
                    fmt::format("a copy of the layout that starts at {} {} at {}", v,
                                v + a >= n ? fmt::format("leaves 0..{}", n - 1) : "overlaps another one", v + a)));
      covered[static_cast<size_t>(v + a)] = true;
    }
    if (!covered[static_cast<size_t>(v)])
      return LayoutResult::refuse(refusal("complement", "the layout does not reach 0"));
  }
  Coord shape{static_cast<int64_t>(starts.size())};
  LayoutResult fitted = fit_points(l.element_bits(), shape, starts, 1);
  if (!fitted) return LayoutResult::refuse(refusal("complement", fitted.reason()));
  return fitted;
}

}  // namespace tilewright
