// Chains of operations on layouts: each result becomes the operand of the next one, beside a table of all its images
// that is made point by point from the laws of tilewright/layout.h. A refusal keeps the operand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fuzz/cases.h"
#include "tilewright/error.h"
#include "unit/layout/oracle.h"

namespace tilewright::fuzz {
namespace {

using oracle::Value;
using oracle::Values;

constexpr int64_t kMaxPoints = 300;

Value plus(Value a, const Value& b) {
  for (size_t d = 0; d < 4; ++d) a[d] += b[d];
  return a;
}

/// A layout, and what it should be.
struct State {
  Layout layout;
  Coord shape;
  Values want;
  int64_t bits = 1;  // of an element

  Value at(const Coord& x) const {
    int64_t index = 0;
    for (size_t a = 0; a < x.size(); ++a) index = index * shape[a] + x[a];
    return want[static_cast<size_t>(index)];
  }
  int64_t size() const { return static_cast<int64_t>(want.size()); }
};

class Chain {
 public:
  explicit Chain(Random& random) : random_(random) {
    s_.layout = some_layout({.max_size = 120,
                             .max_rank = 3,
                             .places = random.chance(40),
                             .padding = random.chance(30),
                             .swizzle = random.chance(30),
                             .element_bits = random.chance(50) ? 16 : 1});
    s_.shape = s_.layout.shape(), s_.bits = s_.layout.element_bits();
    s_.want = oracle::values_of(s_.layout);
    log_ = to_string(s_.layout);
  }

  void run() {
    for (int64_t steps = random_.in(3, 10); steps > 0 && !testing::Test::HasFailure(); --steps) {
      note(log_);
      step();
      note(log_);
      check();
    }
  }

 private:
  Layout some_layout(const oracle::Shape& shape) {
    oracle::Random rng(random_.bits() >> 1);
    return oracle::random_layout(rng, shape);
  }

  /// The new state when the operation answers; `f` gives the image of a coordinate of the new shape.
  template <class F>
  void become(const std::string& what, const LayoutResult& result, const Coord& shape, int64_t bits, F f) {
    if (!result) {
      log_ += fmt::format("\n{}: refused: {}", what, result.reason());
      EXPECT_NE(result.reason(), "");
      return;
    }
    log_ += fmt::format("\n{}: {}", what, to_string(*result));
    Values want = oracle::tabulate(shape, f);
    s_ = {*result, shape, std::move(want), bits};
  }
  template <class F>
  void become(const std::string& what, const LayoutResult& result, const Coord& shape, F f) {
    become(what, result, shape, s_.bits, f);
  }

  std::string text_of(const Coord& x) {
    std::string text;
    for (int64_t v : x) text += fmt::format("{}{}", text.empty() ? "" : ",", v);
    return text;
  }

