#pragma once
// The brute-force oracle of the layout laws. It knows functions as lists of points only and shares no code with the
// library: it evaluates layouts from their printed parts, and it judges "expressible" by trying every ordered
// factorisation.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tilewright/layout.h"

namespace tilewright::oracle {

using Value = std::array<int64_t, 4>;  // block, group, thread, offset in bits
using Values = std::vector<Value>;     // of every coordinate, last axis fastest

inline Value value(const Point& p) { return {p.block, p.group, p.thread, p.offset}; }

/// L1 written out: digits of x, most significant first, by repeated division.
inline Value evaluate(const Layout& l, const Coord& x, int64_t replica = 0) {
  Value v = value(l.base());
  auto add = [&v](const std::vector<Mode>& modes, int64_t c) {
    for (size_t i = 0; i < modes.size(); ++i) {
      int64_t below = 1;
      for (size_t k = i + 1; k < modes.size(); ++k) below *= modes[k].extent;
      int64_t digit = (c / below) % modes[i].extent;
      Value s = value(modes[i].stride);
      for (size_t d = 0; d < 4; ++d) v[d] += digit * s[d];
    }
  };
  for (size_t a = 0; a < x.size(); ++a) add(l.axes()[a].modes, x[a]);
  add(l.replication(), replica);
  const Xor& s = l.swizzle();
  for (int b = 0; b < s.bits; ++b)
    if (v[3] >> (s.from + b) & 1) v[3] = v[3] ^ (int64_t{1} << (s.to + b));
  return v;
}

inline int64_t count(const Coord& shape) {
  int64_t n = 1;
  for (int64_t e : shape) n *= e;
  return n;
}

inline Coord coordinate(const Coord& shape, int64_t index) {
  Coord x(shape.size());
  for (size_t a = shape.size(); a-- > 0; index /= shape[a]) x[a] = index % shape[a];
  return x;
}

template <class F>
Values tabulate(const Coord& shape, F f) {
  Values out;
  for (int64_t i = 0; i < count(shape); ++i) out.push_back(f(coordinate(shape, i)));
  return out;
}

inline Values values_of(const Layout& l) {
  return tabulate(l.shape(), [&](const Coord& x) { return evaluate(l, x); });
}

/// Every way to write 0 .. n-1 in mixed radix: the radices, least significant first, each 2 or more; the product of all
/// but the last is below n, and the last reaches n.
inline void factorisations(int64_t n, int64_t below, std::vector<int64_t>& radices,
                           std::vector<std::vector<int64_t>>& out) {
  if (below >= n) {
    out.push_back(radices);
    return;
  }
  int64_t top = (n + below - 1) / below;
  for (int64_t r = 2; r <= top; ++r) {
    radices.push_back(r);
    factorisations(n, below * r, radices, out);
    radices.pop_back();
  }
}

inline const std::vector<std::vector<int64_t>>& factorisations(int64_t n) {
  static std::vector<std::vector<std::vector<int64_t>>> cache(4096);
  auto& slot = cache.at(static_cast<size_t>(n));
  if (slot.empty()) {
    std::vector<int64_t> radices;
    factorisations(n, 1, radices, slot);
  }
  return slot;
}

/// Whether values along one axis are base + sum of digit * stride for some factorisation and strides of 0 or more.
inline bool axis_expressible(const Values& f) {
  int64_t n = static_cast<int64_t>(f.size());
  for (const auto& radices : factorisations(n)) {
    bool good = true;
    for (int64_t x = 0; good && x < n; ++x) {
      Value v = f[0];
      int64_t below = 1;
      for (int64_t r : radices) {
        int64_t digit = x / below % r;
        for (size_t d = 0; d < 4; ++d) {
          int64_t stride = f[static_cast<size_t>(below)][d] - f[0][d];
          good = good && stride >= 0;
          v[d] += digit * stride;
        }
        below *= r;
      }
      good = good && v == f[static_cast<size_t>(x)];
    }
    if (good) return true;
  }
  return false;
}

inline bool modes_express(const Coord& shape, const Values& f) {
  int64_t weight = 1;
  for (size_t a = shape.size(); a-- > 0; weight *= shape[a]) {
    Values along;
    for (int64_t x = 0; x < shape[a]; ++x) along.push_back(f[static_cast<size_t>(x * weight)]);
    if (!axis_expressible(along)) return false;
  }
  for (int64_t i = 0; i < count(shape); ++i) {  // axes must add up
    Coord x = coordinate(shape, i);
    Value v = f[0];
    weight = 1;
    for (size_t a = shape.size(); a-- > 0; weight *= shape[a])
      for (size_t d = 0; d < 4; ++d) v[d] += f[static_cast<size_t>(x[a] * weight)][d] - f[0][d];
    if (v != f[static_cast<size_t>(i)]) return false;
  }
  return true;
}

/// modes_express, or the same under one XOR of offset bits below the top bit of the largest offset.
inline bool expressible(const Coord& shape, const Values& f, int64_t element_bits = 1) {
  if (modes_express(shape, f)) return true;
  int width = 0, low = 0;
  for (const Value& v : f)
    while (v[3] >> width != 0) ++width;
  while ((int64_t{1} << low) < element_bits) ++low;
  if ((int64_t{1} << low) != element_bits) return false;
  for (int to = low; to < width; ++to)
    for (int from = low; from < width; ++from)
      for (int bits = 1; to + bits <= width && from + bits <= width; ++bits) {
        bool apart = to + bits <= from || from + bits <= to;
        if (!apart) continue;
        Values undone = f;
        for (Value& v : undone)
          for (int b = 0; b < bits; ++b)
            if (v[3] >> (from + b) & 1) v[3] ^= int64_t{1} << (to + b);
        if (modes_express(shape, undone)) return true;
      }
  return false;
}

/// Whether some index layout over `shape` (values >= 0, no XOR) takes the known values; -1 marks a free point. Tries
/// every factorisation of every axis and every stride below `limit`.
class PartialSearch {
 public:
  PartialSearch(Coord shape, std::vector<int64_t> known, int64_t limit)
      : shape_(std::move(shape)), known_(std::move(known)), limit_(limit), radices_(shape_.size()) {}
  bool run() { return choose(0); }

