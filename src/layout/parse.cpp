// The text form of layouts: to_string and parse_layout. The grammar is in the header.
#include <fmt/format.h>

#include "layout/arith.h"
#include "layout/digits.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

std::string print_mode(const Mode& m, int64_t bits) { return fmt::format("{}:{}", m.extent, to_text(m.stride, bits)); }

std::string print_modes(const std::vector<Mode>& modes, int64_t bits) {
  std::string s;
  for (const Mode& m : modes) s += fmt::format("{}{}", s.empty() ? "" : ",", print_mode(m, bits));
  return s;
}

std::string print_axis(const Axis& a, int64_t bits) {
  std::string s = print_modes(a.modes, bits);
  if (a.modes.size() != 1) s = fmt::format("({})", s);
  return a.is_padded() ? s + fmt::format("<{}", a.extent) : s;
}

std::string print_table(const Layout& l) {
  std::string s = fmt::format("table[{}]{{", fmt::join(l.shape(), ","));
  int64_t replicas = l.replicas();
  for (size_t i = 0; i < l.table().size(); ++i) {
    if (i > 0) s += static_cast<int64_t>(i) % replicas == 0 ? "," : "|";
    s += to_text(l.table()[i], l.element_bits());
  }
  return s + "}";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// The layout at the front of the text.
  Layout front() {
    size_t start = at_;
    if (digit()) {
      bits_ = number();
      if (!take('b')) fail_at(start, "wanted element bits such as 16b, or [");
      if (bits_ < 1) fail_at(start, "wanted element bits of 1 or more");
    }
    return word("table") ? table() : modes_layout();
  }
  Layout whole() {
    Layout l = front();
    spaces();
    if (at_ != text_.size()) fail("wanted the end, xor, rep or at");
    return l;
  }
  size_t position() const { return at_; }

 private:
  [[noreturn]] void fail_at(size_t at, const std::string& what) const {
    throw UserError({}, fmt::format("layout text, column {}: {}: {}", at + 1, what, text_));
  }
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  void spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool digit() {
    spaces();
    return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
  }
  bool take(char c) {
    spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void want(char c, const char* where) {
    if (!take(c)) fail(fmt::format("wanted '{}' {}", c, where));
  }
  bool word(std::string_view w) {
    size_t start = at_;
    spaces();
    if (text_.substr(at_, w.size()) != w) {
      at_ = start;
      return false;
    }
    at_ += w.size();
    return true;
  }
  int64_t number() {
    if (!digit()) fail("wanted a number");
    int64_t v = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
      v = checked_add(checked_mul(v, 10), text_[at_++] - '0');
    return v;
  }
  Point point() {
    Point p;
    do {
      int64_t v = number();
      Dim d = take('c') ? Dim::block : take('g') ? Dim::group : take('t') ? Dim::thread : Dim::offset;
      p[d] = checked_add(p[d], d == Dim::offset ? checked_mul(v, bits_) : v);
    } while (take('+'));
    return p;
  }
  Mode mode() {
    Mode m;
    m.extent = number();
    want(':', "between extent and stride");
    m.stride = point();
    return m;
  }
  std::vector<Mode> modes(char close) {
    std::vector<Mode> list;
    if (take(close)) return list;
    do list.push_back(mode());
    while (take(','));
    want(close, "after the modes");
    return list;
  }
  Axis axis() {
    Axis a({}, 0);
    if (take('('))
      a.modes = modes(')');
    else
      a.modes = {mode()};
    if (take('<')) {
      size_t start = at_;
      a.extent = number();
      if (a.extent < 1) fail_at(start, "wanted an extent of 1 or more");
    }
    return a;
  }
  Layout modes_layout() {
    want('[', "before the axes");
    std::vector<Axis> axes;
    if (!take(']')) {
      do axes.push_back(axis());
      while (take(','));
      want(']', "after the axes");
    }
    Xor x;
    std::vector<Mode> replication;
    Point base;
    if (word("xor(")) {
      auto [to, to_end] = range();
      want(',', "between the bit ranges of xor");
      auto [from, from_end] = range();
      want(')', "after xor");
      if (to_end - to != from_end - from) fail("wanted two bit ranges of the same length in xor");
      x = {to_end - to + 1, to, from};
    }
    if (word("rep(")) replication = modes(')');
    if (word("at ")) base = point();
    return Layout::from_modes(bits_, std::move(axes), std::move(replication), base, x);
  }
  std::pair<int, int> range() {
    size_t start = at_;
    int64_t low = number();
    want('-', "inside a bit range");
    int64_t high = number();
    if (low > high || high > 63) fail_at(start, "wanted a bit range low-high below 64");
    return {static_cast<int>(low), static_cast<int>(high)};
  }
  Layout table() {
    want('[', "before the shape of the table");
    Coord shape;
    if (!take(']')) {
      do shape.push_back(number());
      while (take(','));
      want(']', "after the shape of the table");
    }
    want('{', "before the points of the table");
    std::vector<Point> points;
    int64_t replicas = 0, row = 0;
    do {
      row = 0;
      do points.push_back(point()), ++row;
      while (take('|'));
      if (replicas == 0) replicas = row;
      if (row != replicas) fail(fmt::format("wanted {} replicas as at the first coordinate, got {}", replicas, row));
    } while (take(','));
    want('}', "after the points of the table");
    return Layout::from_table(bits_, std::move(shape), std::move(points), replicas);
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t bits_ = 1;
};

}  // namespace

std::string to_string(const Layout& l) {
  std::string s = l.element_bits() == 1 ? "" : fmt::format("{}b", l.element_bits());
  if (l.is_table()) return s + (s.empty() ? "" : " ") + print_table(l);
  int64_t bits = l.element_bits();
  s += "[";
  for (size_t i = 0; i < l.axes().size(); ++i)
    s += fmt::format("{}{}", i > 0 ? "," : "", print_axis(l.axes()[i], bits));
  s += "]";
  const Xor& x = l.swizzle();
  if (x.bits > 0) s += fmt::format(" xor({}-{},{}-{})", x.to, x.to + x.bits - 1, x.from, x.from + x.bits - 1);
  if (!l.replication().empty()) s += fmt::format(" rep({})", print_modes(l.replication(), bits));
  if (l.base() != Point{}) s += fmt::format(" at {}", to_text(l.base(), bits));
  return s;
}

Layout parse_layout(std::string_view text) { return Parser(text).whole(); }

Layout parse_layout_front(std::string_view& text) {
  Parser parser(text);
  Layout l = parser.front();
  text.remove_prefix(parser.position());
  return l;
}

}  // namespace tilewright
