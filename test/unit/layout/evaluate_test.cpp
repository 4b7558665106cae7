// Laws L1, L3, L13 (slice, permute), L14, L16, L17, and the errors of construction.
#include <gtest/gtest.h>

#include <set>

#include "oracle.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using oracle::Random;
using oracle::Value;

std::string error_of(void (*f)()) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

Layout random_any(Random& rng) {
  return oracle::random_layout(rng, {.max_size = 300,
                                     .max_rank = 3,
                                     .places = true,
                                     .padding = true,
                                     .swizzle = true,
                                     .replicas = true,
                                     .element_bits = int64_t{1} << rng.below(5),
                                     .loose_percent = 65});
}

TEST(LayoutEvaluate, L1_image_is_xor_of_base_and_digits_times_strides) {
  Random rng(1);
  for (int i = 0; i < 500; ++i) {
    Layout l = random_any(rng);
    for (int64_t k = 0; k < l.size(); ++k) {
      Coord x = oracle::coordinate(l.shape(), k);
      for (int64_t r = 0; r < l.replicas(); ++r)
        ASSERT_EQ(oracle::value(l.at(x, r)), oracle::evaluate(l, x, r)) << to_string(l);
      ASSERT_EQ(l.linear_index(x), k);
      ASSERT_EQ(l.coordinate(k), x);
    }
  }
}

TEST(LayoutEvaluate, a_hand_written_case) {
  // Axis 0: 6 rows in panels of 3; axis 1: 4 columns. f16, so element 1 is bit 16.
  Layout l = make_layout(16, {Axis({Mode::memory(2, 12), Mode::memory(3, 1)}), Mode::memory(4, 3)});
  EXPECT_EQ(l.element({4, 2}), 12 + 1 + 6);
  EXPECT_EQ(l.at({4, 2}).offset, 19 * 16);
  EXPECT_EQ(l.size(), 24);
  EXPECT_EQ(l.cosize(), 24);
  EXPECT_EQ(l.shape(), (Coord{6, 4}));
}

TEST(LayoutEvaluate, L3_cosize_and_footprint_against_enumeration) {
  Random rng(2);
  for (int i = 0; i < 600; ++i) {
    Layout l = random_any(rng);
    for (const Layout& m : {l, l.padded()}) {
      Value largest{};
      for (int64_t k = 0; k < m.size(); ++k)
        for (int64_t r = 0; r < m.replicas(); ++r) {
          Value v = oracle::evaluate(m, oracle::coordinate(m.shape(), k), r);
          for (size_t d = 0; d < 4; ++d) largest[d] = std::max(largest[d], v[d]);
        }
      Point box = m.box();
      ASSERT_EQ(oracle::value(box),
                (Value{largest[0] + 1, largest[1] + 1, largest[2] + 1, largest[3] + m.element_bits()}))
          << to_string(m);
    }
    ASSERT_EQ(l.footprint(), l.padded().box().offset / l.element_bits());
  }
}

TEST(LayoutEvaluate, footprint_counts_padding_and_cosize_does_not) {
  Layout l = make_layout(8, {Axis({Mode::memory(2, 16), Mode::memory(16, 1)}, 20)});
  EXPECT_EQ(l.cosize(), 20);
  EXPECT_EQ(l.footprint(), 32);
  EXPECT_EQ(l.size(), 20);
}

TEST(LayoutEvaluate, L13_slice_and_permute_are_pointwise) {
  Random rng(3);
  for (int i = 0; i < 300; ++i) {
    Layout l = random_any(rng);
    if (i % 3 == 0) {
      std::vector<Point> points;
      for (int64_t k = 0; k < l.size(); ++k)
        for (int64_t r = 0; r < l.replicas(); ++r) points.push_back(l.at_index(k, r));
      l = Layout::from_table(l.element_bits(), l.shape(), points, l.replicas());
    }
    int64_t axis = rng.below(l.rank());
    int64_t c = rng.below(l.shape()[static_cast<size_t>(axis)]);
    Layout s = l.slice(axis, c);
    ASSERT_EQ(s.rank(), l.rank() - 1);
    for (int64_t k = 0; k < s.size(); ++k) {
      Coord x = oracle::coordinate(s.shape(), k), y = x;
      y.insert(y.begin() + axis, c);
      for (int64_t r = 0; r < l.replicas(); ++r) ASSERT_EQ(s.at(x, r), l.at(y, r)) << to_string(l);
    }
    Coord order;
    for (int64_t a = 0; a < l.rank(); ++a) order.insert(order.begin() + rng.below(a + 1), a);
    Layout p = l.permute(order);
    for (int64_t k = 0; k < p.size(); ++k) {
      Coord x = oracle::coordinate(p.shape(), k), y(x.size());
      for (size_t a = 0; a < x.size(); ++a) y[static_cast<size_t>(order[a])] = x[a];
      for (int64_t r = 0; r < l.replicas(); ++r) ASSERT_EQ(p.at(x, r), l.at(y, r)) << to_string(l);
    }
  }
}

