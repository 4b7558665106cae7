// Tile handles: elements, regions, shapes, and stores of elements.
#include "tilewright/dsl/tile.h"

#include <fmt/format.h>

#include "dsl/region.h"
#include "ir/walk.h"

namespace tilewright {

namespace detail {

namespace {

/// Refuses a constant index outside an on-chip tile. (A global element outside reads 0 and drops writes.)
void check_bounds(const ir::Buffer& b, const ir::Exprs& index, Location at) {
  if (b.space == ir::Space::global) return;
  for (size_t i = 0; i < index.size(); ++i) {
    int64_t k, n;
    if (!ir::is_constant(index[i], &k) || !ir::is_constant(b.shape[i], &n)) continue;
    if (k < 0 || k >= n)
      raise(at, fmt::format("index {} of axis {} is outside {}, which is {}: valid are 0 to {}", k, i, b.name, shown(b),
                            n - 1));
  }
}

/// Whether the value of `e` may differ between iterations of the parallel loop `block` that differ in `var` alone.
bool depends_on(const Trace& t, const ir::Expr& e, const ir::Var* var, uint32_t block) {
  std::vector<const ir::Node*> work{e.get()};
  std::unordered_set<const ir::Node*> seen;
  while (!work.empty()) {
    const ir::Node* n = work.back();
    work.pop_back();
    if (n == var) return true;
    if (!seen.insert(n).second || n->kind == ir::Kind::Buffer) continue;
    if (const auto* load = ir::as<ir::Load>(n)) {
      auto it = t.storage_of.find(load->buffer.get());
      if (it != t.storage_of.end() && t.storages[it->second].parallel == block) return true;
    }
    if (auto it = t.names.find(n); it != t.names.end() && it->second.value) work.push_back(it->second.value.get());
    ir::append_children(*n, work);
  }
  return false;
}

std::string element_text(const ir::Load& place) {
  std::string s = place.buffer->name + "(";
  for (size_t i = 0; i < place.indices.size(); ++i) s += (i ? ", " : "") + text(place.indices[i]);
  return s + ")";
}

/// Refuses a store in which two iterations of the parallel loop around it surely write one place: the place does not
/// depend on a loop variable of two values or more, while the value does (or is read from that place).
void check_conflict(Trace& t, const ir::Load& place, uint32_t storage, const ir::Expr& value, bool compound,
                    Location at) {
  uint32_t parallel = t.top().parallel;
  if (!parallel || t.storages[storage].parallel == parallel) return;
  size_t at_depth = t.blocks.size() - 1;
  for (; t.blocks[at_depth].id != parallel; --at_depth)
    if (!t.blocks[at_depth].certain) return;
  const Block& loop = t.blocks[at_depth];
  if (!loop.certain) return;
  for (size_t v = 0; v < loop.vars.size(); ++v) {
    const ir::Var* var = loop.vars[v].get();
    if (ir::is_constant_equal(loop.extents[v], 1)) continue;
    bool moves = false;
    for (const ir::Expr& i : place.indices) moves = moves || depends_on(t, i, var, parallel);
    if (moves || (!compound && !depends_on(t, value, var, parallel))) continue;
    raise(at,
          fmt::format(
              "iterations of parallel conflict: those that differ in {} all store to {}; index it with {}, or use "
              "a reduction",
              var->name, element_text(place), var->name),
          {{loop.at, "the parallel loop"}});
  }
}

}  // namespace

Value element(const Place& place, Indices index, Location at) {
  const ir::Buffer& b = buffer_of(place);
  Trace& t = current(b.space == ir::Space::global ? "a tensor's element" : "a tile's element", at);
  check(t, place, at);
  if (index.size() != b.shape.size())
    raise(at, fmt::format("{} is {}: it takes {} indices, got {}", b.name, shown(b), b.shape.size(), index.size()),
          {declared(t, place.storage, b.name.c_str())});
  Value v;
  v.trace = t.id, v.scope = place.scope, v.depth = place.depth;
  ir::Exprs indices;
  for (const Operand& i : index) {
    indices.push_back(as_index(i, "an index"));
    check(t, i.value, i.at);
    add_uses(v, i.value, i.at);
  }
  check_bounds(b, indices, at);
  auto* mine = new Reads;
  Value read;
  read.reads = Counted<Reads>(mine);
  mine->list.push_back({place.storage, t.storages[place.storage].epoch, at});
  read.trace = t.id, read.scope = place.scope, read.depth = place.depth, read.block = t.top().id;
  add_uses(v, read, at);
  ir::Expr load = ir::load(buffer_ref(place), std::move(indices));
  t.count_nodes(1, at);
  v.node = hold(load.get());
  v.type = b.dtype;
  return v;
}

/// place = o, or place op= o.
static void store(const Value& place, char op, const Operand& o, Location at) {
  Trace& t = current_in_grid("a store", at);
  const auto* load = ir::as<ir::Load>(node_of(place));
  const ir::Buffer& b = *load->buffer;
  check(t, place, at);
  uint32_t storage = t.storage_of.at(&b);
  check(t, o.value, o.at);
  Operand value = o;
  if (op != '=') {
    check_read(t, storage, at, "this");
    value = Operand(arithmetic(op, Operand(place, o.at), o), o.at);
  }
  check_write(t, storage, at, "a store");
  ir::Expr stored = stored_as(value, b.dtype, "store", b.name);
  check_conflict(t, *load, storage, stored, op != '=', at);
  t.count_nodes(1, at);
  t.append(ir::make_at<ir::Store>(at, load->buffer, load->indices, stored));
  t.wrote(storage, at);
}

Value read(const Cell& c) {
  Trace* t = active();
  const Place& p = c.place();
  return element(p, {}, t && t->id == p.trace ? t->storages[p.storage].at : Location{});
}

void store_cell(const Place& place, char op, const Operand& o) { store(element(place, {}, o.at), op, o, o.at); }

}  // namespace detail

Operand::Operand(const Cell& c, Location at) : value(detail::element(c.place(), {}, at)), at(at) {}

void Element::store(char op, const Operand& o) { detail::store(value_, op, o, at_); }

// ---- Buffer ---------------------------------------------------------------------------------------------------------

namespace {
/// Brackets and indices have no line of their own: the first index has it.
Location first_of(Indices index, const detail::Place& place) {
  if (index.size()) return index.begin()->at;
  detail::Trace* t = detail::active();
  return t && t->id == place.trace ? t->storages[place.storage].at : Location{};
}
}  // namespace

Element Buffer::at(Indices index) const {
  Location at = first_of(index, place_);
  return Element(detail::element(place_, index, at), at);
}

void Buffer::check_rank(size_t n, Location at) const {
  const ir::Buffer& b = detail::buffer_of(place_);
  if (b.shape.size() != n)
    detail::raise(at, fmt::format("{} is {}: its rank is {}, shape<{}>() asks for {}", b.name, detail::shown(b),
                                  b.shape.size(), n, n));
}

Expr Buffer::extent_value(size_t axis) const {
  detail::Value v;
  const ir::Expr& e = detail::buffer_of(place_).shape[axis];
  v.node = detail::hold(e.get());
  v.type = e->dtype;
  if (!ir::is_constant(e)) {
    detail::Trace* t = detail::active();
    v.trace = place_.trace;
    if (t && t->id == place_.trace) v.scope = t->blocks[0].id;
  }
  return Expr(std::move(v));
}

Expr Buffer::extent(int64_t axis, Location at) const {
  const ir::Buffer& b = detail::buffer_of(place_);
  int64_t rank = static_cast<int64_t>(b.shape.size());
  if (axis < 0 || axis >= rank)
    detail::raise(at, fmt::format("{} is {}: it has no axis {}", b.name, detail::shown(b), axis));
  return extent_value(static_cast<size_t>(axis));
}

int Buffer::rank() const { return static_cast<int>(detail::buffer_of(place_).shape.size()); }

// ---- Region ---------------------------------------------------------------------------------------------------------

namespace {

Region::Data* make_region(const detail::Place& place, Indices offset, Indices extent, bool open, Location at) {
  const ir::Buffer& b = detail::buffer_of(place);
  detail::Trace& t = detail::current("a region of a tile", at);
  detail::check(t, place, at);
  auto wrong = [&](const char* what, size_t n) {
    detail::raise(
        at,
        fmt::format("{} is {}: a region of it takes {} {}, got {}", b.name, detail::shown(b), b.shape.size(), what, n),
        {detail::declared(t, place.storage, b.name.c_str())});
  };
  if (offset.size() != b.shape.size()) wrong("offsets", offset.size());
  if (!open && extent.size() != b.shape.size()) wrong("extents", extent.size());
  detail::Value uses;
  ir::Exprs offsets, extents;
  for (const Operand& o : offset) {
    offsets.push_back(detail::as_index(o, "an offset"));
    detail::check(t, o.value, o.at);
    detail::add_uses(uses, o.value, o.at);
  }
  for (const Operand& o : extent) {
    extents.push_back(detail::as_index(o, "an extent"));
    int64_t n;
    if (!ir::is_constant(extents.back(), &n))
      detail::raise(o.at, fmt::format("tile: extent {} must be a host number, got {}", extents.size() - 1,
                                      detail::text(extents.back())));
    if (n < 1) detail::raise(o.at, fmt::format("tile: extent {} is {}: it must be at least 1", extents.size() - 1, n));
  }
  return new Region::Data{place, std::move(offsets), std::move(extents), std::move(uses), at};
}

}  // namespace

Region Buffer::operator[](Indices offset) const& {
  return Region(make_region(place_, offset, {}, true, first_of(offset, place_)));
}

Region Buffer::tile(Indices offset, Indices extent, Location at) const& {
  return Region(make_region(place_, offset, extent, false, at));
}

static Region::Data* whole(const detail::Place& place) {
  const ir::Buffer& b = detail::buffer_of(place);
  return new Region::Data{place, ir::Exprs(b.shape.size(), ir::index(0)), b.shape, {}, {}};
}
Region::Region(const Buffer& b) : data_(whole(b.place())) {}
Region::Region(const Cell& c) : data_(whole(c.place())) {}
Region::~Region() { delete data_; }

}  // namespace tilewright
