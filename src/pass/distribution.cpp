#include "pass/distribution.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "ir/build.h"
#include "ir/walk.h"

namespace tilewright {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

Digit digit_of(const Mode& m, int64_t element_bits) {
  TW_CHECK(m.stride.block == 0 && m.stride.group == 0 && (m.stride.thread == 0 || m.stride.offset == 0),
           "a digit of a distributed tile drives a thread or a slot");
  return {m.extent, m.stride.thread, m.stride.offset / element_bits};
}

Mode mode_of(const Digit& d) {
  return d.of_thread() ? Mode::thread(d.extent, d.threads) : Mode::memory(d.extent, d.slots);
}

void append(std::vector<Digit>& digits, Digit d) {
  if (d.extent > 1) digits.push_back(d);
}

/// In ascending order, neighbouring digits as one.
void sort_copies(Distribution& d) {
  std::sort(d.copies.begin(), d.copies.end(), [](const Digit& a, const Digit& b) { return a.threads < b.threads; });
  std::vector<Digit> merged;
  for (const Digit& digit : d.copies) {
    if (!merged.empty() && merged.back().threads * merged.back().extent == digit.threads)
      merged.back().extent *= digit.extent;
    else
      merged.push_back(digit);
  }
  d.copies = std::move(merged);
}

/// Numbers the slots densely, in the order that they have.
void number_slots(Distribution& d) {
  std::vector<Digit*> slots;
  for (Distribution::Axis& axis : d.axes)
    for (Digit& digit : axis.digits)
      if (!digit.of_thread()) slots.push_back(&digit);
  std::sort(slots.begin(), slots.end(), [](const Digit* a, const Digit* b) { return a->slots < b->slots; });
  int64_t next = 1;
  for (Digit* digit : slots) {
    digit->slots = next;
    next *= digit->extent;
  }
}

}  // namespace

int64_t Distribution::Axis::padded() const {
  int64_t n = 1;
  for (const Digit& d : digits) n *= d.extent;
  return n;
}

Distribution Distribution::of(const Layout& layout) {
  TW_CHECK(!layout.is_table() && layout.swizzle().bits == 0, "the layout of a distributed tile is made of digits");
  Distribution d;
  for (const tilewright::Axis& axis : layout.axes()) {
    Axis& mine = d.axes.emplace_back();
    mine.extent = axis.extent;
    for (const Mode& m : axis.modes) append(mine.digits, digit_of(m, layout.element_bits()));
  }
  for (const Mode& m : layout.replication()) append(d.copies, digit_of(m, layout.element_bits()));
  return d;
}

Layout Distribution::layout(int64_t element_bits) const {
  std::vector<tilewright::Axis> parts;
  for (const Axis& axis : axes) {
    std::vector<Mode> modes;
    for (const Digit& d : axis.digits) modes.push_back(mode_of(d));
    if (modes.empty()) modes.push_back(Mode::memory(1, 0));
    parts.emplace_back(std::move(modes), axis.extent);
  }
  Layout whole = make_layout(element_bits, std::move(parts));
  std::vector<Mode> replication;
  for (const Digit& d : copies) replication.push_back(mode_of(d));
  return replication.empty() ? whole : whole.with_replication(std::move(replication));
}

Distribution Distribution::rows(const std::vector<int64_t>& shape, int64_t threads, int64_t lanes) {
  TW_CHECK(!shape.empty() && threads % lanes == 0, "threads of whole warps hold a tile of one axis or more");
  const size_t rank = shape.size();
  const int64_t columns = shape.back(), height = rank > 1 ? shape[rank - 2] : 1, warps = threads / lanes;
  const int64_t wide = std::min<int64_t>(lanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(columns))));
  const int64_t row_lanes =
      std::min<int64_t>(lanes / wide, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(height))));
  int64_t groups = 1;  // of warps, each with rows of its own
  for (int64_t g = 1; g <= warps; ++g)
    if (warps % g == 0 && g * row_lanes <= height) groups = g;
  // Lanes that neither rows nor columns need hold copies, and so do warps, where the columns do not take them.
  const int64_t spare = warps / groups;
  const int64_t along = columns > lanes ? spare : 1;

  Distribution d;
  for (int64_t extent : shape) d.axes.push_back({extent, {}});
  Axis& last = d.axes.back();
  append(last.digits, {ceil_div(columns, wide * along), 0, 1});
  append(last.digits, {along, lanes, 0});
  append(last.digits, {wide, 1, 0});
  int64_t slots = ceil_div(columns, wide * along);
  if (rank > 1) {
    Axis& row = d.axes[rank - 2];
    append(row.digits, {ceil_div(height, groups * row_lanes), 0, slots});
    append(row.digits, {groups, lanes * spare, 0});
    append(row.digits, {row_lanes, wide, 0});
    slots *= ceil_div(height, groups * row_lanes);
  }
  append(d.copies, {lanes / (wide * row_lanes), wide * row_lanes, 0});
  if (along == 1) append(d.copies, {spare, lanes, 0});
  sort_copies(d);
  for (size_t i = rank; i-- > 2;) {
    append(d.axes[i - 2].digits, {shape[i - 2], 0, slots});
    slots *= shape[i - 2];
  }
  return d;
}

Distribution Distribution::project(const std::vector<size_t>& kept) const {
  Distribution d;
  d.copies = copies;
  for (size_t k : kept) d.axes.push_back(axes[k]);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::find(kept.begin(), kept.end(), i) != kept.end()) continue;
    for (const Digit& digit : axes[i].digits)
      if (digit.of_thread()) d.copies.push_back(digit);
  }
  sort_copies(d);
  number_slots(d);
  return d;
}

bool Distribution::same_places(const Distribution& other) const {
  auto same = [](const std::vector<Digit>& a, const std::vector<Digit>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Digit& x, const Digit& y) { return x.same_place(y); });
  };
  if (axes.size() != other.axes.size() || !same(copies, other.copies)) return false;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].extent != other.axes[i].extent || !same(axes[i].digits, other.axes[i].digits)) return false;
  return true;
}

int64_t Distribution::slots() const {
  int64_t n = 1;
  for (const Axis& axis : axes)
    for (const Digit& d : axis.digits)
      if (!d.of_thread()) n *= d.extent;
  return n;
}

std::optional<Distribution> dealing_of(const ir::For& loop) {
  std::optional<Distribution> found;
  auto note = [&](const ir::Buffer& b, const ir::Exprs& indices) {
    if (found || b.layout.empty()) return;
    const Distribution tile = Distribution::of(parse_layout(b.layout));
    std::vector<std::optional<size_t>> axis_of(loop.vars.size());
    for (size_t d = 0; d < indices.size(); ++d)
      for (size_t k = 0; k < loop.vars.size(); ++k)
        if (const auto* v = ir::as<ir::Var>(indices[d]); v && v->name == loop.vars[k]->name) axis_of[k] = d;
    Distribution dealt;
    dealt.copies = tile.copies;
    for (size_t k = 0; k < loop.vars.size(); ++k) {
      if (!axis_of[k] && !ir::is_constant_equal(loop.extents[k], 1)) return;
      dealt.axes.push_back(axis_of[k] ? tile.axes[*axis_of[k]] : Distribution::Axis{});
    }
    found = std::move(dealt);
  };
  ir::post_order(loop.body, [&](const ir::Node& node) {
    if (const auto* l = ir::as<ir::Load>(&node)) note(*l->buffer, l->indices);
    if (const auto* s = ir::as<ir::Store>(&node)) note(*s->buffer, s->indices);
  });
  return found;
}

}  // namespace tilewright
