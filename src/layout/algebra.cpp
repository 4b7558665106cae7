// The algebra on whole layouts: merging, equality, composition, division, product, shapes. Inverses are in inverse.cpp.
//
// Each operation first applies a closed rule that holds at any size, then, where the rule does not apply and the domain
// is small, fits the function point by point. The fit is complete, so a refusal below kSearchLimit points is a proof.
#include <fmt/format.h>

#include <algorithm>

#include "layout/arith.h"
#include "layout/digits.h"
#include "layout/fit.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

Point scaled(const Point& p, int64_t f) {
  return {checked_mul(p.block, f), checked_mul(p.group, f), checked_mul(p.thread, f), checked_mul(p.offset, f)};
}
Point plus(const Point& a, const Point& b) {
  return {checked_add(a.block, b.block), checked_add(a.group, b.group), checked_add(a.thread, b.thread),
          checked_add(a.offset, b.offset)};
}

/// Modes without extents of 1 and mergeable neighbours, most significant first, with the same product of radices.
std::vector<Mode> coalesced(const std::vector<Mode>& modes) {
  std::vector<Mode> out = merged_digits(modes);
  std::reverse(out.begin(), out.end());
  return out;
}

std::string refusal(const char* operation, const std::string& why) {
  return fmt::format("{} is not expressible by modes: {}", operation, why);
}

/// The function of `size` coordinates by points, when that many may be tried.
template <class F>
LayoutResult by_points(const char* operation, int64_t element_bits, const Coord& shape, int64_t replicas,
                       const std::string& rule, F&& image) {
  int64_t count = checked_mul(Layout::shape_size(shape), replicas);
  if (count > kSearchLimit)
    return LayoutResult::refuse(refusal(
        operation,
        fmt::format("{}; {} images are more than {}, so no other form was searched", rule, count, kSearchLimit)));
  std::vector<Point> points;
  points.reserve(static_cast<size_t>(count));
  Coord x = Layout::first_coordinate(shape);
  do
    for (int64_t r = 0; r < replicas; ++r) points.push_back(image(static_cast<const Coord&>(x), r));
  while (Layout::next_coordinate(shape, x));
  LayoutResult fitted = fit_points(element_bits, shape, points, replicas);
  if (!fitted) return LayoutResult::refuse(refusal(operation, fitted.reason()));
  return fitted;
}

void check_index_layout(const char* operation, const Layout& index, int64_t limit) {
  Point box = index.box();
  if (box.block > 1 || box.group > 1 || box.thread > 1 || index.replicas() > 1)
    throw UserError({},
                    fmt::format("{}: {} is no index layout: it has places or replicas", operation, to_string(index)));
  if (index.cosize() > limit)
    throw UserError({}, fmt::format("{}: the index layout {} reaches {}, but the outer layout has {} coordinates",
                                    operation, to_string(index), index.cosize() - 1, limit));
}

/// A digit of the outer layout as composition sees it.
struct Slot {
  int64_t weight;  // in the linear index
  int64_t radix;   // values before a carry
  Point stride;
  size_t axis;
  int64_t in_axis;            // weight inside its axis
  int64_t used = 0;           // largest digit that the index layout reaches
  bool next_follows = false;  // radix * weight is the weight of the next slot
};

class Composer {
 public:
  Composer(const Layout& outer, const Layout& index) : outer_(outer), index_(index) {
    int64_t axis_weight = 1;
    for (size_t a = outer.axes().size(); a-- > 0;) {
      const Axis& axis = outer.axes()[a];
      int64_t below = 1;
      for (const Mode& m : merged_digits(axis.modes)) {
        if (below >= axis.extent) break;
        slots_.push_back({axis_weight * below, std::min(m.extent, ceil_div(axis.extent, below)), m.stride, a, below});
        below *= m.extent;
      }
      axis_weight *= axis.extent;
    }
    for (size_t j = 0; j + 1 < slots_.size(); ++j)
      slots_[j].next_follows = slots_[j].weight * slots_[j].radix == slots_[j + 1].weight;
  }

