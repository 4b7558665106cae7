#include "layout/digits.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/arith.h"

namespace tilewright {

std::vector<Point> all_images(const Layout& layout) {
  int64_t n = checked_mul(layout.size(), layout.replicas());
  if (n > kEnumerationLimit)
    throw UserError({}, fmt::format("layout: this question needs all {} images, more than {}; ask it of a smaller tile",
                                    n, kEnumerationLimit));
  if (layout.is_table()) return layout.table();
  std::vector<Point> result;
  result.reserve(static_cast<size_t>(n));
  Coord shape = layout.shape(), x = Layout::first_coordinate(shape);
  do
    for (int64_t r = 0; r < layout.replicas(); ++r) result.push_back(layout.at(x, r));
  while (Layout::next_coordinate(shape, x));
  return result;
}

int64_t axis_maximum(const Axis& axis, Dim dim) {
  // The maximum is reached at extent - 1, or at a coordinate that agrees with it above some digit, is one less there,
  // and has the largest digits below.
  int64_t last = axis.extent - 1;
  int64_t below_max = 0;  // largest digits below k
  int64_t best_low = 0;   // best over coordinates <= last % (weight of k), for the digits below k
  for (size_t k = axis.modes.size(); k-- > 0;) {
    const Mode& m = axis.modes[k];
    int64_t digit = last % m.extent, s = m.stride[dim];
    last /= m.extent;
    int64_t with_digit = digit * s + best_low;
    int64_t with_less = digit > 0 ? (digit - 1) * s + below_max : 0;
    best_low = std::max(with_digit, with_less);
    below_max += (m.extent - 1) * s;
  }
  return best_low;
}

std::vector<Mode> merged_digits(const std::vector<Mode>& modes) {
  std::vector<Mode> out;
  for (size_t k = modes.size(); k-- > 0;) {
    const Mode& m = modes[k];
    if (m.extent == 1) continue;
    if (!out.empty()) {
      Mode& low = out.back();
      bool merges = true;
      for (Dim d : kDims) {
        int64_t next;
        merges = merges && !__builtin_mul_overflow(low.stride[d], low.extent, &next) && m.stride[d] == next;
      }
      if (merges) {
        low.extent *= m.extent;
        continue;
      }
    }
    out.push_back(m);
  }
  return out;
}

std::vector<Digit> linear_digits(const Layout& layout) {
  std::vector<Digit> out;
  int64_t axis_weight = 1;
  for (size_t i = layout.axes().size(); i-- > 0;) {
    const Axis& axis = layout.axes()[i];
    int64_t below = 1;
    for (const Mode& m : merged_digits(axis.modes)) {
      if (below >= axis.extent) break;
      int64_t reached = std::min(m.extent, ceil_div(axis.extent, below));
      bool top = below * m.extent >= axis.extent;
      out.push_back({reached, m.stride, axis_weight * below, top && reached * below != axis.extent});
      below *= m.extent;
    }
    axis_weight *= axis.extent;
  }
  for (const Mode& m : layout.replication())
    if (m.extent > 1) out.push_back({m.extent, m.stride, 0, false});
  return out;
}

bool single_dim(const Point& stride, Dim& dim) {
  int found = 0;
  for (Dim d : kDims)
    if (stride[d] != 0) {
      dim = d;
      ++found;
    }
  return found == 1;
}

bool swizzle_keeps_box(const Layout& layout) {
  if (layout.base().offset != 0) return false;
  std::vector<std::pair<int64_t, int64_t>> strides;  // (stride, extent) along the offset
  for (const Digit& d : linear_digits(layout)) {
    if (d.stride.offset == 0) continue;
    if (d.cut) return false;
    strides.push_back({d.stride.offset, d.extent});
  }
  std::sort(strides.begin(), strides.end());
  int64_t reach = layout.element_bits();
  for (auto [stride, extent] : strides) {
    if (stride != reach) return false;
    reach *= extent;
  }
  const Xor& x = layout.swizzle();
  return reach % (int64_t{1} << (std::max(x.to, x.from) + x.bits)) == 0;
}

std::string to_text(const Point& p, int64_t element_bits) {
  std::string s;
  auto term = [&s](int64_t v, const char* unit) {
    if (v != 0) s += fmt::format("{}{}{}", s.empty() ? "" : "+", v, unit);
  };
  term(p.block, "c");
  term(p.group, "g");
  term(p.thread, "t");
  if (p.offset != 0 || s.empty()) s += fmt::format("{}{}", s.empty() ? "" : "+", p.offset / element_bits);
  return s;
}

std::string to_text(const Coord& x) { return fmt::format("({})", fmt::join(x, ", ")); }

}  // namespace tilewright
