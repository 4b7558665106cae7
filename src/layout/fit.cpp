#include "layout/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "layout/arith.h"
#include "layout/digits.h"

namespace tilewright {
namespace {

// Wrapping arithmetic: a candidate sum that leaves int64 is negative and equals no image.
int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrap_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Point minus(const Point& a, const Point& b) {
  return {a.block - b.block, a.group - b.group, a.thread - b.thread, a.offset - b.offset};
}
Point plus(const Point& a, const Point& b) {
  return {wrap_add(a.block, b.block), wrap_add(a.group, b.group), wrap_add(a.thread, b.thread),
          wrap_add(a.offset, b.offset)};
}
bool negative(const Point& p) { return p.block < 0 || p.group < 0 || p.thread < 0 || p.offset < 0; }

/// One attempt under a fixed XOR (an involution, so undoing it is applying it). `why` is filled when asked for. With
/// `replicated`, the last axis of `shape` counts replicas, whose digits cannot be padded.
bool attempt(int64_t element_bits, const Coord& shape, bool replicated, const std::vector<Point>& points,
             const Xor& swizzle, std::string* why, Layout& result) {
  auto value = [&](int64_t i) {
    Point p = points[static_cast<size_t>(i)];
    if (swizzle.bits > 0) p.offset = swizzle.apply(p.offset);
    return p;
  };
  Point base = value(0);
  std::vector<Axis> axes(shape.size());
  std::vector<std::vector<Point>> along(shape.size());  // images relative to the base
  int64_t weight = 1;
  for (size_t a = shape.size(); a-- > 0;) {
    for (int64_t x = 0; x < shape[a]; ++x) along[a].push_back(minus(value(x * weight), base));
    int64_t failed = 0;
    if (!fit_axis(along[a], axes[a].modes, failed)) {
      if (why) {
        Coord x(shape.size(), 0);
        x[a] = failed;
        *why = fmt::format(
            "coordinate {} maps to {}, which no digit of axis {} with a constant stride of 0 or more explains",
            to_text(x), to_text(value(failed * weight), element_bits), a);
      }
      return false;
    }
    axes[a].extent = shape[a];
    if (replicated && a + 1 == shape.size() && axes[a].is_padded()) {
      if (why) *why = fmt::format("the {} replicas are no whole number of digits", shape[a]);
      return false;
    }
    weight *= shape[a];
  }
  Coord x = Layout::first_coordinate(shape);
  int64_t i = 0;
  do {
    Point expected = base;
    for (size_t a = 0; a < shape.size(); ++a) expected = plus(expected, along[a][static_cast<size_t>(x[a])]);
    if (expected != value(i)) {
      if (why)
        *why = fmt::format("coordinate {} maps to {}, but its axes one by one add up to {}", to_text(x),
                           to_text(value(i), element_bits), to_text(expected, element_bits));
      return false;
    }
    ++i;
  } while (Layout::next_coordinate(shape, x));
  result = Layout::from_modes(element_bits, std::move(axes), {}, base, swizzle);
  return true;
}

/// The last axis of a fitted layout becomes its replication.
Layout last_axis_replicates(const Layout& l) {
  std::vector<Axis> axes = l.axes();
  std::vector<Mode> replication = std::move(axes.back().modes);
  axes.pop_back();
  return Layout::from_modes(l.element_bits(), std::move(axes), std::move(replication), l.base(), l.swizzle());
}

}  // namespace

bool fit_axis(const std::vector<Point>& values, std::vector<Mode>& modes, int64_t& failed_at) {
  // In the form without mergeable digits the first radix is the length of the first run of constant stride, so the
  // digits are found one by one and are unique.
  modes.clear();
  int64_t n = static_cast<int64_t>(values.size());
  int64_t weight = 1;
  while (weight < n) {
    Point stride = minus(values[static_cast<size_t>(weight)], values[0]);
    if (negative(stride)) {
      failed_at = weight;
      return false;
    }
    int64_t count = 1;
    Point reached = stride;
    while (count * weight < n && minus(values[static_cast<size_t>(count * weight)], values[0]) == reached) {
      ++count;
      reached = plus(reached, stride);
    }
    modes.insert(modes.begin(), {count, stride});
    weight *= count;
  }
  for (int64_t x = 0; x < n; ++x) {
    Point p = values[0];
    int64_t v = x;
    for (size_t k = modes.size(); k-- > 0;) {
      int64_t d = v % modes[k].extent;
      v /= modes[k].extent;
      for (Dim dim : kDims) p[dim] = wrap_add(p[dim], wrap_mul(d, modes[k].stride[dim]));
    }
    if (p != values[static_cast<size_t>(x)]) {
      failed_at = x;
      return false;
    }
  }
  return true;
}

LayoutResult fit_points(int64_t element_bits, const Coord& shape, const std::vector<Point>& points, int64_t replicas) {
  Coord domain = shape;
  if (replicas > 1) domain.push_back(replicas);
  auto finish = [&](const Layout& l) { return replicas > 1 ? last_axis_replicates(l) : l; };
  std::string why;
  Layout fitted;
  if (attempt(element_bits, domain, replicas > 1, points, {}, &why, fitted)) return finish(fitted);
  int64_t largest = 0;
  for (const Point& p : points) largest = std::max(largest, p.offset);
  int width = std::bit_width(static_cast<uint64_t>(largest));
  int lowest = std::bit_width(static_cast<uint64_t>(element_bits)) - 1;
  if (!std::has_single_bit(static_cast<uint64_t>(element_bits))) lowest = width;
  for (int bits = width / 2; bits >= 1; --bits)
    for (int to = lowest; to + bits <= width; ++to)
      for (int from = lowest; from + bits <= width; ++from) {
        if (std::max(to, from) - std::min(to, from) < bits) continue;
        if (attempt(element_bits, domain, replicas > 1, points, {bits, to, from}, nullptr, fitted))
          return finish(fitted);
      }
  return LayoutResult::refuse(why);
}

Layout Layout::from_points(int64_t element_bits, const Coord& shape, std::vector<Point> points, int64_t replicas) {
  Layout table = from_table(element_bits, shape, std::move(points), replicas);  // checks its arguments
  LayoutResult fitted = fit_points(element_bits, shape, table.table(), replicas);
  return fitted ? *fitted : table;
}

}  // namespace tilewright