  /// The composition by carry-free digits; false, with a reason, when the rule does not apply.
  bool run(Layout& result, std::string& why) {
    Point base = outer_.base();
    int64_t rest = index_.base().offset / index_.element_bits();
    for (size_t j = slots_.size(); j-- > 0;) {
      slots_[j].used = rest / slots_[j].weight;
      rest %= slots_[j].weight;
      base = plus(base, scaled(slots_[j].stride, slots_[j].used));
    }
    std::vector<Axis> axes;
    for (const Axis& a : index_.axes()) {
      Axis out({}, a.extent);
      std::vector<Mode> digits = merged_digits(a.modes);
      int64_t below = 1;
      for (const Mode& m : digits) {
        if (below >= a.extent) break;
        int64_t reached = std::min(m.extent, ceil_div(a.extent, below));
        bool top = below * m.extent >= a.extent;
        if (!split(reached, m.stride.offset / index_.element_bits(), top, out.modes, why)) return false;
        below *= m.extent;
      }
      std::reverse(out.modes.begin(), out.modes.end());
      axes.push_back(std::move(out));
    }
    if (!carry_free(why)) return false;
    result = Layout::from_modes(outer_.element_bits(), std::move(axes), outer_.replication(), base, outer_.swizzle());
    return true;
  }

 private:
  /// Appends, least significant first, the digits of `extent` steps of `stride` indices.
  bool split(int64_t extent, int64_t stride, bool top, std::vector<Mode>& out, std::string& why) {
    while (true) {
      if (extent == 1) return true;
      std::vector<std::pair<size_t, int64_t>> steps;  // (slot, digit of the stride), slowest first
      int64_t rest = stride;
      bool free = true;
      Point image;
      for (size_t j = slots_.size(); j-- > 0;) {
        int64_t u = rest / slots_[j].weight;
        rest %= slots_[j].weight;
        if (u == 0) continue;
        steps.push_back({j, u});
        image = plus(image, scaled(slots_[j].stride, u));
        free = free && checked_mul(extent - 1, u) < slots_[j].radix;
      }
      if (free) {
        for (auto [j, u] : steps) slots_[j].used += (extent - 1) * u;
        out.push_back({extent, image});
        return true;
      }
      auto [j, u] = steps.back();
      Slot& slot = slots_[j];
      int64_t part = slot.radix / u;
      if (steps.size() != 1 || slot.radix % u != 0 || part < 2 || !slot.next_follows || (extent % part != 0 && !top)) {
        why = fmt::format("{} steps of {} cross the radix {} of axis {} of the outer layout", extent, stride,
                          slot.radix, slot.axis);
        return false;
      }
      slot.used += (part - 1) * u;
      out.push_back({part, scaled(slot.stride, u)});
      extent = ceil_div(extent, part);
      stride = slot.weight * slot.radix;
    }
  }

  /// No digit of the outer layout overflows into the next one, and no axis leaves its extent.
  bool carry_free(std::string& why) const {
    std::vector<int64_t> reach(outer_.axes().size(), 0);
    for (const Slot& s : slots_) {
      if (s.used >= s.radix) {
        why = fmt::format("digits of the inner layout add up to {} in the radix {} of axis {} of the outer layout",
                          s.used, s.radix, s.axis);
        return false;
      }
      reach[s.axis] += s.used * s.in_axis;
    }
    for (size_t a = 0; a < reach.size(); ++a)
      if (reach[a] >= outer_.axes()[a].extent) {
        why = fmt::format("digits of the inner layout leave axis {} of the outer layout", a);
        return false;
      }
    return true;
  }

  const Layout& outer_;
  const Layout& index_;
  std::vector<Slot> slots_;  // fastest first
};

}  // namespace

Layout coalesce(const Layout& l) {
  if (l.is_table()) return l;
  std::vector<Axis> axes;
  for (const Axis& a : l.axes()) axes.push_back(Axis(coalesced(a.modes), a.extent));
  return Layout::from_modes(l.element_bits(), std::move(axes), coalesced(l.replication()), l.base(), l.swizzle());
}

bool equivalent(const Layout& a, const Layout& b) {
  if (a.shape() != b.shape() || a.element_bits() != b.element_bits()) return false;
  auto reached = [](const Layout& l) {  // the unique form without padding and mergeable digits
    std::vector<Axis> axes;
    for (const Axis& axis : l.axes()) {
      int64_t below = 1;
      Axis out({}, axis.extent);
      for (const Mode& m : merged_digits(axis.modes)) {
        if (below >= axis.extent) break;
        out.modes.push_back({std::min(m.extent, ceil_div(axis.extent, below)), m.stride});
        below *= m.extent;
      }
      axes.push_back(std::move(out));
    }
    return axes;
  };
  if (!a.is_table() && !b.is_table() && a.swizzle() == b.swizzle()) {
    bool same =
        reached(a) == reached(b) && a.base() == b.base() && coalesced(a.replication()) == coalesced(b.replication());
    if (same || (a.swizzle().bits == 0 && a.replication().empty() && b.replication().empty())) return same;
  }
  std::vector<Point> p = all_images(a), q = all_images(b);
  int64_t ra = a.replicas(), rb = b.replicas();
  for (int64_t i = 0; i < a.size(); ++i) {
    auto set = [i](const std::vector<Point>& all, int64_t n) {
      std::vector<Point> s(all.begin() + i * n, all.begin() + (i + 1) * n);
      std::sort(s.begin(), s.end());
      s.erase(std::unique(s.begin(), s.end()), s.end());
      return s;
    };
    if (set(p, ra) != set(q, rb)) return false;
  }
  return true;
}

