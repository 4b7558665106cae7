// Drawings of layouts: grids of cells, one for each index of the leading axes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "layout/digits.h"
#include "tilewright/error.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxCells = 65536;

/// What a drawing shows of a layout of any rank: its last two axes as rows and columns, the others as separate grids.
struct Grid {
  Layout layout;                        // the logical layout
  Layout padded;                        // the same over its padded domain
  Coord leading;                        // extents of the leading axes
  int64_t rows, columns;                // logical
  int64_t padded_rows, padded_columns;  // drawn
  bool block, group, thread;            // places that occur
};

Grid make_grid(const Layout& layout) {
  Grid g;
  g.layout = layout;
  g.padded = layout.padded();
  Coord shape = layout.shape(), drawn = g.padded.shape();
  size_t n = shape.size();
  g.columns = n >= 1 ? shape[n - 1] : 1;
  g.rows = n >= 2 ? shape[n - 2] : 1;
  g.padded_columns = n >= 1 ? drawn[n - 1] : 1;
  g.padded_rows = n >= 2 ? drawn[n - 2] : 1;
  for (size_t i = 0; i + 2 < n; ++i) g.leading.push_back(shape[i]);
  int64_t cells = 1;
  for (int64_t v : {Layout::shape_size(g.leading), g.padded_rows, g.padded_columns})
    if (__builtin_mul_overflow(cells, v, &cells) || cells > kMaxCells)
      throw UserError({},
                      fmt::format("draw: a layout of shape {} has more than {} cells; slice it or draw a smaller tile",
                                  to_text(shape), kMaxCells));
  g.block = g.padded.uses(Dim::block);
  g.group = g.padded.uses(Dim::group);
  g.thread = g.padded.uses(Dim::thread);
  return g;
}

Coord cell(const Grid& g, const Coord& lead, int64_t row, int64_t column) {
  Coord x = lead;
  if (g.layout.rank() >= 2) x.push_back(row);
  if (g.layout.rank() >= 1) x.push_back(column);
  return x;
}

/// "c1 g2 t3": the places that the layout uses.
std::string place_text(const Grid& g, const Point& p) {
  std::string s;
  if (g.block) s += fmt::format("c{} ", p.block);
  if (g.group) s += fmt::format("g{} ", p.group);
  if (g.thread) s += fmt::format("t{} ", p.thread);
  if (!s.empty()) s.pop_back();
  return s;
}

std::string element_text(const Grid& g, const Point& p) {
  return fmt::format("{}", p.offset / g.layout.element_bits());
}

/// Place and element.
std::string cell_text(const Grid& g, const Point& p) {
  std::string place = place_text(g, p);
  return place.empty() ? element_text(g, p) : fmt::format("{}:{}", place, element_text(g, p));
}

std::string lead_text(const Coord& lead) { return fmt::format("[{}, :, :]", fmt::join(lead, ", ")); }

/// A colour for a thread or bank, pale enough for black text.
std::string colour(int64_t key) {
  // Hues 137.5 degrees apart keep neighbours distinct; saturation alternates.
  double hue = static_cast<double>(key % 720) * 137.50776;
  double h = hue - 360.0 * static_cast<double>(static_cast<int64_t>(hue / 360.0));
  double lightness = key % 2 == 0 ? 0.80 : 0.72, chroma = (1 - std::abs(2 * lightness - 1)) * 0.75;
  auto channel = [&](double offset) {
    double k = h / 60.0 + offset;
    k -= 6.0 * static_cast<double>(static_cast<int64_t>(k / 6.0));
    double v = std::clamp(std::abs(k - 3.0) - 1.0, 0.0, 1.0);
    return static_cast<int>((lightness - chroma / 2 + chroma * v) * 255.0 + 0.5);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(4), channel(2));
}

