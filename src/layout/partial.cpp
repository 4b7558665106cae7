#include "layout/partial.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/digits.h"

namespace tilewright {
namespace {

constexpr int64_t kBudget = 20'000'000;  // looked-at points

struct Known {
  Coord x;
  int64_t value;
};

/// Depth-first search over chains of radices. Only prime radices are tried: a finer chain expresses all that a coarser
/// one does. A digit's stride is fixed by the first points that use it, or, when none does yet, tried from 0 up.
class Search {
 public:
  Search(const Coord& shape, std::vector<Known> known, int64_t limit)
      : shape_(shape), known_(std::move(known)), limit_(limit), digits_(shape.size()) {}

  bool run() { return axis_done(shape_.size()); }
  bool exhausted() const { return spent_ > kBudget; }
  Layout layout() const {
    std::vector<Axis> axes;
    for (size_t a = 0; a < shape_.size(); ++a) {
      Axis axis({}, shape_[a]);
      for (const auto& [radix, stride] : digits_[a]) axis.modes.insert(axis.modes.begin(), {radix, {0, 0, 0, stride}});
      axes.push_back(std::move(axis));
    }
    return coalesce(Layout::from_modes(1, std::move(axes), {}, {0, 0, 0, base_}));
  }

 private:
  using Digits = std::vector<std::pair<int64_t, int64_t>>;  // (radix, stride), least significant first

  static int64_t value(const Digits& digits, int64_t x) {
    int64_t v = 0;
    for (const auto& [radix, stride] : digits) {
      v += x % radix * stride;
      x /= radix;
    }
    return v;
  }

  /// Axes a .. rank-1 are decided; goes on with the one before.
  bool axis_done(size_t a) {
    if (a == 0) return true;
    return extend(a - 1, 1);
  }

  /// Digits of axis a below `weight` are decided.
  bool extend(size_t a, int64_t weight) {
    if (exhausted()) return false;
    if (weight >= shape_[a]) return axis_done(a);
    for (int64_t radix = 2; radix <= std::max<int64_t>(2, shape_[a] / weight + 1); ++radix) {
      if (!prime(radix)) continue;
      int64_t stride = -1;
      bool later = false;
      if (!forced_stride(a, weight, radix, stride, later)) continue;
      int64_t from = stride >= 0 ? stride : 0, to = stride >= 0 ? stride : later ? limit_ - 1 : 0;
      for (int64_t s = from; s <= to; ++s) {
        digits_[a].push_back({radix, s});
        if (agrees(a, weight * radix) && extend(a, weight * radix)) return true;
        digits_[a].pop_back();
        if (exhausted()) return false;
      }
      if (weight * radix >= shape_[a]) break;  // larger radices name the same top digit
    }
    return false;
  }

  static bool prime(int64_t n) {
    for (int64_t d = 2; d * d <= n; ++d)
      if (n % d == 0) return false;
    return n > 1;
  }

  /// Whether every coordinate of the point is decided when digits of axis a below `reach` are.
  bool decided(const Known& k, size_t a, int64_t reach) const {
    for (size_t b = 0; b < a; ++b)
      if (k.x[b] != 0) return false;
    return k.x[a] < reach;
  }

  int64_t sum(const Known& k, size_t a) const {
    int64_t v = base_;
    for (size_t b = a; b < shape_.size(); ++b) v += value(digits_[b], k.x[b]);
    return v;
  }

  /// The stride that decided points demand of the next digit. False when two of them disagree.
  bool forced_stride(size_t a, int64_t weight, int64_t radix, int64_t& stride, bool& later) {
    for (const Known& k : known_) {
      ++spent_;
      int64_t d = k.x[a] / weight % radix;
      if (d == 0) continue;
      later = true;
      if (!decided(k, a, weight * radix)) continue;
      int64_t rest = k.value - sum(k, a);
      if (rest < 0 || rest % d != 0 || (stride >= 0 && stride != rest / d)) return false;
      stride = rest / d;
    }
    return true;
  }

  bool agrees(size_t a, int64_t reach) {
    for (const Known& k : known_) {
      ++spent_;
      if (decided(k, a, reach) && sum(k, a) != k.value) return false;
    }
    return true;
  }

  Coord shape_;
  std::vector<Known> known_;
  int64_t limit_;
  int64_t base_ = 0;
  std::vector<Digits> digits_;
  int64_t spent_ = 0;
};

}  // namespace

LayoutResult fit_partial(const char* operation, const Coord& shape, const std::vector<int64_t>& values, int64_t limit) {
  std::vector<Known> known;
  Coord x = Layout::first_coordinate(shape);
  for (int64_t v : values) {
    if (v >= 0) known.push_back({x, v});
    Layout::next_coordinate(shape, x);
  }
  Search search(shape, std::move(known), limit);
  if (search.run()) return search.layout();
  return LayoutResult::refuse(
      fmt::format("{} is not expressible by modes: {}", operation,
                  search.exhausted() ? "the image has holes, and the search for digits that skip them was given up"
                                     : "the image has holes, and no digits give every coordinate its index"));
}

}  // namespace tilewright
