#include "tilewright/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "layout/arith.h"
#include "layout/digits.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr int kMaxXorBit = 62;

Point scaled(const Point& p, int64_t factor) {
  return {checked_mul(p.block, factor), checked_mul(p.group, factor), checked_mul(p.thread, factor),
          checked_mul(p.offset, factor)};
}

Point sum(const Point& a, const Point& b) {
  return {checked_add(a.block, b.block), checked_add(a.group, b.group), checked_add(a.thread, b.thread),
          checked_add(a.offset, b.offset)};
}

void check_point(const Point& p, int64_t element_bits, const char* what) {
  if (p.block < 0 || p.group < 0 || p.thread < 0 || p.offset < 0)
    throw UserError({}, fmt::format("layout: a {} is negative; strides, places and offsets are 0 or more", what));
  if (p.offset % element_bits != 0)
    throw UserError({}, fmt::format("layout: a {} of {} bits is no multiple of the element's {} bits", what, p.offset,
                                    element_bits));
}

/// The largest image of the padded modes, with every overflow reported.
Point check_modes(const std::vector<Mode>& modes, int64_t element_bits, Point largest, int64_t& radices) {
  radices = 1;
  for (const Mode& m : modes) {
    if (m.extent < 1) throw UserError({}, fmt::format("layout: a mode has extent {}; it must be 1 or more", m.extent));
    check_point(m.stride, element_bits, "stride");
    radices = checked_mul(radices, m.extent);
    largest = sum(largest, scaled(m.stride, m.extent - 1));
  }
  return largest;
}

bool is_power_of_two(int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

void check_swizzle(const Xor& x, int64_t element_bits) {
  if (x.bits == 0) return;
  if (x.bits < 0 || x.to < 0 || x.from < 0 || std::max(x.to, x.from) + x.bits > kMaxXorBit)
    throw UserError({}, fmt::format("layout: xor of {} bits to {} from {}: bits must lie in 0..{}", x.bits, x.to,
                                    x.from, kMaxXorBit - 1));
  if (std::max(x.to, x.from) - std::min(x.to, x.from) < x.bits)
    throw UserError({},
                    fmt::format("layout: xor of {} bits: the ranges at {} and at {} overlap", x.bits, x.to, x.from));
  if (!is_power_of_two(element_bits) || (int64_t{1} << x.to) < element_bits)
    throw UserError(
        {}, fmt::format("layout: xor at bit {} would split an element of {} bits; wanted a power of two and bits "
                        "above the element's",
                        x.to, element_bits));
}

}  // namespace

void throw_not_expressible(const std::string& reason) { throw UserError({}, reason); }

int64_t& Point::operator[](Dim d) {
  switch (d) {
    case Dim::block:
      return block;
    case Dim::group:
      return group;
    case Dim::thread:
      return thread;
    default:
      return offset;
  }
}

int64_t Point::operator[](Dim d) const { return const_cast<Point&>(*this)[d]; }

int64_t Axis::padded_extent() const {
  int64_t n = 1;
  for (const Mode& m : modes) n = checked_mul(n, m.extent);
  return std::max(n, extent);
}

Layout Layout::from_modes(int64_t element_bits, std::vector<Axis> axes, std::vector<Mode> replication, Point base,
                          Xor swizzle) {
  if (element_bits < 1)
    throw UserError({}, fmt::format("layout: an element of {} bits; wanted 1 or more", element_bits));
  check_point(base, element_bits, "base");
  Point largest = base;
  int64_t radices = 1, total = 1, padded_total = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = axes[i];
    largest = check_modes(axis.modes, element_bits, largest, radices);
    if (axis.extent == 0) axis.extent = radices;
    if (axis.extent < 1 || axis.extent > radices)
      throw UserError({},
                      fmt::format("layout: axis {} has extent {} but its radices reach {}", i, axis.extent, radices));
    total = checked_mul(total, axis.extent);
    padded_total = checked_mul(padded_total, radices);
  }
  largest = sum(check_modes(replication, element_bits, largest, radices), {1, 1, 1, element_bits});
  (void)checked_mul(total, radices);
  check_swizzle(swizzle, element_bits);
  if (swizzle.bits > 0 && largest.offset >= (int64_t{1} << kMaxXorBit))
    throw UserError({}, "layout: an offset under an xor must stay below 2^62 bits");
  Layout l;
  l.element_bits_ = element_bits;
  l.axes_ = std::move(axes);
  l.replication_ = std::move(replication);
  l.base_ = base;
  l.xor_ = swizzle.bits > 0 ? swizzle : Xor{};
  return l;
}

