// Law L2: layouts print and parse back identically.
#include <gtest/gtest.h>

#include "oracle.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(LayoutText, L2_random_layouts_round_trip) {
  oracle::Random rng(41);
  for (int i = 0; i < 1500; ++i) {
    Layout l = oracle::random_layout(rng, {.max_rank = 3,
                                           .places = true,
                                           .padding = true,
                                           .swizzle = true,
                                           .replicas = true,
                                           .element_bits = int64_t{1} << rng.below(5)});
    if (i % 3 == 0) {
      std::vector<Point> points;
      for (int64_t k = 0; k < l.size(); ++k)
        for (int64_t r = 0; r < l.replicas(); ++r) points.push_back(l.at_index(k, r));
      l = Layout::from_table(l.element_bits(), l.shape(), points, l.replicas());
    }
    std::string text = to_string(l);
    Layout back = parse_layout(text);
    ASSERT_EQ(back, l) << text;
    ASSERT_EQ(to_string(back), text);
    ASSERT_EQ(back.hash(), l.hash());
  }
}

TEST(LayoutText, L2_the_form_in_the_header) {
  const char* text = "16b[(2:256,16:16)<20,(2:512,16:1)] xor(7-9,10-12) rep(4:1t) at 2t+8";
  Layout l = parse_layout(text);
  EXPECT_EQ(to_string(l), text);
  EXPECT_EQ(l.shape(), (Coord{20, 32}));
  EXPECT_EQ(l.element_bits(), 16);
  EXPECT_EQ(l.axes()[0].modes[0].stride, (Point{0, 0, 0, 256 * 16}));
  EXPECT_EQ(l.swizzle(), (Xor{3, 7, 10}));
  EXPECT_EQ(l.replication(), (std::vector<Mode>{{4, {0, 0, 1, 0}}}));
  EXPECT_EQ(l.base(), (Point{0, 0, 2, 128}));
  EXPECT_EQ(parse_layout("[ 8 : 1t + 2 , ( ) ]"), parse_layout("[8:1t+2,()]"));
  EXPECT_EQ(parse_layout("[]"), Layout());
  EXPECT_EQ(to_string(parse_layout("8b table[2]{0|1t,2|2c+3g+1t+2}")), "8b table[2]{0|1t,2|2c+3g+1t+2}");
  EXPECT_EQ(to_string(Layout::from_modes(1, {Axis({{2, {1, 2, 3, 4}}, {3, {}}}, 5)})), "[(2:1c+2g+3t+4,3:0)<5]");
}

TEST(LayoutText, a_layout_is_read_from_the_front_of_a_longer_text) {
  std::string_view text = "16b[8:1t,4:1] rep(2:8t), f16";
  EXPECT_EQ(to_string(parse_layout_front(text)), "16b[8:1t,4:1] rep(2:8t)");
  EXPECT_EQ(text, ", f16");
  text = "table[2]{1,0} > next";
  EXPECT_EQ(to_string(parse_layout_front(text)), "table[2]{1,0}");
  EXPECT_EQ(text, " > next");
}

TEST(LayoutText, errors_name_the_column) {
  auto message = [](const char* text) {
    try {
      (void)parse_layout(text);
    } catch (const UserError& e) {
      return e.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("[8:1"), "layout text, column 5: wanted ']' after the axes: [8:1");
  EXPECT_EQ(message("[8;1]"), "layout text, column 3: wanted ':' between extent and stride: [8;1]");
  EXPECT_EQ(message("16[8:1]"), "layout text, column 1: wanted element bits such as 16b, or [: 16[8:1]");
  EXPECT_EQ(message("[8:1] xor(3-4,7-9)"),
            "layout text, column 19: wanted two bit ranges of the same length in xor: [8:1] xor(3-4,7-9)");
  EXPECT_EQ(message("[8:1] hello"), "layout text, column 7: wanted the end, xor, rep or at: [8:1] hello");
  EXPECT_EQ(message("table[2]{0,1|2}"),
            "layout text, column 15: wanted 1 replicas as at the first coordinate, got 2: table[2]{0,1|2}");
  EXPECT_EQ(message(""), "layout text, column 1: wanted '[' before the axes: ");
  EXPECT_EQ(message("[8:99999999999999999999]"), "layout: 999999999999999999 * 10 does not fit 64 bits");
}

TEST(LayoutText, cut_and_mangled_text_never_crashes) {
  oracle::Random rng(42);
  const std::string text = "16b[(2:256,16:16)<20,(2:512,16:1)] xor(7-9,10-12) rep(4:1t) at 2t+8";
  const std::string alphabet = "0123456789:,()[]<>{}|+-tgcbxorepa ";
  int errors = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string s = text.substr(0, static_cast<size_t>(rng.in(1, static_cast<int64_t>(text.size()))));
    for (int64_t k = rng.below(3); k >= 0; --k)
      s[static_cast<size_t>(rng.below(static_cast<int64_t>(s.size())))] =
          alphabet[static_cast<size_t>(rng.below(static_cast<int64_t>(alphabet.size())))];
    try {
      Layout l = parse_layout(s);
      ASSERT_EQ(parse_layout(to_string(l)), l) << s;
    } catch (const UserError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 2000);
}

}  // namespace
}  // namespace tilewright
