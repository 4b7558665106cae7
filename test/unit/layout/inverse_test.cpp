// Laws L10 (right inverse), L11 (left inverse), L12 (complement).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "oracle.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using oracle::Random;
using oracle::Value;
using oracle::Values;

/// The box of the images: (used places..., elements), and each image as a coordinate in it.
struct Box {
  explicit Box(const Layout& l) {
    Value largest{};
    for (int64_t k = 0; k < l.size(); ++k)
      for (int64_t r = 0; r < l.replicas(); ++r) {
        Value v = oracle::evaluate(l, oracle::coordinate(l.shape(), k), r);
        v[3] /= l.element_bits();
        images.push_back({v, k});
        for (size_t d = 0; d < 4; ++d) largest[d] = std::max(largest[d], v[d]);
      }
    for (size_t d = 0; d < 4; ++d)
      if (largest[d] > 0 || d == 3) {
        dims.push_back(d);
        shape.push_back(largest[d] + 1);
      }
    index.assign(static_cast<size_t>(oracle::count(shape)), -1);
    for (const auto& [v, k] : images) {
      int64_t at = 0;
      for (size_t a = 0; a < dims.size(); ++a) at = at * shape[a] + v[dims[a]];
      int64_t& slot = index[static_cast<size_t>(at)];
      if (slot >= 0 && slot != k) injective = false;
      if (slot < 0) slot = k;
    }
    for (int64_t v : index) full = full && v >= 0;
  }
  std::vector<std::pair<Value, int64_t>> images;
  std::vector<size_t> dims;
  Coord shape;
  std::vector<int64_t> index;  // smallest linear index of each point, -1 where there is none
  bool injective = true, full = true;
};

Values index_values(const std::vector<int64_t>& index) {
  Values v;
  for (int64_t i : index) v.push_back({0, 0, 0, i});
  return v;
}

TEST(LayoutInverse, L10_right_inverse_finds_the_smallest_index_of_every_point) {
  Random rng(21);
  int given = 0, holes = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = 120,
                                           .places = i % 2 == 0,
                                           .padding = i % 3 == 0,
                                           .swizzle = i % 5 == 0,
                                           .replicas = i % 4 == 0,
                                           .element_bits = 2,
                                           .loose_percent = 30});
    Box box(l);
    LayoutResult r = right_inverse(l);
    if (!box.full) {
      ASSERT_FALSE(r) << to_string(l);
      bool says_so = r.reason().find("no coordinate reaches the point") != std::string::npos ||
                     r.reason().find("images do not fill the box") != std::string::npos;
      ASSERT_TRUE(says_so) << r.reason();
      ++holes;
    } else if (r) {
      ASSERT_EQ(r->shape(), box.shape) << to_string(l);
      ASSERT_EQ(oracle::values_of(*r), index_values(box.index)) << to_string(l) << " inverted to " << to_string(*r);
      ++given;
    } else {
      ASSERT_FALSE(oracle::expressible(box.shape, index_values(box.index)))
          << to_string(l) << " wrongly refused: " << r.reason();
      ++refused;
    }
  }
  EXPECT_GT(given, 1000);
  EXPECT_GT(holes, 500);
  EXPECT_GT(refused, 30);
}

TEST(LayoutInverse, L11_left_inverse_gives_back_every_index) {
  Random rng(22);
  int given = 0, with_holes = 0, refused = 0, refused_holes = 0, shared = 0;
  for (int i = 0; i < 6000; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = i % 2 == 0 ? 24 : 10,
                                           .places = i % 4 == 0,
                                           .padding = i % 3 == 0,
                                           .swizzle = i % 7 == 0,
                                           .replicas = i % 6 == 0,
                                           .loose_percent = 60});
    Box box(l);
    if (oracle::count(box.shape) > 60) continue;
    LayoutResult r = left_inverse(l);
    if (!box.injective) {
      ASSERT_FALSE(r) << to_string(l);
      ASSERT_NE(r.reason().find("two coordinates share an image"), std::string::npos) << r.reason();
      ++shared;
      continue;
    }
    if (r) {
      ASSERT_EQ(r->shape(), box.shape);
      for (const auto& [v, k] : box.images) {
        Coord x;
        for (size_t d : box.dims) x.push_back(v[d]);
        ASSERT_EQ(oracle::evaluate(*r, x)[3], k) << to_string(l) << " inverted to " << to_string(*r);
      }
      ++given;
      with_holes += !box.full;
    } else if (box.full) {
      ASSERT_FALSE(oracle::expressible(box.shape, index_values(box.index)))
          << to_string(l) << " wrongly refused: " << r.reason();
      ++refused;
    } else {
      ASSERT_FALSE(oracle::PartialSearch(box.shape, box.index, l.size()).run())
          << to_string(l) << " wrongly refused: " << r.reason();
      ++refused_holes;
    }
  }
  EXPECT_GT(given, 500);
  EXPECT_GT(with_holes, 200);
  EXPECT_GT(shared, 200);
  EXPECT_GT(refused + refused_holes, 30);
  EXPECT_GT(refused_holes, 20);
}

