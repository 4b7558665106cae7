// Law L15: from_function fits modes and an XOR whenever they exist, else it is a table.
#include <gtest/gtest.h>

#include "oracle.h"

namespace tilewright {
namespace {

using oracle::Random;
using oracle::Value;
using oracle::Values;

TEST(LayoutFit, L15_a_layout_is_fitted_from_its_own_function) {
  Random rng(31);
  for (int i = 0; i < 800; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = 200,
                                           .max_rank = 3,
                                           .places = true,
                                           .padding = true,
                                           .swizzle = i % 2 == 0,
                                           .element_bits = int64_t{1} << rng.below(5)});
    Layout f = Layout::from_function(l.element_bits(), l.shape(), [&](const Coord& x) { return l.at(x); });
    ASSERT_EQ(oracle::tabulate(l.shape(), [&](const Coord& x) { return oracle::value(f.at(x)); }),
              oracle::values_of(l));
    if (l.swizzle().bits == 0) {
      ASSERT_FALSE(f.is_table()) << to_string(l);
      ASSERT_EQ(f.swizzle().bits, 0);
    } else if (f.is_table()) {
      ASSERT_FALSE(oracle::expressible(l.shape(), oracle::values_of(l), l.element_bits())) << to_string(l);
    }
  }
}

TEST(LayoutFit, L15_a_table_only_where_nothing_fits) {
  Random rng(32);
  int tables = 0, fitted = 0;
  for (int i = 0; i < 4000; ++i) {
    // Short functions with few values, so that a good part of them fits.
    Coord shape{rng.in(1, 5)};
    if (rng.chance(50)) shape.push_back(rng.in(1, 3));
    std::vector<Point> points;
    Values want;
    for (int64_t k = 0; k < oracle::count(shape); ++k) {
      points.push_back({0, 0, rng.below(2) * (i % 2), rng.below(4)});
      want.push_back(oracle::value(points.back()));
    }
    Layout l = Layout::from_points(1, shape, points);
    ASSERT_EQ(oracle::tabulate(shape, [&](const Coord& x) { return oracle::value(l.at(x)); }), want);
    ASSERT_EQ(l.is_table(), !oracle::expressible(shape, want)) << to_string(l);
    (l.is_table() ? tables : fitted) += 1;
  }
  EXPECT_GT(tables, 500);
  EXPECT_GT(fitted, 500);
}

TEST(LayoutFit, replicas_are_fitted_as_digits) {
  Layout l = make_layout(16, {Mode::thread(8, 4), Mode::memory(3, 1)}).with_replication({Mode::thread(4, 1)});
  std::vector<Point> points;
  for (int64_t k = 0; k < l.size(); ++k)
    for (int64_t r = 0; r < 4; ++r) points.push_back(l.at_index(k, r));
  EXPECT_EQ(to_string(Layout::from_points(16, l.shape(), points, 4)), to_string(l));
  // Five replicas at 0 1 2 10 11: digits (2:10, 3:1) would make six.
  points.clear();
  for (int64_t t : {0, 1, 2, 10, 11}) points.push_back({0, 0, t, 0});
  Layout five = Layout::from_points(16, {1}, points, 5);
  EXPECT_TRUE(five.is_table());
  EXPECT_EQ(five.images({0}), points);
}

TEST(LayoutFit, a_shared_memory_swizzle_is_found) {
  // 16-byte chunk c of row r lies at chunk c ^ (r % 8), f16, rows of 64.
  Layout l = Layout::from_function(16, {16, 64}, [](const Coord& x) {
    int64_t chunk = x[1] / 8 ^ x[0] % 8;
    return Point{0, 0, 0, 16 * (x[0] * 64 + chunk * 8 + x[1] % 8)};
  });
  EXPECT_EQ(to_string(l), "16b[16:64,64:1] xor(7-9,10-12)");
}

TEST(LayoutFit, a_reversed_axis_is_a_table_that_evaluates) {
  Layout l = Layout::from_function(8, {5}, [](const Coord& x) { return Point{0, 0, 0, 8 * (4 - x[0])}; });
  EXPECT_TRUE(l.is_table());
  EXPECT_EQ(l.at({1}).offset, 24);
  EXPECT_TRUE(l.is_injective());
  EXPECT_TRUE(l.is_compact());
  EXPECT_EQ(l.cosize(), 5);
  EXPECT_EQ(to_string(l), "8b table[5]{4,3,2,1,0}");
}

TEST(LayoutFit, scalars_and_single_elements) {
  Layout scalar = Layout::from_function(32, {}, [](const Coord&) { return Point{0, 0, 3, 64}; });
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.at({}), (Point{0, 0, 3, 64}));
  EXPECT_EQ(to_string(scalar), "32b[] at 3t+2");
}

}  // namespace
}  // namespace tilewright