  void step() {
    const State old = s_;
    const Layout& l = old.layout;
    const auto rank = static_cast<int64_t>(old.shape.size());
    switch (random_.below(10)) {
      case 0:
        return become("coalesce", coalesce(l), old.shape, [&](const Coord& x) { return old.at(x); });
      case 1: {
        Coord order;
        for (int64_t a = 0; a < rank; ++a) order.insert(order.begin() + random_.in(0, a), a);
        Coord shape;
        for (int64_t a : order) shape.push_back(old.shape[static_cast<size_t>(a)]);
        return become("permute " + text_of(order), l.permute(order), shape, [&](const Coord& x) {
          Coord y(x.size());
          for (size_t i = 0; i < x.size(); ++i) y[static_cast<size_t>(order[i])] = x[i];
          return old.at(y);
        });
      }
      case 2: {
        if (rank < 2) return;
        const int64_t axis = random_.below(rank), c = random_.below(old.shape[static_cast<size_t>(axis)]);
        Coord shape = old.shape;
        shape.erase(shape.begin() + axis);
        return become(fmt::format("slice {} at {}", axis, c), l.slice(axis, c), shape, [&](Coord x) {
          x.insert(x.begin() + axis, c);
          return old.at(x);
        });
      }
      case 3: {
        int64_t first = random_.in(1, old.size());
        while (old.size() % first != 0) first = random_.in(1, old.size());
        const Coord shape{first, old.size() / first};
        return become("reshape " + text_of(shape), reshape(l, shape), shape,
                      [&](const Coord& x) { return old.want[static_cast<size_t>(x[0] * shape[1] + x[1])]; });
      }
      case 4: {
        Coord tile, shape;
        for (int64_t e : old.shape) {
          int64_t t = random_.in(1, e);
          while (e % t != 0) t = random_.in(1, e);
          tile.push_back(t);
          shape.push_back(e / t);
        }
        shape.insert(shape.end(), tile.begin(), tile.end());
        return become("divide by " + text_of(tile), divide(l, tile), shape, [&](const Coord& x) {
          Coord y(tile.size());
          for (size_t a = 0; a < y.size(); ++a) y[a] = x[a] * tile[a] + x[a + y.size()];
          return old.at(y);
        });
      }
      case 5:
      case 6: {
        const Layout index = some_layout({.max_size = 60, .padding = random_.chance(30), .loose_percent = 50});
        if (index.cosize() > old.size()) return;
        const Values at = oracle::values_of(index);
        const Coord shape = index.shape();
        const bool always = random_.chance(30);
        return become("compose with " + to_string(index),
                      always ? LayoutResult(compose_or_table(l, index)) : compose(l, index), shape,
                      [&](const Coord& x) { return old.want[static_cast<size_t>(oracle::evaluate(index, x)[3])]; });
      }
      case 7: {
        const Layout other = some_layout(
            {.max_size = 8, .max_rank = 1, .max_radix = 4, .places = random_.chance(50), .element_bits = old.bits});
        if (old.size() * other.size() > kMaxPoints) return;
        Coord shape = old.shape;
        for (int64_t e : other.shape()) shape.push_back(e);
        return become("concat " + to_string(other), concat(l, other), shape, [&](const Coord& x) {
          const Coord a(x.begin(), x.begin() + rank), b(x.begin() + rank, x.end());
          return plus(old.at(a), oracle::evaluate(other, b));
        });
      }
      case 8: {
        if (old.bits != 16 || rank == 0 || old.size() * 2 > kMaxPoints) return;
        Coord shape = old.shape;
        shape.back() *= 2;
        return become("recast to 8 bits", recast(l, 8), shape, 8, [&](Coord x) {
          const int64_t part = x.back() % 2;
          x.back() /= 2;
          Value v = old.at(x);
          v[3] += part * 8;
          return v;
        });
      }
      default: {
        if (l.is_table() || rank == 0) return;
        const int64_t axis = random_.below(rank);
        const int64_t extent = random_.in(1, l.axes()[static_cast<size_t>(axis)].padded_extent());
        if (extent > old.shape[static_cast<size_t>(axis)]) return;  // what lies in the padding is not in the table
        Coord shape = old.shape;
        shape[static_cast<size_t>(axis)] = extent;
        return become(fmt::format("extent {} of axis {}", extent, axis), l.with_extent(axis, extent), shape,
                      [&](const Coord& x) { return old.at(x); });
      }
    }
  }

  void check() {
    const Layout& l = s_.layout;
    ASSERT_EQ(l.shape(), s_.shape);
    ASSERT_EQ(l.element_bits(), s_.bits);
    Value largest{};
    std::set<Value> images;
    for (int64_t k = 0; k < s_.size(); ++k) {
      const Value v = s_.want[static_cast<size_t>(k)];
      ASSERT_EQ(oracle::value(l.at_index(k)), v) << "at " << text_of(oracle::coordinate(s_.shape, k));
      images.insert(v);
      for (size_t d = 0; d < 4; ++d) largest[d] = std::max(largest[d], v[d]);
    }
    ASSERT_EQ(l.is_injective(), static_cast<int64_t>(images.size()) == s_.size());
    ASSERT_EQ(l.cosize(), largest[3] / s_.bits + 1);
    // Offsets of a compact layout are whole elements without holes.
    int64_t points = largest[3] / s_.bits + 1;
    for (size_t d = 0; d < 3; ++d) points *= largest[d] + 1;
    ASSERT_EQ(l.is_compact(), static_cast<int64_t>(images.size()) == points);
    const std::string text = to_string(l);
    const Layout back = parse_layout(text);
    ASSERT_EQ(back, l) << text;
    ASSERT_EQ(back.hash(), l.hash()) << text;
    ASSERT_TRUE(equivalent(l, coalesce(l))) << text;
    check_inverses();
  }

  void check_inverses() {
    const Layout& l = s_.layout;
    const Point box = l.box();
    const int64_t points = box.block * box.group * box.thread * (box.offset / s_.bits);
    if (points > 4 * kMaxPoints) return;
    // Where the image has holes the search for a left inverse may take half a second.
    if (points > 40 && !l.is_compact()) return;
    if (LayoutResult left = left_inverse(l)) {
      for (int64_t k = 0; k < s_.size(); ++k)
        ASSERT_EQ(left->element(inverse_coordinate(l, l.at_index(k))), k) << to_string(*left);
    }
    if (LayoutResult right = right_inverse(l)) {
      for (int64_t p = 0; p < right->size(); ++p) {
        const int64_t k = right->at_index(p).offset;
        ASSERT_EQ(right->linear_index(inverse_coordinate(l, l.at_index(k))), p) << to_string(*right);
      }
    }
  }

  Random& random_;
  State s_;
  std::string log_;
};

TEST(Layouts, ChainsOfOperationsEqualTheirTables) {
  for_cases(1500, [](Random& random) { Chain(random).run(); });
}

TEST(Layouts, ComplementsCoverOnce) {
  for_cases(2000, [](Random& random) {
    oracle::Random rng(random.bits() >> 1);
    const Layout l = oracle::random_layout(rng, {.max_size = 40, .max_radix = 6, .loose_percent = 30});
    const int64_t n = random.chance(70) ? l.size() * random.in(1, 6) : random.in(1, 150);
    note(fmt::format("{} up to {}", to_string(l), n));
    const LayoutResult rest = complement(l, n);
    if (!rest) return;
    std::vector<int> hits(static_cast<size_t>(n));
    for (const Value& a : oracle::values_of(l))
      for (const Value& b : oracle::values_of(*rest)) {
        ASSERT_LT(a[3] + b[3], n) << to_string(*rest);
        ++hits[static_cast<size_t>(a[3] + b[3])];
      }
    EXPECT_TRUE(std::all_of(hits.begin(), hits.end(), [](int h) { return h == 1; })) << to_string(*rest);
  });
}

/// Texts of layouts with a few characters changed: read back the same, or refused.
TEST(Layouts, MutatedTextsAreReadOrRefused) {
  for_cases(3000, [](Random& random) {
    oracle::Random rng(random.bits() >> 1);
    std::string text = to_string(oracle::random_layout(
        rng, {.max_rank = 3, .places = true, .padding = true, .swizzle = true, .replicas = true, .element_bits = 8}));
    static const std::string marks = "0123456789[](){}:,<+-|tgcbx orep";
    for (int64_t n = random.in(1, 3); n > 0 && !text.empty(); --n) {
      const auto at = static_cast<size_t>(random.below(static_cast<int64_t>(text.size())));
      const char mark = marks[static_cast<size_t>(random.below(static_cast<int64_t>(marks.size())))];
      if (random.chance(40))
        text[at] = mark;
      else if (random.chance(50))
        text.insert(at, 1, mark);
      else
        text.erase(at, 1);
    }
    note(text);
    try {
      const Layout l = parse_layout(text);
      EXPECT_EQ(parse_layout(to_string(l)), l) << to_string(l);
    } catch (const UserError& e) {
      EXPECT_FALSE(e.message().empty());
    }
  });
}

}  // namespace
}  // namespace tilewright::fuzz