TEST(LayoutInverse, fragment_to_fragment_by_inverse_and_composition) {
  // Where a thread finds the element that it needs: source fragment after the inverse of the wanted one.
  Layout have = make_layout(32, {Mode::thread(8, 4), Axis({Mode::thread(4, 1), Mode::memory(2, 1)})});
  Layout want = make_layout(32, {Axis({Mode::memory(2, 1), Mode::thread(4, 8)}), Mode::thread(8, 1)});
  LayoutResult source = compose(have, left_inverse(want).value());
  ASSERT_TRUE(source) << source.reason();
  for (int64_t m = 0; m < 8; ++m)
    for (int64_t n = 0; n < 8; ++n) EXPECT_EQ(source->at(inverse_coordinate(want, want.at({m, n}))), have.at({m, n}));
}

TEST(LayoutInverse, padded_pitch_has_a_left_inverse_and_no_right_inverse) {
  Layout l = make_layout(16, {Mode::memory(64, 72), Mode::memory(64, 1)});
  EXPECT_EQ(to_string(left_inverse(l).value()), "[(64:64,72:1)<4600]");
  EXPECT_FALSE(right_inverse(l));
  EXPECT_EQ(right_inverse(l).reason(),
            "right inverse is not expressible by modes: no coordinate reaches the point (64) of the box (4600)");
}

TEST(LayoutInverse, large_layouts_invert_by_rule) {
  Layout l = row_major({1 << 20, 3 << 10}, 16).permute({1, 0});
  EXPECT_EQ(to_string(right_inverse(l).value()), "[(1048576:1,3072:1048576)]");
}

TEST(LayoutInverse, L12_complement_tiles_the_interval) {
  Random rng(23);
  int given = 0, refused = 0;
  for (int i = 0; i < 8000; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = 24, .max_radix = 5, .padding = i % 5 == 0, .loose_percent = 40});
    if (l.base() != Point{}) continue;
    std::set<int64_t> image;
    int64_t top = 0;
    for (const Value& v : oracle::values_of(l)) {
      image.insert(v[3]);
      top = std::max(top, v[3]);
    }
    bool injective = static_cast<int64_t>(image.size()) == l.size();
    int64_t n = rng.chance(70) ? l.size() * rng.in(1, 8) : rng.in(1, 80);
    // The oracle: cover 0 .. n-1 by copies; the smallest uncovered value must start one.
    std::vector<int64_t> starts;
    std::set<int64_t> covered;
    bool tiles = injective;
    for (int64_t v = 0; tiles && v < n; ++v) {
      if (covered.count(v)) continue;
      starts.push_back(v);
      for (int64_t a : image) tiles = tiles && v + a < n && covered.insert(v + a).second;
    }
    LayoutResult r = complement(l, n);
    if (tiles) {
      Values want;
      for (int64_t s : starts) want.push_back({0, 0, 0, s});
      if (!r) {
        ASSERT_FALSE(oracle::expressible({static_cast<int64_t>(starts.size())}, want))
            << to_string(l) << " to " << n << ": " << r.reason();
        continue;
      }
      ASSERT_EQ(oracle::values_of(*r), want) << to_string(l) << " to " << n;
      ++given;
    } else {
      ASSERT_FALSE(r) << to_string(l) << " to " << n << " gave " << to_string(*r);
      ++refused;
    }
  }
  EXPECT_GT(given, 500);
  EXPECT_GT(refused, 500);
}

TEST(LayoutInverse, complement_along_threads_finds_the_idle_ones) {
  Layout l = make_layout(16, {Mode::thread(8, 4), Mode::memory(2, 1)});
  EXPECT_EQ(to_string(complement(l, 64, Dim::thread).value()), "16b[(2:32t,4:1t)]");
  EXPECT_FALSE(complement(l, 48, Dim::thread));
  EXPECT_THROW((void)complement(l, 0), UserError);
}

}  // namespace
}  // namespace tilewright