 private:
  struct Digit {
    size_t axis;
    int64_t below, radix, stride;
  };
  bool choose(size_t axis) {
    if (axis == shape_.size()) return assign_all();
    for (const auto& r : factorisations(shape_[axis])) {
      radices_[axis] = r;
      if (choose(axis + 1)) return true;
    }
    return false;
  }
  bool assign_all() {
    digits_.clear();
    for (size_t a = 0; a < shape_.size(); ++a) {
      int64_t below = 1;
      for (int64_t r : radices_[a]) {
        digits_.push_back({a, below, r, 0});
        below *= r;
      }
    }
    return assign(0);
  }
  bool assign(size_t k) {
    // Points all of whose non-zero digits are assigned must agree.
    bool used = false;
    for (int64_t i = 0; i < count(shape_); ++i) {
      int64_t want = known_[static_cast<size_t>(i)];
      if (want < 0) continue;
      Coord x = coordinate(shape_, i);
      int64_t got = 0;
      bool complete = true;
      for (size_t j = 0; j < digits_.size(); ++j) {
        int64_t digit = x[digits_[j].axis] / digits_[j].below % digits_[j].radix;
        if (j < k)
          got += digit * digits_[j].stride;
        else
          complete = complete && digit == 0;
        if (j == k && digit != 0) used = true;
      }
      if (complete && got != want) return false;
    }
    if (k == digits_.size()) return true;
    for (int64_t s = 0; s < (used ? limit_ : 1); ++s) {
      digits_[k].stride = s;
      if (assign(k + 1)) return true;
    }
    return false;
  }

  Coord shape_;
  std::vector<int64_t> known_;
  int64_t limit_;
  std::vector<std::vector<int64_t>> radices_;
  std::vector<Digit> digits_;
};

/// A small deterministic generator.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 88172645463325252u) {}
  int64_t below(int64_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int64_t>(state_ % static_cast<uint64_t>(n));
  }
  int64_t in(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

struct Shape {
  int64_t max_size = 400;
  int64_t max_rank = 2;
  int64_t min_radix = 2, max_radix = 9;
  bool places = false;
  bool padding = false;
  bool swizzle = false;
  bool replicas = false;
  int64_t element_bits = 1;
  int64_t loose_percent = 40;  // strides at random instead of a permutation of a compact layout
};

/// A random layout: radices 2 .. 9, one to three digits an axis, strides of a shuffled compact layout or at random.
inline Layout random_layout(Random& rng, const Shape& s) {
  int64_t size = 1;
  std::vector<Axis> axes;
  int64_t rank = rng.in(1, s.max_rank);
  for (int64_t a = 0; a < rank; ++a) {
    Axis axis({}, 0);
    int64_t digits = rng.in(1, 3);
    for (int64_t k = 0; k < digits; ++k) {
      int64_t radix = rng.in(s.min_radix, s.max_radix);
      if (size * radix > s.max_size) break;
      size *= radix;
      axis.modes.push_back({radix, {}});
    }
    axes.push_back(axis);
  }
  std::vector<Mode> replication;
  if (s.replicas && rng.chance(50)) replication.push_back({rng.in(2, 4), {}});
  std::vector<Mode*> order;
  for (Axis& a : axes)
    for (Mode& m : a.modes) order.push_back(&m);
  for (Mode& m : replication) order.push_back(&m);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(rng.below(static_cast<int64_t>(i)))]);
  bool loose = rng.chance(s.loose_percent);
  int64_t reach[4] = {1, 1, 1, 1};
  for (Mode* m : order) {
    size_t d = s.places && rng.chance(50) ? static_cast<size_t>(rng.below(3)) : 3;
    int64_t stride = loose ? rng.below(20) : reach[d];
    reach[d] *= m->extent;
    m->stride[static_cast<Dim>(d)] = d == 3 ? stride * s.element_bits : stride;
    if (loose && s.places && rng.chance(15)) m->stride.thread += 1;  // a digit that drives two dimensions
  }
  if (s.padding)
    for (Axis& a : axes) {
      int64_t n = 1;
      for (const Mode& m : a.modes) n *= m.extent;
      if (rng.chance(50)) a.extent = rng.in(1, n);
    }
  Point base;
  if (loose && rng.chance(20)) base.offset = rng.below(4) * s.element_bits;
  Xor x;
  if (s.swizzle && rng.chance(60)) {
    int low = 0;
    while ((int64_t{1} << low) < s.element_bits) ++low;
    x.bits = static_cast<int>(rng.in(1, 2));
    x.to = low + static_cast<int>(rng.below(3));
    x.from = x.to + x.bits + static_cast<int>(rng.below(3));
    if (rng.chance(20)) std::swap(x.to, x.from);
  }
  return Layout::from_modes(s.element_bits, axes, replication, base, x);
}

}  // namespace tilewright::oracle