TEST(LayoutEvaluate, L14_injective_and_covers_speak_of_logical_coordinates) {
  Random rng(4);
  int injective = 0, compact = 0, total = 1500;
  for (int i = 0; i < total; ++i) {
    Layout l = random_any(rng);
    std::set<std::pair<Value, int64_t>> owners;
    std::set<Value> images;
    for (int64_t k = 0; k < l.size(); ++k)
      for (int64_t r = 0; r < l.replicas(); ++r) {
        Value v = oracle::evaluate(l, oracle::coordinate(l.shape(), k), r);
        owners.insert({v, k});
        images.insert(v);
      }
    bool want_injective = owners.size() == images.size();
    ASSERT_EQ(l.is_injective(), want_injective) << to_string(l);
    Value box = oracle::value(l.box());
    int64_t points = box[0] * box[1] * box[2] * (box[3] / l.element_bits());
    bool want_compact = static_cast<int64_t>(images.size()) == points;
    ASSERT_EQ(l.is_compact(), want_compact) << to_string(l);
    // A corner of the box.
    Point part{rng.in(1, box[0]), rng.in(1, box[1]), rng.in(1, box[2]),
               rng.in(1, box[3] / l.element_bits()) * l.element_bits()};
    bool want_covers = true;
    for (int64_t b = 0; b < part.block; ++b)
      for (int64_t g = 0; g < part.group; ++g)
        for (int64_t t = 0; t < part.thread; ++t)
          for (int64_t o = 0; o < part.offset; o += l.element_bits())
            want_covers = want_covers && images.count({b, g, t, o}) == 1;
    ASSERT_EQ(l.covers(part), want_covers) << to_string(l);
    injective += want_injective;
    compact += want_compact;
  }
  // Both answers occur.
  EXPECT_GT(injective, total / 10);
  EXPECT_LT(injective, total * 9 / 10);
  EXPECT_GT(compact, total / 20);
  EXPECT_LT(compact, total * 9 / 10);
}

TEST(LayoutEvaluate, padding_neither_collides_nor_covers) {
  // 5 of 6 coordinates; the padding coordinate 5 would collide with coordinate 1.
  Layout l = Layout::from_modes(1, {Axis({{2, {0, 0, 0, 3}}, {3, {0, 0, 0, 1}}}, 5)});
  EXPECT_TRUE(l.is_injective());
  EXPECT_TRUE(l.covers({1, 1, 1, 5}));
  EXPECT_FALSE(l.covers({1, 1, 1, 6}));
  Layout hole = Layout::from_modes(1, {Axis({{2, {0, 0, 0, 1}}, {3, {0, 0, 0, 2}}}, 5)});  // 0 2 4 1 3, then 5
  EXPECT_TRUE(hole.is_compact());
  EXPECT_EQ(hole.cosize(), 5);
}

TEST(LayoutEvaluate, L16_every_replica_is_an_image) {
  Layout l = make_layout(32, {Mode::thread(8, 4), Mode::memory(2, 1)}).with_replication({Mode::thread(4, 1)});
  EXPECT_EQ(l.replicas(), 4);
  std::vector<Point> images = l.images({3, 1});
  ASSERT_EQ(images.size(), 4u);
  for (int64_t r = 0; r < 4; ++r) EXPECT_EQ(images[static_cast<size_t>(r)], (Point{0, 0, 12 + r, 32}));
  EXPECT_TRUE(l.is_injective());
  EXPECT_TRUE(l.is_compact());
  Layout memory = make_layout(8, {Mode::memory(3, 1)}).with_replication({Mode::memory(2, 3)});
  EXPECT_EQ(memory.cosize(), 6);
  EXPECT_EQ(memory.at({2}, 1).offset, 40);
}

