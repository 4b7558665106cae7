// Drawings: the text grid exactly, the SVG as well-formed XML with one cell a point of the padded domain.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tilewright/error.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

TEST(LayoutDraw, text_of_a_fragment) {
  Layout l = make_layout(32, {Mode::thread(2, 2), Axis({Mode::thread(2, 1), Mode::memory(2, 1)})});
  EXPECT_EQ(draw_text(l),
            "32b[2:2t,(2:1t,2:1)]\n"
            "  |    0    1    2    3\n"
            "-----------------------\n"
            "0 | t0:0 t0:1 t1:0 t1:1\n"
            "1 | t2:0 t2:1 t3:0 t3:1\n");
}

TEST(LayoutDraw, text_of_memory_shows_element_offsets) {
  EXPECT_EQ(draw_text(make_layout(8, {Axis({Mode::memory(2, 6), Mode::memory(2, 1)}, 3), Mode::memory(3, 2)})),
            "8b[(2:6,2:1)<3,3:2]\n"
            "  |  0  1  2\n"
            "------------\n"
            "0 |  0  2  4\n"
            "1 |  1  3  5\n"
            "2 |  6  8 10\n");
  EXPECT_EQ(draw_text(parse_layout("8b table[3]{2,0,1}")),
            "8b table[3]{2,0,1}\n"
            "  | 0 1 2\n"
            "---------\n"
            "0 | 2 0 1\n");
}

TEST(LayoutDraw, leading_axes_make_separate_grids_and_replicas_are_counted) {
  std::string text = draw_text(row_major({2, 1, 2}, 8).with_replication({Mode::thread(4, 1)}));
  EXPECT_EQ(text,
            "8b[2:2,1:2,2:1] rep(4:1t)\n"
            "4 replicas, the first is shown\n"
            "[0, :, :]\n"
            "  |    0    1\n"
            "-------------\n"
            "0 | t0:0 t0:1\n"
            "[1, :, :]\n"
            "  |    0    1\n"
            "-------------\n"
            "0 | t0:2 t0:3\n");
}

TEST(LayoutDraw, too_many_cells_is_an_error) {
  try {
    (void)draw_svg(row_major({257, 256}, 8));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(),
              "draw: a layout of shape (257, 256) has more than 65536 cells; slice it or draw a smaller tile");
  }
}

/// Checks the nesting and the attributes of the XML subset that a drawing may use, and counts elements by name.
std::map<std::string, int> check_xml(const std::string& xml) {
  std::map<std::string, int> count;
  std::vector<std::string> open;
  size_t i = 0;
  while (i < xml.size()) {
    if (xml[i] != '<') {
      if (xml[i] == '&') {
        bool entity =
            xml.compare(i, 4, "&lt;") == 0 || xml.compare(i, 4, "&gt;") == 0 || xml.compare(i, 5, "&amp;") == 0;
        EXPECT_TRUE(entity) << "bare & at " << i;
      }
      EXPECT_NE(xml[i], '>') << "bare > at " << i;
      ++i;
      continue;
    }
    size_t end = xml.find('>', i);
    EXPECT_NE(end, std::string::npos);
    if (end == std::string::npos) return count;
    std::string tag = xml.substr(i + 1, end - i - 1);
    i = end + 1;
    if (tag[0] == '/') {
      EXPECT_FALSE(open.empty());
      if (open.empty()) return count;
      EXPECT_EQ(tag.substr(1), open.back());
      open.pop_back();
      continue;
    }
    bool closed = tag.back() == '/';
    EXPECT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
    std::string name = tag.substr(0, tag.find_first_of(" /"));
    ++count[name];
    if (!closed) open.push_back(name);
  }
  EXPECT_TRUE(open.empty());
  return count;
}

TEST(LayoutDraw, every_named_layout_is_well_formed_svg) {
  for (const char* spec : {"nz:20x32:f16", "zz:16x32:i8", "zn:16x20:f32", "nz_acc:20x16", "panel_a:8x3:f32",
                           "panel_b:3x20:f16", "mma_m16n8k16_a", "mma_m16n8k16_b", "mma_m16n8k16_c", "wgmma_d:8",
                           "wgmma_a:bf16", "swizzle128:8x64:f16", "swizzle32:8x8:f32"}) {
    Layout l = named_layout(spec);
    std::string svg = draw_svg(l);
    std::map<std::string, int> count = check_xml(svg);
    EXPECT_EQ(count["svg"], 1);
    EXPECT_EQ(count["rect"], l.padded().size() + 1) << spec;  // a cell each, and the background
    EXPECT_NE(svg.find("xmlns=\"http://www.w3.org/2000/svg\""), std::string::npos);
    EXPECT_NE(draw_text(l).find(to_string(l)), std::string::npos);
  }
}

TEST(LayoutDraw, svg_escapes_the_title_and_greys_the_padding) {
  std::string svg = draw_svg(named_layout("panel_a:8x3:f32"));
  EXPECT_NE(svg.find("32b[(2:18,6:1)&lt;8,3:6]"), std::string::npos);
  size_t grey = 0;
  for (size_t at = svg.find("fill=\"#eeeeee\""); at != std::string::npos; at = svg.find("fill=\"#eeeeee\"", at + 1))
    ++grey;
  EXPECT_EQ(grey, 4u * 3u);  // rows 8 .. 11
}

TEST(LayoutDraw, cells_of_one_thread_share_a_colour_and_neighbours_differ) {
  std::string svg = draw_svg(make_layout(32, {Axis({Mode::thread(3, 1), Mode::memory(2, 1)})}));
  std::vector<std::string> fills;
  for (size_t at = svg.find("stroke=\"#666666\""); at != std::string::npos; at = svg.find("stroke=\"#666666\"", at + 1))
    fills.push_back(svg.substr(at - 9, 7));
  ASSERT_EQ(fills.size(), 6u);
  for (size_t t = 0; t < 3; ++t) EXPECT_EQ(fills[2 * t], fills[2 * t + 1]);
  EXPECT_NE(fills[0], fills[2]);
  EXPECT_NE(fills[2], fills[4]);
  EXPECT_NE(fills[0], fills[4]);
}

}  // namespace
}  // namespace tilewright
