// Laws L4 to L9, L13 (concat, reshape, recast): values against pointwise definitions, refusals against the oracle.
#include <gtest/gtest.h>

#include "oracle.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using oracle::Random;
using oracle::Value;
using oracle::Values;

/// The result must be the function `want`; a refusal must be right. Counts expressible cases.
void judge(const LayoutResult& got, const Coord& shape, const Values& want, int64_t element_bits,
           const std::string& what, int& expressible) {
  if (got) {
    ++expressible;
    ASSERT_EQ(got->shape(), shape) << what;
    ASSERT_EQ(got->element_bits(), element_bits) << what;
    ASSERT_EQ(oracle::values_of(*got), want) << what << " gave " << to_string(*got);
    ASSERT_FALSE(got->is_table());
    ASSERT_EQ(got.reason(), "");
  } else {
    ASSERT_FALSE(oracle::expressible(shape, want, element_bits)) << what << " wrongly refused: " << got.reason();
    ASSERT_NE(got.reason(), "");
  }
}

Values composed(const Layout& outer, const Layout& index) {
  return oracle::tabulate(index.shape(), [&](const Coord& x) {
    int64_t i = oracle::evaluate(index, x)[3] / index.element_bits();
    return oracle::evaluate(outer, oracle::coordinate(outer.shape(), i));
  });
}

TEST(LayoutAlgebra, L4_coalesce_is_the_same_function_with_unmergeable_modes) {
  Random rng(11);
  for (int i = 0; i < 500; ++i) {
    Layout l = oracle::random_layout(
        rng, {.max_rank = 3, .max_radix = 4, .places = true, .padding = true, .swizzle = true, .replicas = true});
    Layout c = coalesce(l);
    ASSERT_EQ(oracle::values_of(c), oracle::values_of(l));
    ASSERT_EQ(c.padded().shape(), l.padded().shape());
    ASSERT_EQ(oracle::values_of(c.padded()), oracle::values_of(l.padded()));
    for (const Axis& a : c.axes())
      for (size_t k = 0; k < a.modes.size(); ++k) {
        ASSERT_GT(a.modes[k].extent, 1);
        if (k == 0) continue;
        bool merges = true;
        for (size_t d = 0; d < 4; ++d)
          merges = merges &&
                   oracle::value(a.modes[k - 1].stride)[d] == oracle::value(a.modes[k].stride)[d] * a.modes[k].extent;
        ASSERT_FALSE(merges) << to_string(c);
      }
  }
  Layout split =
      Layout::from_modes(1, {Axis({{2, {0, 0, 0, 12}}, {3, {0, 0, 0, 4}}, {1, {0, 0, 0, 9}}, {4, {0, 0, 0, 1}}})});
  EXPECT_EQ(to_string(coalesce(split)), "[24:1]");
}

TEST(LayoutAlgebra, L5_equivalent_compares_functions) {
  Random rng(12);
  int same = 0, different = 0;
  for (int i = 0; i < 3000; ++i) {
    // Few radices and strides, so that equal functions in different writing are met.
    oracle::Shape s{
        .max_size = 24, .max_rank = 1, .max_radix = 4, .padding = true, .swizzle = i % 4 == 0, .loose_percent = 0};
    Layout a = oracle::random_layout(rng, s), b = oracle::random_layout(rng, s);
    bool want = a.shape() == b.shape() && oracle::values_of(a) == oracle::values_of(b);
    ASSERT_EQ(equivalent(a, b), want) << to_string(a) << " and " << to_string(b);
    (want ? same : different) += 1;
  }
  EXPECT_GT(same, 100);
  EXPECT_GT(different, 100);
  EXPECT_FALSE(equivalent(row_major({4, 4}, 8), row_major({4, 4}, 16)));
  EXPECT_FALSE(equivalent(row_major({16}, 8), row_major({4, 4}, 8)));
  Layout table = Layout::from_table(1, {4}, {{0, 0, 0, 0}, {0, 0, 0, 2}, {0, 0, 0, 4}, {0, 0, 0, 6}});
  EXPECT_TRUE(equivalent(table, Layout::from_modes(1, {Axis(Mode{4, {0, 0, 0, 2}})})));
  // Replicas are sets: their order does not matter.
  Layout r = row_major({4}, 8), one = r.with_replication({Mode::thread(2, 2), Mode::thread(2, 1)}),
         other = r.with_replication({Mode::thread(2, 1), Mode::thread(2, 2)});
  EXPECT_TRUE(equivalent(one, other));
  EXPECT_FALSE(one == other);
  EXPECT_FALSE(equivalent(one, r.with_replication({Mode::thread(4, 2)})));
}