TEST(LayoutErrors, L17_overflow_is_an_error_not_a_wrapped_number) {
  EXPECT_NE(error_of([] { make_layout(8, {Mode::memory(2, int64_t{1} << 62)}); }).find("does not fit 64 bits"),
            std::string::npos);
  EXPECT_NE(error_of([] {
              Layout::from_modes(1, {Axis(Mode{int64_t{1} << 40, {}}), Axis(Mode{int64_t{1} << 40, {}})});
            }).find("does not fit 64 bits"),
            std::string::npos);
  EXPECT_NE(error_of([] { row_major({int64_t{1} << 32, int64_t{1} << 31}, 16); }).find("does not fit 64 bits"),
            std::string::npos);
  Layout big = row_major({int64_t{1} << 30, int64_t{1} << 28}, 16);
  EXPECT_EQ(big.at({(int64_t{1} << 30) - 1, 5}).offset, (((int64_t{1} << 30) - 1) * (int64_t{1} << 28) + 5) * 16);
}

TEST(LayoutErrors, construction_says_what_was_got_and_what_was_wanted) {
  EXPECT_EQ(error_of([] { make_layout(8, {Mode::memory(0, 1)}); }),
            "layout: a mode has extent 0; it must be 1 or more");
  EXPECT_EQ(error_of([] { make_layout(8, {Mode::memory(4, -1)}); }),
            "layout: a stride is negative; strides, places and offsets are 0 or more");
  EXPECT_EQ(error_of([] { make_layout(8, {Axis({Mode::memory(2, 3), Mode::memory(3, 1)}, 7)}); }),
            "layout: axis 0 has extent 7 but its radices reach 6");
  EXPECT_EQ(error_of([] { Layout::from_modes(16, {Axis(Mode{4, {0, 0, 0, 8}})}); }),
            "layout: a stride of 8 bits is no multiple of the element's 16 bits");
  EXPECT_EQ(error_of([] { row_major({8, 64}, 16).with_swizzle({3, 7, 9}); }),
            "layout: xor of 3 bits: the ranges at 7 and at 9 overlap");
  EXPECT_EQ(
      error_of([] { row_major({8, 64}, 16).with_swizzle({3, 3, 10}); }),
      "layout: xor at bit 3 would split an element of 16 bits; wanted a power of two and bits above the element's");
  EXPECT_EQ(
      error_of([] { row_major({8, 64}, 12).with_swizzle({1, 7, 10}); }),
      "layout: xor at bit 7 would split an element of 12 bits; wanted a power of two and bits above the element's");
}

TEST(LayoutErrors, evaluation_checks_rank_and_range) {
  EXPECT_EQ(error_of([] { row_major({4, 5}).at({1}); }), "layout: a coordinate of 1 axes for a layout of rank 2");
  EXPECT_EQ(error_of([] { row_major({4, 5}).at({1, 5}); }), "layout: coordinate 5 of axis 1 is outside 0..4");
  EXPECT_EQ(error_of([] { row_major({4, 5}).at_index(20); }),
            "layout: linear index 20 of a layout with 20 coordinates");
  EXPECT_EQ(error_of([] { row_major({4, 5}).at({0, 0}, 1); }), "layout: replica 1 of a layout with 1");
  EXPECT_EQ(error_of([] { row_major({4, 5}).permute({0, 0}); }), "permute: [0, 0] is no order of 2 axes");
  EXPECT_EQ(error_of([] { row_major({4, 5}).slice(2, 0); }), "slice: axis 2 of a layout of rank 2");
  EXPECT_EQ(error_of([] { Layout::from_table(8, {2, 2}, {Point{}}); }),
            "layout: a table of 4 coordinates with 1 replicas needs 4 points but has 1");
  EXPECT_NE(error_of([] {
              row_major({4096, 4096}, 16).with_swizzle({1, 7, 10}).with_base({0, 0, 0, 16}).box();
            }).find("needs all 16777216 images"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright
