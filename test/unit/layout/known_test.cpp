// The named layouts against their closed formulas, element by element, and the lookup by name.
#include <gtest/gtest.h>

#include <set>

#include "tilewright/error.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

template <class F>
void expect_elements(const Layout& l, int64_t rows, int64_t columns, int64_t bits, F formula) {
  ASSERT_EQ(l.shape(), (Coord{rows, columns}));
  ASSERT_EQ(l.element_bits(), bits);
  ASSERT_FALSE(l.is_table());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(l.at({r, c}), (Point{0, 0, 0, formula(r, c) * bits})) << r << ", " << c << " of " << to_string(l);
  ASSERT_TRUE(l.is_injective());
}

constexpr int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

const std::pair<int64_t, int64_t> kShapes[] = {{16, 32}, {1, 1},  {17, 33}, {33, 65},
                                               {48, 80}, {5, 97}, {64, 16}, {31, 8}};

TEST(KnownLayouts, ascend_nz_for_all_element_sizes) {
  for (int64_t bits : {8, 16, 32})
    for (auto [m, n] : kShapes) {
      int64_t c0 = 256 / bits, m16 = round_up(m, 16);
      Layout l = known::nz(m, n, bits);
      expect_elements(l, m, n, bits, [&](int64_t r, int64_t c) { return c / c0 * m16 * c0 + r * c0 + c % c0; });
      EXPECT_EQ(l.footprint(), m16 * round_up(n, c0));
    }
}

TEST(KnownLayouts, ascend_zz_for_all_element_sizes) {
  for (int64_t bits : {8, 16, 32})
    for (auto [m, k] : kShapes) {
      int64_t c0 = 256 / bits, fractal = 4096 / bits, fractals_in_row = round_up(k, c0) / c0;
      Layout l = known::zz(m, k, bits);
      expect_elements(l, m, k, bits, [&](int64_t r, int64_t c) {
        return (r / 16 * fractals_in_row + c / c0) * fractal + r % 16 * c0 + c % c0;
      });
      EXPECT_EQ(l.footprint(), round_up(m, 16) * round_up(k, c0));
    }
}

TEST(KnownLayouts, ascend_zn_for_all_element_sizes) {
  for (int64_t bits : {8, 16, 32})
    for (auto [k, n] : kShapes) {
      int64_t c0 = 256 / bits, fractal = 4096 / bits, n16 = round_up(n, 16);
      Layout l = known::zn(k, n, bits);
      expect_elements(l, k, n, bits, [&](int64_t r, int64_t c) {
        return (r / c0 * (n16 / 16) + c / 16) * fractal + c % 16 * c0 + r % c0;
      });
      EXPECT_EQ(l.footprint(), round_up(k, c0) * n16);
    }
}

TEST(KnownLayouts, nz_of_a_matrix_is_zn_of_its_transpose) {
  for (int64_t bits : {8, 16, 32})
    for (auto [n, k] : kShapes) EXPECT_TRUE(equivalent(known::nz(n, k, bits), known::zn(k, n, bits).transpose()));
}

TEST(KnownLayouts, ascend_accumulator) {
  for (auto [m, n] : kShapes) {
    int64_t m16 = round_up(m, 16);
    Layout l = known::nz_accumulator(m, n);
    expect_elements(l, m, n, 32,
                    [&](int64_t r, int64_t c) { return (c / 16 * (m16 / 16) + r / 16) * 256 + r % 16 * 16 + c % 16; });
    EXPECT_EQ(l.footprint(), m16 * round_up(n, 16));
  }
}

TEST(KnownLayouts, cpu_panels_pad_the_ragged_last_panel) {
  for (auto [m, k] : kShapes)
    for (int64_t bits : {8, 16, 32}) {
      Layout a = known::panel_a(m, k, bits);
      expect_elements(a, m, k, bits, [k = k](int64_t r, int64_t c) { return r / 6 * 6 * k + c * 6 + r % 6; });
      EXPECT_EQ(a.footprint(), round_up(m, 6) * k);
      Layout b = known::panel_b(m, k, bits);
      expect_elements(b, m, k, bits, [m = m](int64_t r, int64_t c) { return c / 16 * 16 * m + r * 16 + c % 16; });
      EXPECT_EQ(b.footprint(), m * round_up(k, 16));
      expect_elements(known::panel_b(m, k, bits, 24), m, k, bits,
                      [m = m](int64_t r, int64_t c) { return c / 24 * 24 * m + r * 24 + c % 24; });
    }
  EXPECT_EQ(to_string(known::panel_a(128, 32, 32)), "32b[(22:192,6:1)<128,32:6]");
}

struct Owner {
  int64_t row, column;
};

/// Each (thread, register element) holds the element that the instruction's formula names, and nothing else is held.
template <class F>
void expect_fragment(const Layout& l, Coord shape, int64_t bits, int64_t threads, int64_t held, F owner) {
  ASSERT_EQ(l.shape(), shape);
  ASSERT_EQ(l.element_bits(), bits);
  ASSERT_FALSE(l.is_table());
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t t = 0; t < threads; ++t)
    for (int64_t i = 0; i < held; ++i) {
      Owner o = owner(t, i);
      ASSERT_EQ(l.at({o.row, o.column}), (Point{0, 0, t, i * bits}))
          << "thread " << t << " element " << i << " " << to_string(l);
      seen.insert({o.row, o.column});
    }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), shape[0] * shape[1]);
  EXPECT_TRUE(l.is_injective());
  EXPECT_TRUE(l.covers({1, 1, threads, held * bits}));
  EXPECT_EQ(l.box(), (Point{1, 1, threads, held * bits}));
}

TEST(KnownLayouts, mma_m16n8k16_for_16_bit_types) {
  expect_fragment(known::mma_a(16), {16, 16}, 16, 32, 8, [](int64_t t, int64_t i) {
    return Owner{t / 4 + ((i < 2 || (i >= 4 && i < 6)) ? 0 : 8), t % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)};
  });
  expect_fragment(known::mma_b(16), {16, 8}, 16, 32, 4,
                  [](int64_t t, int64_t i) { return Owner{t % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), t / 4}; });
  expect_fragment(known::mma_c(), {16, 8}, 32, 32, 4,
                  [](int64_t t, int64_t i) { return Owner{t / 4 + (i < 2 ? 0 : 8), t % 4 * 2 + i % 2}; });
  expect_fragment(known::mma_c(16), {16, 8}, 16, 32, 4,
                  [](int64_t t, int64_t i) { return Owner{t / 4 + (i < 2 ? 0 : 8), t % 4 * 2 + i % 2}; });
}

TEST(KnownLayouts, mma_m16n8k8_for_tf32) {
  expect_fragment(known::mma_a(32), {16, 8}, 32, 32, 4, [](int64_t t, int64_t i) {
    return Owner{t / 4 + (i == 0 || i == 2 ? 0 : 8), t % 4 + (i < 2 ? 0 : 4)};
  });
  expect_fragment(known::mma_b(32), {8, 8}, 32, 32, 2,
                  [](int64_t t, int64_t i) { return Owner{t % 4 + 4 * i, t / 4}; });
}