TEST(LayoutAlgebra, L6_compose_random_layouts) {
  Random rng(13);
  int expressible = 0, total = 0;
  for (int i = 0; i < 6000; ++i) {
    Layout outer =
        oracle::random_layout(rng, {.max_size = 300, .places = i % 2 == 0, .padding = i % 3 == 0, .element_bits = 8});
    Layout index = oracle::random_layout(rng, {.max_size = 60, .padding = i % 3 == 1});
    if (index.cosize() > outer.size()) continue;
    ++total;
    judge(compose(outer, index), index.shape(), composed(outer, index), 8, to_string(outer) + " o " + to_string(index),
          expressible);
    if (HasFatalFailure()) return;
    Layout always = compose_or_table(outer, index);
    ASSERT_EQ(always.is_table(), !compose(outer, index));
    for (int64_t k = 0; k < always.size(); ++k)
      ASSERT_EQ(oracle::value(always.at_index(k)), composed(outer, index)[static_cast<size_t>(k)]);
  }
  EXPECT_GT(total, 1500);
  EXPECT_GT(expressible, total / 5);
  EXPECT_LT(expressible, total * 9 / 10);
}

TEST(LayoutAlgebra, L6_compose_every_pair_of_radices_from_2_to_9) {
  // Outer (a:b', b:1) and (a:1, b:a), inner e steps of s: all of them.
  int expressible = 0, refused = 0;
  for (int64_t a = 2; a <= 9; ++a)
    for (int64_t b = 2; b <= 9; ++b)
      for (const Layout& outer : {Layout::from_modes(1, {Axis({{a, {0, 0, 0, 100}}, {b, {0, 0, 0, 1}}})}),
                                  Layout::from_modes(1, {Axis({{a, {0, 0, 0, 1}}, {b, {0, 0, 0, a}}})})})
        for (int64_t e = 2; e <= 9; ++e)
          for (int64_t s = 1; (e - 1) * s < a * b; ++s) {
            Layout index = Layout::from_modes(1, {Axis(Mode{e, {0, 0, 0, s}})});
            int before = expressible;
            judge(compose(outer, index), {e}, composed(outer, index), 1, to_string(outer) + " o " + to_string(index),
                  expressible);
            if (HasFatalFailure()) return;
            refused += before == expressible;
          }
  EXPECT_GT(expressible, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(LayoutAlgebra, L6_random_pairs_of_odd_radices_often_do_not_compose) {
  Random rng(14);
  const int64_t radices[] = {3, 5, 6, 7, 8};
  int expressible = 0, total = 0;
  while (total < 1000) {
    auto digits = [&] {
      std::vector<Mode> modes;
      for (int64_t k = rng.in(2, 3); k > 0; --k) modes.push_back({radices[rng.below(5)], {}});
      std::vector<size_t> order;
      for (size_t k = 0; k < modes.size(); ++k) order.insert(order.begin() + rng.below(static_cast<int64_t>(k) + 1), k);
      int64_t reach = 1;
      for (size_t k : order) {
        modes[k].stride.offset = reach;
        reach *= modes[k].extent;
      }
      return Layout::from_modes(1, {Axis(modes)});
    };
    Layout outer = digits(), index = digits();
    if (index.size() > outer.size()) continue;
    ++total;
    judge(compose(outer, index), index.shape(), composed(outer, index), 1, to_string(outer) + " o " + to_string(index),
          expressible);
    if (HasFatalFailure()) return;
  }
  RecordProperty("expressible_percent", expressible * 100 / total);
  EXPECT_GT(expressible, total / 10);
  EXPECT_LT(expressible, total * 7 / 10);
}

TEST(LayoutAlgebra, L6_compose_under_a_swizzle) {
  Random rng(15);
  int expressible = 0, total = 0;
  for (int i = 0; i < 1500; ++i) {
    Layout outer = oracle::random_layout(
        rng, {.max_size = 64, .max_radix = i % 2 == 0 ? 2 : 4, .swizzle = true, .loose_percent = 10});
    Layout index = oracle::random_layout(
        rng, {.max_size = 32, .max_radix = i % 2 == 0 ? 2 : 4, .swizzle = i % 3 == 0, .loose_percent = 10});
    if (index.cosize() > outer.size()) continue;
    ++total;
    judge(compose(outer, index), index.shape(), composed(outer, index), 1, to_string(outer) + " o " + to_string(index),
          expressible);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(total, 300);
  EXPECT_GT(expressible, total / 3);
}

TEST(LayoutAlgebra, L6_compose_works_at_sizes_that_nobody_enumerates) {
  Layout outer = row_major({1 << 20, 3 << 20}, 16);
  LayoutResult column = compose(outer, Layout::from_modes(1, {Axis(Mode{1 << 20, {0, 0, 0, 3 << 20}})}));
  ASSERT_TRUE(column) << column.reason();
  EXPECT_EQ(to_string(*column), "16b[1048576:3145728]");
  LayoutResult odd = compose(row_major({1 << 20, 3 << 20}, 16).permute({1, 0}),
                             Layout::from_modes(1, {Axis(Mode{1 << 18, {0, 0, 0, 7}})}));
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.reason().find("no other form was searched"), std::string::npos) << odd.reason();
}

TEST(LayoutAlgebra, L6_refusals_name_the_coordinate) {
  // Rows of 3: indices 0 2 4 6 are (0,0) (0,2) (1,1) (2,0), at 0 2 11 20.
  LayoutResult r = compose(make_layout(1, {Axis({Mode::memory(3, 10), Mode::memory(3, 1)})}),
                           Layout::from_modes(1, {Axis(Mode{4, {0, 0, 0, 2}})}));
  ASSERT_FALSE(r);
  EXPECT_EQ(r.reason(),
            "composition is not expressible by modes: coordinate (3) maps to 20, which no digit of axis 0 with a "
            "constant stride of 0 or more explains");
  EXPECT_THROW(r.value(), UserError);
}

TEST(LayoutAlgebra, compose_checks_the_index_layout) {
  try {
    (void)compose(row_major({4, 4}), row_major({17}));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "compose: the index layout [17:1] reaches 16, but the outer layout has 16 coordinates");
  }
  EXPECT_THROW((void)compose(row_major({4, 4}), make_layout(1, {Mode::thread(4, 1)})), UserError);
  EXPECT_THROW((void)compose(row_major({4, 4}), row_major({2}).with_replication({Mode::memory(2, 2)})), UserError);
}

TEST(LayoutAlgebra, L7_divide_by_tiles) {
  Random rng(16);
  int expressible = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    Layout l =
        oracle::random_layout(rng, {.max_size = 300, .places = true, .padding = i % 2 == 0, .swizzle = i % 5 == 0});
    Coord tile, shape;
    for (int64_t e : l.shape()) {
      int64_t t = rng.in(1, e);
      while (e % t != 0 && rng.chance(95)) t = rng.in(1, e);
      tile.push_back(t);
    }
    bool divides = true;
    for (size_t a = 0; a < tile.size(); ++a) {
      divides = divides && l.shape()[a] % tile[a] == 0;
      shape.push_back(l.shape()[a] / tile[a]);
    }
    LayoutResult got = divide(l, tile);
    if (!divides) {
      ASSERT_FALSE(got);
      ASSERT_NE(got.reason().find("does not divide"), std::string::npos);
      continue;
    }
    shape.insert(shape.end(), tile.begin(), tile.end());
    Values want = oracle::tabulate(shape, [&](const Coord& x) {
      Coord y(tile.size());
      for (size_t a = 0; a < y.size(); ++a) y[a] = x[a] * tile[a] + x[a + y.size()];
      return oracle::evaluate(l, y);
    });
    int before = expressible;
    judge(got, shape, want, 1, to_string(l) + " / tile", expressible);
    if (HasFatalFailure()) return;
    refused += before == expressible;
  }
  EXPECT_GT(expressible, 500);
  EXPECT_GT(refused, 100);
  LayoutResult thirds = divide(make_layout(1, {Axis({Mode::memory(2, 9), Mode::memory(6, 1)})}), {4});
  ASSERT_FALSE(thirds);  // 4 cuts the radix 6
  EXPECT_NE(thirds.reason().find("division is not expressible by modes: coordinate"), std::string::npos)
      << thirds.reason();
}

TEST(LayoutAlgebra, L8_divide_by_a_layout_and_its_complement) {
  Random rng(17);
  int expressible = 0, total = 0;
  for (int i = 0; i < 2000; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = 120, .max_radix = 6, .loose_percent = 10});
    Layout tile = oracle::random_layout(rng, {.max_size = 12, .max_rank = 1, .max_radix = 4, .loose_percent = 10});
    if (tile.cosize() > l.size()) continue;
    LayoutResult rest = complement(tile, l.size());
    LayoutResult got = divide_by(l, tile);
    if (!rest) {
      ASSERT_FALSE(got);
      continue;
    }
    ++total;
    Coord shape = tile.shape();
    shape.push_back(rest->size());
    Values want = oracle::tabulate(shape, [&](const Coord& x) {
      int64_t index = oracle::evaluate(tile, {x[0]})[3] + oracle::evaluate(*rest, {x[1]})[3];
      return oracle::evaluate(l, oracle::coordinate(l.shape(), index));
    });
    judge(got, shape, want, 1, to_string(l) + " / " + to_string(tile), expressible);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(total, 100);
  EXPECT_GT(expressible, 50);
  EXPECT_LT(expressible, total);
}

TEST(LayoutAlgebra, L9_product_repeats_an_atom) {
  Random rng(18);
  int expressible = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    Layout atom = oracle::random_layout(rng, {.max_size = 24,
                                              .max_rank = 1,
                                              .max_radix = 5,
                                              .places = true,
                                              .padding = i % 2 == 0,
                                              .swizzle = i % 3 == 0,
                                              .element_bits = 4});
    Layout copies = oracle::random_layout(
        rng, {.max_size = 8, .max_rank = 1, .max_radix = 4, .places = true, .padding = i % 4 == 0});
    Coord shape{atom.size() * copies.size()};
    Value unit = oracle::value(atom.padded().box());
    Values want = oracle::tabulate(shape, [&](const Coord& x) {
      Value v = oracle::evaluate(atom, {x[0] % atom.size()}), c = oracle::evaluate(copies, {x[0] / atom.size()});
      for (size_t d = 0; d < 4; ++d) v[d] += c[d] * unit[d];
      return v;
    });
    int before = expressible;
    judge(product(atom, copies), shape, want, 4, to_string(atom) + " x " + to_string(copies), expressible);
    if (HasFatalFailure()) return;
    refused += before == expressible;
  }
  EXPECT_GT(expressible, 1000);
  EXPECT_GT(refused, 100);
}

TEST(LayoutAlgebra, L9_product_of_places_counts_whole_atoms) {
  Layout warp = make_layout(32, {Mode::thread(8, 4), Axis({Mode::thread(4, 1), Mode::memory(2, 1)})});
  Layout four = product(warp, make_layout(1, {Mode::thread(4, 1), Mode::memory(3, 1)})).value();
  EXPECT_EQ(to_string(four), "32b[(4:32t,8:4t),(3:2,4:1t,2:1)]");
  EXPECT_TRUE(four.is_injective());
  EXPECT_TRUE(four.is_compact());
  EXPECT_THROW((void)product(warp, row_major({2})), UserError);
}

TEST(LayoutAlgebra, L13_reshape_and_concat) {
  Random rng(19);
  int expressible = 0, total = 0;
  for (int i = 0; i < 1500; ++i) {
    Layout l = oracle::random_layout(rng, {.max_size = 120, .places = true, .padding = i % 2 == 0});
    int64_t n = l.size(), a = rng.in(1, n);
    while (n % a != 0) a = rng.in(1, n);
    Coord shape{a, n / a};
    Values want = oracle::values_of(l);
    ++total;
    judge(reshape(l, shape), shape, want, 1, to_string(l) + " reshaped", expressible);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(expressible, total / 10);
  EXPECT_LT(expressible, total);
  expressible = 0;
  for (int i = 0; i < 400; ++i) {
    Layout a = oracle::random_layout(rng, {.max_size = 16, .max_rank = 1, .places = true, .swizzle = i % 2 == 0});
    Layout b = oracle::random_layout(rng, {.max_size = 16, .max_rank = 1, .places = true, .swizzle = i % 4 == 0});
    Coord shape{a.size(), b.size()};
    Values want = oracle::tabulate(shape, [&](const Coord& x) {
      Value v = oracle::evaluate(a, {x[0]}), w = oracle::evaluate(b, {x[1]});
      for (size_t d = 0; d < 4; ++d) v[d] += w[d];
      return v;
    });
    judge(concat(a, b), shape, want, 1, to_string(a) + " , " + to_string(b), expressible);
    if (HasFatalFailure()) return;
  }
  EXPECT_THROW((void)reshape(row_major({6}), {4}), UserError);
}

TEST(LayoutAlgebra, L13_recast_sees_the_same_memory) {
  Random rng(20);
  int narrowed = 0, widened = 0, refused = 0;
  for (int i = 0; i < 1500; ++i) {
    Layout l = oracle::random_layout(
        rng, {.max_size = 100, .places = true, .swizzle = i % 3 == 0, .element_bits = 16, .loose_percent = 20});
    for (int64_t bits : {4, 8, 32, 64}) {
      Coord shape = l.shape();
      LayoutResult got = recast(l, bits);
      if (bits < 16) {
        shape.back() *= 16 / bits;
        Values want = oracle::tabulate(shape, [&](const Coord& x) {
          Coord y = x;
          y.back() = x.back() * bits / 16;
          Value v = oracle::evaluate(l, y);
          v[3] += x.back() * bits % 16;
          return v;
        });
        judge(got, shape, want, bits, to_string(l) + " recast", narrowed);
      } else {
        int64_t parts = bits / 16;
        bool whole = shape.back() % parts == 0;
        for (int64_t k = 0; whole && k < l.size(); ++k) {
          Coord x = oracle::coordinate(l.shape(), k), first = x;
          first.back() -= x.back() % parts;
          Value v = oracle::evaluate(l, first);
          whole = v[3] % bits == 0;
          v[3] += x.back() % parts * 16;
          whole = whole && v == oracle::evaluate(l, x);
        }
        if (!whole) {
          ASSERT_FALSE(got) << to_string(l) << " to " << bits << " gave " << to_string(*got);
          ++refused;
          continue;
        }
        shape.back() /= parts;
        Values want = oracle::tabulate(shape, [&](const Coord& x) {
          Coord y = x;
          y.back() *= parts;
          return oracle::evaluate(l, y);
        });
        judge(got, shape, want, bits, to_string(l) + " recast", widened);
      }
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(narrowed, 1000);
  EXPECT_GT(widened, 50);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tilewright