LayoutResult compose(const Layout& layout, const Layout& index) {
  check_index_layout("compose", index, layout.size());
  std::string why = "an operand is a table";
  Layout result;
  if (!layout.is_table() && !index.is_table()) {
    why = "the inner layout is swizzled";
    if (index.swizzle().bits == 0 && Composer(layout, index).run(result, why)) return result;
  }
  return by_points("composition", layout.element_bits(), index.shape(), layout.replicas(), why,
                   [&](const Coord& x, int64_t r) { return layout.at_index(index.element(x), r); });
}

Layout compose_or_table(const Layout& layout, const Layout& index) {
  if (LayoutResult r = compose(layout, index)) return *r;
  std::vector<Point> points;
  for (const Point& p : all_images(index))
    for (int64_t r = 0; r < layout.replicas(); ++r)
      points.push_back(layout.at_index(p.offset / index.element_bits(), r));
  return Layout::from_table(layout.element_bits(), index.shape(), std::move(points), layout.replicas());
}

LayoutResult divide(const Layout& layout, const Coord& tile) {
  if (static_cast<int64_t>(tile.size()) != layout.rank())
    throw UserError({}, fmt::format("divide: a tile of {} axes for a layout of rank {}", tile.size(), layout.rank()));
  Coord shape = layout.shape(), result_shape;
  for (size_t a = 0; a < tile.size(); ++a) {
    if (tile[a] < 1)
      throw UserError({}, fmt::format("divide: tile extent {} of axis {}; wanted 1 or more", tile[a], a));
    if (shape[a] % tile[a] != 0)
      return LayoutResult::refuse(
          refusal("division",
                  fmt::format("the tile extent {} does not divide the extent {} of axis {}", tile[a], shape[a], a)));
    result_shape.push_back(shape[a] / tile[a]);
  }
  result_shape.insert(result_shape.end(), tile.begin(), tile.end());
  std::string why = layout.is_table() ? "the layout is a table" : "";
  std::vector<Axis> rest, inner;
  for (size_t a = 0; a < tile.size() && why.empty(); ++a) {
    Axis q({}, shape[a] / tile[a]), r({}, tile[a]);
    int64_t below = 1;
    for (const Mode& m : merged_digits(layout.axes()[a].modes)) {
      int64_t up_to = below * m.extent;  // fits: the padded extent does
      if (below >= tile[a]) {
        q.modes.push_back(m);
      } else if (up_to <= tile[a]) {
        r.modes.push_back(m);
      } else if (tile[a] % below == 0 && (up_to % tile[a] == 0 || up_to >= shape[a])) {
        int64_t part = tile[a] / below;
        r.modes.push_back({part, m.stride});
        q.modes.push_back({ceil_div(m.extent, part), scaled(m.stride, part)});
      } else {
        why = fmt::format("the tile extent {} cuts the radix {} of axis {} at a fraction", tile[a], m.extent, a);
      }
      if (up_to <= tile[a] && tile[a] % up_to != 0)
        why = fmt::format("the tile extent {} of axis {} is no multiple of its lower radices, {}", tile[a], a, up_to);
      below = up_to;
    }
    std::reverse(q.modes.begin(), q.modes.end());
    std::reverse(r.modes.begin(), r.modes.end());
    rest.push_back(std::move(q));
    inner.push_back(std::move(r));
  }
  if (why.empty()) {
    rest.insert(rest.end(), inner.begin(), inner.end());
    return Layout::from_modes(layout.element_bits(), std::move(rest), layout.replication(), layout.base(),
                              layout.swizzle());
  }
  size_t n = tile.size();
  return by_points("division", layout.element_bits(), result_shape, layout.replicas(), why,
                   [&](const Coord& x, int64_t r) {
                     Coord y(n);
                     for (size_t a = 0; a < n; ++a) y[a] = x[a] * tile[a] + x[n + a];
                     return layout.at(y, r);
                   });
}