std::string escaped(const std::string& s) {
  std::string out;
  for (char c : s) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string draw_text(const Layout& layout) {
  Grid g = make_grid(layout);
  std::string out = to_string(layout) + "\n";
  if (layout.replicas() > 1) out += fmt::format("{} replicas, the first is shown\n", layout.replicas());
  size_t width = 1;
  Coord lead = Layout::first_coordinate(g.leading);
  do
    for (int64_t r = 0; r < g.rows; ++r)
      for (int64_t c = 0; c < g.columns; ++c)
        width = std::max(width, cell_text(g, layout.at(cell(g, lead, r, c))).size());
  while (Layout::next_coordinate(g.leading, lead));
  width = std::max(width, fmt::format("{}", g.columns - 1).size());
  size_t margin = fmt::format("{}", g.rows - 1).size();
  do {
    if (!g.leading.empty()) out += fmt::format("{}\n", lead_text(lead));
    out += std::string(margin, ' ') + " |";
    for (int64_t c = 0; c < g.columns; ++c) out += fmt::format(" {:>{}}", c, width);
    out += fmt::format("\n{}\n", std::string(margin + 2 + static_cast<size_t>(g.columns) * (width + 1), '-'));
    for (int64_t r = 0; r < g.rows; ++r) {
      out += fmt::format("{:>{}} |", r, margin);
      for (int64_t c = 0; c < g.columns; ++c)
        out += fmt::format(" {:>{}}", cell_text(g, layout.at(cell(g, lead, r, c))), width);
      out += "\n";
    }
  } while (Layout::next_coordinate(g.leading, lead));
  return out;
}

std::string draw_svg(const Layout& layout) {
  Grid g = make_grid(layout);
  bool places = g.block || g.group || g.thread;
  size_t longest = 1;
  for (const Point& p : all_images(g.padded))
    longest = std::max({longest, place_text(g, p).size(), element_text(g, p).size()});
  int64_t w = std::max<int64_t>(26, 8 + 7 * static_cast<int64_t>(longest)), h = places ? 34 : 24;
  int64_t left = 40, top = 64, gap = 30;
  int64_t grids = Layout::shape_size(g.leading);
  int64_t grid_height = g.padded_rows * h + gap;
  std::string caption =
      fmt::format("cell: {}element offset ({} bits each); colour: {}{}{}", places ? "place above " : "",
                  layout.element_bits(), g.thread ? "thread" : "4-byte bank of 32",
                  g.padded_rows * g.padded_columns > g.rows * g.columns ? "; grey: padding" : "",
                  layout.replicas() > 1 ? fmt::format("; first of {} replicas", layout.replicas()) : "");
  std::string title = to_string(layout);
  if (title.size() > 160) title = title.substr(0, 157) + "...";
  int64_t text_width = 8 * static_cast<int64_t>(std::max(title.size(), caption.size()));
  int64_t width = std::max(left + g.padded_columns * w + 20, text_width + 20), height = top + grids * grid_height;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"monospace\" font-size=\"12\" text-anchor=\"middle\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"10\" y=\"18\" text-anchor=\"start\" font-weight=\"bold\">{2}</text>\n"
      "<text x=\"10\" y=\"36\" text-anchor=\"start\" fill=\"#555555\">{3}</text>\n",
      width, height, escaped(title), escaped(caption));
  Coord lead = Layout::first_coordinate(g.leading);
  int64_t y0 = top;
  do {
    if (!g.leading.empty())
      out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"start\">{}</text>\n", left, y0 - 18, lead_text(lead));
    for (int64_t c = 0; c < g.columns; ++c)
      out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"#888888\">{}</text>\n", left + c * w + w / 2, y0 - 4, c);
    for (int64_t r = 0; r < g.rows; ++r)
      out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#888888\">{}</text>\n", left - 6,
                         y0 + r * h + h / 2 + 4, r);
    for (int64_t r = 0; r < g.padded_rows; ++r)
      for (int64_t c = 0; c < g.padded_columns; ++c) {
        Point p = g.padded.at(cell(g, lead, r, c));
        bool logical = r < g.rows && c < g.columns;
        std::string fill = logical ? colour(g.thread ? p.thread : p.offset / 32 % 32) : "#eeeeee";
        std::string ink = logical ? "black" : "#aaaaaa";
        int64_t x = left + c * w, y = y0 + r * h;
        out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#666666\"/>\n", x,
                           y, w, h, fill);
        int64_t base = places ? y + 29 : y + 16;
        if (places)
          out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\" font-weight=\"bold\">{}</text>\n", x + w / 2, y + 14,
                             ink, place_text(g, p));
        out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", x + w / 2, base, ink, element_text(g, p));
      }
    y0 += grid_height;
  } while (Layout::next_coordinate(g.leading, lead));
  return out + "</svg>\n";
}

}  // namespace tilewright