TEST(KnownLayouts, mma_m16n8k32_for_8_bit_types) {
  expect_fragment(known::mma_a(8), {16, 32}, 8, 32, 16, [](int64_t t, int64_t i) {
    return Owner{t / 4 + ((i < 4 || (i >= 8 && i < 12)) ? 0 : 8), t % 4 * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  });
  expect_fragment(known::mma_b(8), {32, 8}, 8, 32, 8,
                  [](int64_t t, int64_t i) { return Owner{t % 4 * 4 + (i & 3) + (i < 4 ? 0 : 16), t / 4}; });
}

TEST(KnownLayouts, wgmma_accumulator_and_register_operand) {
  for (int64_t n : {8, 24, 64, 128, 256})
    expect_fragment(known::wgmma_d(n), {64, n}, 32, 128, n / 2, [](int64_t t, int64_t i) {
      return Owner{t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, i / 4 * 8 + t % 4 * 2 + i % 2};
    });
  expect_fragment(known::wgmma_a(16), {64, 16}, 16, 128, 8, [](int64_t t, int64_t i) {
    return Owner{t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, t % 4 * 2 + i % 2 + i / 4 * 8};
  });
  expect_fragment(known::wgmma_a(8), {64, 32}, 8, 128, 16, [](int64_t t, int64_t i) {
    return Owner{t / 32 * 16 + t % 32 / 4 + i / 4 % 2 * 8, t % 4 * 4 + i % 4 + i / 8 * 16};
  });
  expect_fragment(known::wgmma_a(32), {64, 8}, 32, 128, 4,
                  [](int64_t t, int64_t i) { return Owner{t / 32 * 16 + t % 32 / 4 + i % 2 * 8, t % 4 + i / 2 * 4}; });
}

TEST(KnownLayouts, shared_memory_swizzles) {
  // On byte addresses: 128 B: bits 4..6 ^= bits 7..9; 64 B: 4..5 ^= 7..8; 32 B: 4 ^= 7.
  for (int64_t span : {128, 64, 32})
    for (int64_t bits : {8, 16, 32})
      for (int64_t rows : {8, 64, 13}) {
        int64_t wide = span * 8 / bits;
        for (int64_t columns : {wide, 2 * wide}) {
          Layout l = known::swizzled(rows, columns, bits, span);
          expect_elements(l, rows, columns, bits, [&](int64_t r, int64_t c) {
            int64_t byte = (c / wide * rows * wide + r * wide + c % wide) * bits / 8;
            int64_t line = byte / 128 % (span / 16);
            byte ^= line * 16;
            return byte * 8 / bits;
          });
        }
      }
  EXPECT_EQ(to_string(known::swizzled(64, 64, 16)), "16b[64:64,64:1] xor(7-9,10-12)");
}

TEST(KnownLayouts, a_column_read_of_a_swizzled_tile_touches_all_banks) {
  Layout l = known::swizzled(8, 64, 16);
  std::set<int64_t> chunks;
  for (int64_t r = 0; r < 8; ++r) chunks.insert(l.at({r, 0}).offset / 128 % 8);
  EXPECT_EQ(chunks.size(), 8u);
}

TEST(KnownLayouts, lookup_by_name) {
  EXPECT_EQ(named_layout("nz:16x32:f16"), known::nz(16, 32, 16));
  EXPECT_EQ(named_layout("zn:33x17:i8"), known::zn(33, 17, 8));
  EXPECT_EQ(named_layout("mma_m16n8k16_a"), known::mma_a(16));
  EXPECT_EQ(named_layout("mma_m16n8k32_b"), known::mma_b(8));
  EXPECT_EQ(named_layout("wgmma_d:64"), known::wgmma_d(64));
  EXPECT_EQ(named_layout("wgmma_a:e4m3"), known::wgmma_a(8));
  EXPECT_EQ(named_layout("swizzle64:32x32:bf16"), known::swizzled(32, 32, 16, 64));
  EXPECT_EQ(named_layout("row:3x5:e2m1"), row_major({3, 5}, 4));
  EXPECT_EQ(named_layout("panel_a:128x32:f32"), known::panel_a(128, 32, 32));
  // Every listed name is known under its documented parameters.
  for (const NamedLayout& n : named_layouts()) {
    std::string parameters = n.parameters == ""        ? ""
                             : n.parameters == "N"     ? ":16"
                             : n.parameters == "MxN"   ? ":20x30"
                             : n.parameters == "dtype" ? ":bf16"
                                                       : ":20x30:f16";
    Layout l = named_layout(n.name + parameters);
    EXPECT_TRUE(l.is_injective()) << n.name;
    EXPECT_EQ(parse_layout(to_string(l)), l) << n.name;
  }
}

std::string message(const char* spec) {
  try {
    (void)named_layout(spec);
  } catch (const UserError& e) {
    return e.message();
  }
  return "no error";
}

TEST(KnownLayouts, wrong_names_and_parameters_list_what_exists) {
  std::string unknown = message("nx:3x4:f16");
  EXPECT_EQ(unknown.find("no layout is named 'nx'; there are row:MxN:dtype, "), 0u) << unknown;
  for (const NamedLayout& n : named_layouts()) EXPECT_NE(unknown.find(n.name), std::string::npos);
  EXPECT_EQ(message("nz:3x4"), "layout nz: 1 parameters; wanted nz:MxN:dtype");
  EXPECT_EQ(message("nz:3y4:f16"), "layout nz: '3y4' is no shape such as 16x32; wanted nz:MxN:dtype");
  EXPECT_EQ(message("nz:3x0:f16"), "layout nz: an extent must be 1 or more; wanted nz:MxN:dtype");
  EXPECT_EQ(message("nz:3x4:f17"),
            "layout nz: 'f17' is no element type such as f16, bf16, f32, e4m3 or i8; wanted nz:MxN:dtype");
  EXPECT_EQ(message("nz:3x4:f64"), "nz: elements of 64 bits; wanted 4, 8, 16, 32");
  EXPECT_EQ(message("mma_m16n8k16_a:f16"), "layout mma_m16n8k16_a: 1 parameters; wanted mma_m16n8k16_a");
  EXPECT_EQ(message("wgmma_d:12"), "wgmma_d: n = 12; wanted a multiple of 8 from 8 to 256");
  EXPECT_EQ(message("wgmma_a:f64"), "mma_a: elements of 64 bits; wanted 8, 16, 32");
  EXPECT_EQ(message("").find("no layout is named ''"), 0u);
}

}  // namespace
}  // namespace tilewright