LayoutResult divide_by(const Layout& layout, const Layout& tile) {
  check_index_layout("divide_by", tile, layout.size());
  LayoutResult rest = complement(tile, layout.size());
  if (!rest) return rest;
  LayoutResult both = concat(tile, *rest);
  if (!both) return both;
  return compose(layout, *both);
}

LayoutResult concat(const Layout& a, const Layout& b) {
  if (a.element_bits() != b.element_bits())
    throw UserError({}, fmt::format("concat: elements of {} bits and of {} bits", a.element_bits(), b.element_bits()));
  std::string why = "an operand is a table or swizzled";
  if (!a.is_table() && !b.is_table() && a.swizzle().bits == 0 && b.swizzle().bits == 0) {
    std::vector<Axis> axes = a.axes();
    axes.insert(axes.end(), b.axes().begin(), b.axes().end());
    std::vector<Mode> replication = a.replication();
    replication.insert(replication.end(), b.replication().begin(), b.replication().end());
    return Layout::from_modes(a.element_bits(), std::move(axes), std::move(replication), plus(a.base(), b.base()));
  }
  Coord shape = a.shape(), tail = b.shape();
  shape.insert(shape.end(), tail.begin(), tail.end());
  auto split = static_cast<std::ptrdiff_t>(a.rank());
  return by_points("concatenation", a.element_bits(), shape, a.replicas() * b.replicas(), why,
                   [&](const Coord& x, int64_t r) {
                     return plus(a.at(Coord(x.begin(), x.begin() + split), r / b.replicas()),
                                 b.at(Coord(x.begin() + split, x.end()), r % b.replicas()));
                   });
}

LayoutResult product(const Layout& atom, const Layout& copies) {
  if (atom.rank() != copies.rank())
    throw UserError({}, fmt::format("product: an atom of rank {} and copies of rank {}", atom.rank(), copies.rank()));
  Point unit = atom.padded().box();  // one copy
  auto moved = [&](const Point& p) {
    return Point{checked_mul(p.block, unit.block), checked_mul(p.group, unit.group), checked_mul(p.thread, unit.thread),
                 checked_mul(p.offset / copies.element_bits(), unit.offset)};
  };
  const Xor& x = atom.swizzle();
  int64_t period = x.bits > 0 ? int64_t{1} << (std::max(x.to, x.from) + x.bits) : 1;
  std::string why;
  if (atom.is_table() || copies.is_table() || copies.swizzle().bits > 0)
    why = "an operand is a table, or the copies are swizzled";
  else if (unit.offset % period != 0)
    why = fmt::format("the atom takes {} bits, no multiple of its xor's period of {}", unit.offset, period);
  std::vector<Axis> axes;
  Coord shape;
  for (size_t a = 0; a < atom.axes().size(); ++a) {
    const Axis &inner = atom.axes()[a], &outer = copies.axes()[a];
    shape.push_back(checked_mul(inner.extent, outer.extent));
    if (!why.empty()) continue;
    Axis out({}, shape.back());
    int64_t below = 1;
    for (const Mode& m : merged_digits(inner.modes)) {
      if (below >= inner.extent && outer.extent > 1) break;  // the padding stays where no copy follows
      int64_t reached = outer.extent > 1 ? std::min(m.extent, ceil_div(inner.extent, below)) : m.extent;
      out.modes.push_back({reached, m.stride});
      below *= reached;
    }
    if (below != inner.extent && outer.extent > 1)
      why = fmt::format("axis {} of the atom is padded to {}, so copies cannot follow after {} coordinates", a, below,
                        inner.extent);
    std::reverse(out.modes.begin(), out.modes.end());
    std::vector<Mode> upper;
    for (const Mode& m : outer.modes)
      if (m.extent > 1) upper.push_back({m.extent, moved(m.stride)});
    out.modes.insert(out.modes.begin(), upper.begin(), upper.end());
    axes.push_back(std::move(out));
  }
  if (why.empty()) {
    std::vector<Mode> replication = atom.replication();
    for (const Mode& m : copies.replication())
      if (m.extent > 1) replication.push_back({m.extent, moved(m.stride)});
    return Layout::from_modes(atom.element_bits(), std::move(axes), std::move(replication),
                              plus(atom.base(), moved(copies.base())), x);
  }
  return by_points("product", atom.element_bits(), shape, atom.replicas() * copies.replicas(), why,
                   [&](const Coord& y, int64_t r) {
                     Coord inner(y.size()), outer(y.size());
                     for (size_t a = 0; a < y.size(); ++a) {
                       inner[a] = y[a] % atom.axes()[a].extent;
                       outer[a] = y[a] / atom.axes()[a].extent;
                     }
                     return plus(atom.at(inner, r / copies.replicas()), moved(copies.at(outer, r % copies.replicas())));
                   });
}