Layout Layout::from_table(int64_t element_bits, Coord shape, std::vector<Point> points, int64_t replicas) {
  if (element_bits < 1)
    throw UserError({}, fmt::format("layout: an element of {} bits; wanted 1 or more", element_bits));
  int64_t wanted = checked_mul(shape_size(shape), replicas);
  if (replicas < 1 || wanted != static_cast<int64_t>(points.size()))
    throw UserError({}, fmt::format("layout: a table of {} coordinates with {} replicas needs {} points but has {}",
                                    shape_size(shape), replicas, wanted, points.size()));
  for (const Point& p : points) {
    check_point(p, element_bits, "point");
    (void)sum(p, {1, 1, 1, element_bits});
  }
  Layout l;
  l.element_bits_ = element_bits;
  for (int64_t extent : shape) l.axes_.push_back(Axis({}, extent));
  l.table_ = std::move(points);
  l.table_replicas_ = replicas;
  return l;
}

Layout Layout::with_replication(std::vector<Mode> modes) const {
  if (is_table()) throw UserError({}, "layout: a table takes its replicas when it is made");
  for (Mode& m : modes) m.stride.offset = checked_mul(m.stride.offset, element_bits_);
  return from_modes(element_bits_, axes_, std::move(modes), base_, xor_);
}

Layout Layout::with_base(Point base) const {
  if (is_table()) throw UserError({}, "layout: a table takes its base when it is made");
  return from_modes(element_bits_, axes_, replication_, base, xor_);
}

Layout Layout::with_swizzle(Xor swizzle) const {
  if (is_table()) throw UserError({}, "layout: a table takes its swizzle when it is made");
  return from_modes(element_bits_, axes_, replication_, base_, swizzle);
}

Layout Layout::with_extent(int64_t axis, int64_t extent) const {
  if (is_table()) throw UserError({}, "layout: a table has no padding to change");
  if (axis < 0 || axis >= rank())
    throw UserError({}, fmt::format("layout: axis {} of a layout of rank {}", axis, rank()));
  if (extent < 1) throw UserError({}, fmt::format("layout: extent {}; wanted 1 or more", extent));
  std::vector<Axis> axes = axes_;
  axes[static_cast<size_t>(axis)].extent = extent;
  return from_modes(element_bits_, std::move(axes), replication_, base_, xor_);
}

Coord Layout::shape() const {
  Coord s;
  for (const Axis& a : axes_) s.push_back(a.extent);
  return s;
}

int64_t Layout::size() const {
  int64_t n = 1;
  for (const Axis& a : axes_) n *= a.extent;
  return n;
}

int64_t Layout::replicas() const {
  if (is_table()) return table_replicas_;
  int64_t n = 1;
  for (const Mode& m : replication_) n *= m.extent;
  return n;
}

int64_t Layout::shape_size(const Coord& shape) {
  int64_t n = 1;
  for (int64_t extent : shape) {
    if (extent < 1) throw UserError({}, fmt::format("layout: an axis of extent {}; wanted 1 or more", extent));
    n = checked_mul(n, extent);
  }
  return n;
}

bool Layout::next_coordinate(const Coord& shape, Coord& x) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++x[i] < shape[i]) return true;
    x[i] = 0;
  }
  return false;
}

Point Layout::raw(const Coord& x, int64_t replica) const {
  if (is_table()) {
    int64_t index = 0;
    for (size_t i = 0; i < axes_.size(); ++i) index = index * axes_[i].extent + x[i];
    return table_[static_cast<size_t>(index * table_replicas_ + replica)];
  }
  Point p = base_;
  auto add_digits = [&p](const std::vector<Mode>& modes, int64_t v) {
    for (size_t k = modes.size(); k-- > 0;) {
      const Mode& m = modes[k];
      int64_t d = v % m.extent;
      v /= m.extent;
      p.block += d * m.stride.block;
      p.group += d * m.stride.group;
      p.thread += d * m.stride.thread;
      p.offset += d * m.stride.offset;
    }
  };
  for (size_t i = 0; i < axes_.size(); ++i) add_digits(axes_[i].modes, x[i]);
  add_digits(replication_, replica);
  if (xor_.bits > 0) p.offset = xor_.apply(p.offset);
  return p;
}

Point Layout::at(const Coord& x, int64_t replica) const {
  if (static_cast<int64_t>(x.size()) != rank())
    throw UserError({}, fmt::format("layout: a coordinate of {} axes for a layout of rank {}", x.size(), rank()));
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] < 0 || x[i] >= axes_[i].extent)
      throw UserError({},
                      fmt::format("layout: coordinate {} of axis {} is outside 0..{}", x[i], i, axes_[i].extent - 1));
  if (replica < 0 || replica >= replicas())
    throw UserError({}, fmt::format("layout: replica {} of a layout with {}", replica, replicas()));
  return raw(x, replica);
}

Point Layout::at_index(int64_t index, int64_t replica) const { return at(coordinate(index), replica); }

std::vector<Point> Layout::images(const Coord& x) const {
  std::vector<Point> result;
  for (int64_t r = 0; r < replicas(); ++r) result.push_back(at(x, r));
  return result;
}

int64_t Layout::linear_index(const Coord& x) const {
  (void)at(x);
  int64_t index = 0;
  for (size_t i = 0; i < axes_.size(); ++i) index = index * axes_[i].extent + x[i];
  return index;
}

Coord Layout::coordinate(int64_t index) const {
  if (index < 0 || index >= size())
    throw UserError({}, fmt::format("layout: linear index {} of a layout with {} coordinates", index, size()));
  Coord x(axes_.size());
  for (size_t i = axes_.size(); i-- > 0;) {
    x[i] = index % axes_[i].extent;
    index /= axes_[i].extent;
  }
  return x;
}

Point Layout::box() const {
  Point largest = base_;
  if (is_table() || (xor_.bits > 0 && !swizzle_keeps_box(*this))) {
    largest = {};
    for (const Point& p : all_images(*this))
      largest = {std::max(largest.block, p.block), std::max(largest.group, p.group), std::max(largest.thread, p.thread),
                 std::max(largest.offset, p.offset)};
  } else {
    for (Dim d : kDims) {
      for (const Axis& a : axes_) largest[d] += axis_maximum(a, d);
      for (const Mode& m : replication_) largest[d] += (m.extent - 1) * m.stride[d];
    }
  }
  return {largest.block + 1, largest.group + 1, largest.thread + 1, largest.offset + element_bits_};
}

Layout Layout::padded() const {
  Layout l = *this;
  if (!is_table())
    for (Axis& a : l.axes_) a.extent = a.padded_extent();
  return l;
}

Layout Layout::slice(int64_t axis, int64_t coordinate) const {
  if (axis < 0 || axis >= rank())
    throw UserError({}, fmt::format("slice: axis {} of a layout of rank {}", axis, rank()));
  size_t i = static_cast<size_t>(axis);
  if (coordinate < 0 || coordinate >= axes_[i].extent)
    throw UserError(
        {}, fmt::format("slice: coordinate {} of axis {} is outside 0..{}", coordinate, axis, axes_[i].extent - 1));
  Layout l = *this;
  l.axes_.erase(l.axes_.begin() + static_cast<std::ptrdiff_t>(i));
  if (!is_table()) {
    Layout plain = *this;
    plain.xor_ = {};
    Coord x(axes_.size(), 0);
    x[i] = coordinate;
    l.base_ = plain.raw(x, 0);
    return l;
  }
  l.table_.clear();
  Coord all = shape(), x = first_coordinate(all);
  do
    if (x[i] == coordinate)
      for (int64_t r = 0; r < table_replicas_; ++r) l.table_.push_back(raw(x, r));
  while (next_coordinate(all, x));
  return l;
}

Layout Layout::permute(const Coord& order) const {
  std::vector<bool> seen(axes_.size(), false);
  bool good = order.size() == axes_.size();
  for (size_t i = 0; good && i < order.size(); ++i) {
    good = order[i] >= 0 && order[i] < rank() && !seen[static_cast<size_t>(order[i])];
    if (good) seen[static_cast<size_t>(order[i])] = true;
  }
  if (!good) throw UserError({}, fmt::format("permute: [{}] is no order of {} axes", fmt::join(order, ", "), rank()));
  Layout l = *this;
  for (size_t i = 0; i < order.size(); ++i) l.axes_[i] = axes_[static_cast<size_t>(order[i])];
  if (!is_table()) return l;
  l.table_.clear();
  Coord all = l.shape(), x = first_coordinate(all), source(order.size());
  do {
    for (size_t i = 0; i < order.size(); ++i) source[static_cast<size_t>(order[i])] = x[i];
    for (int64_t r = 0; r < table_replicas_; ++r) l.table_.push_back(raw(source, r));
  } while (next_coordinate(all, x));
  return l;
}

Layout Layout::transpose() const {
  if (rank() != 2) throw UserError({}, fmt::format("transpose: wanted a layout of rank 2, got rank {}", rank()));
  return permute({1, 0});
}

uint64_t Layout::hash() const { return hash_bytes(to_string(*this)); }

Layout make_layout(int64_t element_bits, std::vector<Axis> axes) {
  for (Axis& a : axes)
    for (Mode& m : a.modes) m.stride.offset = checked_mul(m.stride.offset, element_bits);
  return Layout::from_modes(element_bits, std::move(axes));
}

namespace {
Layout compact(const Coord& shape, int64_t element_bits, bool last_fastest) {
  std::vector<Axis> axes(shape.size());
  int64_t stride = 1;
  (void)Layout::shape_size(shape);
  for (size_t k = 0; k < shape.size(); ++k) {
    size_t i = last_fastest ? shape.size() - 1 - k : k;
    axes[i] = Mode::memory(shape[i], stride);
    stride *= shape[i];
  }
  return make_layout(element_bits, std::move(axes));
}
}  // namespace

Layout row_major(const Coord& shape, int64_t element_bits) { return compact(shape, element_bits, true); }
Layout col_major(const Coord& shape, int64_t element_bits) { return compact(shape, element_bits, false); }

}  // namespace tilewright