LayoutResult reshape(const Layout& layout, const Coord& shape) {
  if (Layout::shape_size(shape) != layout.size())
    throw UserError({}, fmt::format("reshape: shape {} has {} coordinates, the layout {}", to_text(shape),
                                    Layout::shape_size(shape), layout.size()));
  return compose(layout, row_major(shape));
}

LayoutResult recast(const Layout& layout, int64_t bits) {
  if (bits < 1) throw UserError({}, fmt::format("recast: elements of {} bits; wanted 1 or more", bits));
  int64_t old = layout.element_bits();
  if (bits == old) return layout;
  if (layout.rank() == 0) return LayoutResult::refuse(refusal("recast", "a layout of rank 0 has no axis to resize"));
  if (old % bits != 0 && bits % old != 0)
    return LayoutResult::refuse(refusal("recast", fmt::format("{} and {} bits: neither divides the other", old, bits)));
  Coord shape = layout.shape();
  if (bits < old) {
    int64_t parts = old / bits;
    std::vector<Axis> axes = layout.axes();
    axes.back().extent = checked_mul(axes.back().extent, parts);
    if (!layout.is_table()) {
      axes.back().modes.push_back({parts, {0, 0, 0, bits}});
      return Layout::from_modes(bits, std::move(axes), layout.replication(), layout.base(), layout.swizzle());
    }
    shape.back() = axes.back().extent;
    return by_points("recast", bits, shape, layout.replicas(), "the layout is a table", [&](const Coord& x, int64_t r) {
      Coord y = x;
      y.back() /= parts;
      Point p = layout.at(y, r);
      p.offset += x.back() % parts * bits;
      return p;
    });
  }
  int64_t parts = bits / old;
  if (shape.back() % parts != 0)
    return LayoutResult::refuse(
        refusal("recast", fmt::format("{} elements of {} bits in the last axis are no whole number of "
                                      "{} bits",
                                      shape.back(), old, bits)));
  shape.back() /= parts;
  std::string why;
  auto whole = [&](const Coord& x, int64_t r) {
    Coord y = x;
    y.back() *= parts;
    Point first = layout.at(y, r), next = first;
    if (first.offset % bits != 0 && why.empty())
      why = fmt::format("element {} is not aligned to {} bits", to_text(y), bits);
    for (int64_t k = 1; k < parts; ++k) {
      ++y.back();
      next.offset += old;
      if (layout.at(y, r) != next && why.empty())
        why = fmt::format("element {} does not follow the one before it", to_text(y));
    }
    first.offset -= first.offset % bits;
    return first;
  };
  if (!layout.is_table()) {
    Coord tile(shape.size(), 1);
    tile.back() = parts;
    // The closed rule: the low digit is `parts` contiguous elements and everything else moves whole new elements.
    if (LayoutResult halves = divide(layout, tile)) {
      std::vector<Axis> axes(halves->axes().begin(), halves->axes().begin() + layout.rank());
      std::vector<Mode> low = merged_digits(halves->axes().back().modes);
      bool fits = low == std::vector<Mode>{{parts, {0, 0, 0, old}}} && layout.base().offset % bits == 0;
      for (const Axis& a : axes)
        for (const Mode& m : a.modes) fits = fits && m.stride.offset % bits == 0;
      for (const Mode& m : layout.replication()) fits = fits && m.stride.offset % bits == 0;
      const Xor& x = halves->swizzle();
      fits = fits && (x.bits == 0 || ((int64_t{1} << x.to) % bits == 0 && (int64_t{1} << x.from) % bits == 0));
      if (fits) return Layout::from_modes(bits, std::move(axes), layout.replication(), layout.base(), x);
    }
  }
  LayoutResult fitted =
      by_points("recast", bits, shape, layout.replicas(), "the elements do not follow one another", whole);
  return why.empty() ? fitted : LayoutResult::refuse(refusal("recast", why));
}

}  // namespace tilewright
