// Statements: allocation, let, and those on whole tiles. Each checks everything first and appends last.
#include <fmt/format.h>

#include <algorithm>

#include "dsl/region.h"
#include "ir/linear.h"
#include "ir/walk.h"

namespace tilewright {

static_assert(static_cast<int>(Precision::tf32) == static_cast<int>(ir::Precision::tf32));

namespace {

using detail::raise;
using detail::Trace;
using detail::Value;

constexpr int64_t kMaxTileElements = int64_t{1} << 31;

// ---- allocation -----------------------------------------------------------------------------------------------------

detail::Place allocate(ir::Space space, const char* word, DType type, Indices extents, Location at) {
  Trace& t = detail::current_in_grid(word, at);
  if (type.lanes != 1) raise(at, fmt::format("{}: {} is not a scalar type", word, to_string(type)));
  bool iteration_only = space == ir::Space::local || space == ir::Space::var;
  if (t.top().parallel && !iteration_only)
    raise(at, fmt::format("{} cannot be made inside parallel, where only local and var can: make it before the loop",
                          word));
  if (space != ir::Space::var && extents.size() == 0)
    raise(at, fmt::format("{}: a tile needs at least one extent", word));
  ir::Exprs shape;
  int64_t elements = 1;
  for (const Operand& e : extents) {
    size_t axis = shape.size();
    detail::require_value(e.value, at);
    if (!e.value.type.is_int())
      raise(at, fmt::format("{}: extent {} must be an integer, it is {}", word, axis, to_string(e.value.type)));
    ir::Expr n = detail::as_index(e, "an extent");
    int64_t value = 0;
    if (!ir::is_constant(n, &value))
      raise(at, fmt::format("{}: extent {} must be a host number (tile sizes are decided now), got {}", word, axis,
                            detail::text(n)));
    if (value < 1) raise(at, fmt::format("{}: extent {} is {}: it must be at least 1", word, axis, value));
    if (value > kMaxTileElements || elements * value > kMaxTileElements)
      raise(at, fmt::format("{}: the tile has more than 2^31 elements", word));
    elements *= value;
    shape.push_back(std::move(n));
  }
  auto buffer = ir::make_at<ir::Buffer>(at, t.numbered(word == std::string("fragment") ? "frag" : word), type,
                                        std::move(shape), ir::Exprs{}, space);
  detail::Place p;
  p.node = detail::hold(buffer.get());
  p.trace = t.id, p.scope = t.top().id, p.depth = static_cast<uint32_t>(t.blocks.size() - 1);
  p.storage = static_cast<uint32_t>(t.storages.size());
  t.count_nodes(2, at);
  t.storages.push_back({buffer->name, space, TensorSpec::Access::inferred, at, 0, at, t.top().parallel});
  t.storage_of.emplace(buffer.get(), p.storage);
  t.append(ir::make_at<ir::Alloc>(at, buffer));
  return p;
}

// ---- regions --------------------------------------------------------------------------------------------------------

/// A region operand of a statement at `at`, named `role` in messages.
struct Side {
  const Region::Data& data;
  const char* role;
  const ir::Buffer& buffer;
  uint32_t storage;
  ir::Exprs extent;

  Side(Trace& t, const Region& r, const char* role, Location at)
      : data(r.data()), role(role), buffer(data.buffer()), storage(data.place.storage), extent(data.extent) {
    detail::check(t, data.place, at);
    check_uses(t, at);
  }
  void check_uses(Trace& t, Location at) const {
    Value v = data.uses;
    v.node = data.place.node;  // only to say that there is one
    detail::check(t, v, at);
  }
  bool waits() const { return data.waits(); }
  bool on_chip() const { return buffer.space != ir::Space::global && buffer.space != ir::Space::workspace; }
  ir::Ref<ir::Region> region() const { return ir::make<ir::Region>(ir::Ref<ir::Buffer>(&buffer), data.offset, extent); }
  std::string shown() const { return fmt::format("{} {}", detail::shape_text(extent), to_string(buffer.dtype)); }
  Note note(const Trace& t) const { return detail::declared(t, storage, role); }
};

ir::Exprs without_ones(const ir::Exprs& e) {
  ir::Exprs out;
  for (const ir::Expr& x : e)
    if (!ir::is_constant_equal(x, 1)) out.push_back(x);
  return out;
}

/// Equal for certain, different for certain, or unknown (two symbols).
bool certainly_differ(const ir::Expr& a, const ir::Expr& b) {
  int64_t x, y;
  return ir::is_constant(a, &x) && ir::is_constant(b, &y) && x != y;
}

/// Gives `side` the extents of `other`, aligned at the last axis, with 1 in front.
void complete(const Trace& t, const char* word, Side& side, const Side& other, Location at) {
  if (!side.waits()) return;
  size_t rank = side.buffer.shape.size();
  ir::Exprs from = other.extent;
  while (from.size() > rank && ir::is_constant_equal(from.front(), 1)) from.erase(from.begin());
  if (from.size() > rank) from = without_ones(from);
  if (from.size() > rank)
    raise(at, fmt::format("{}: {} has rank {}, but {} is {}", word, side.role, rank, other.role, other.shown()),
          {side.note(t), other.note(t)});
  side.extent.assign(rank - from.size(), ir::index(1));
  side.extent.insert(side.extent.end(), from.begin(), from.end());
}

/// A region of an on-chip tile must lie inside it, as far as the numbers are known.
void check_inside(const Trace& t, const char* word, const Side& s, Location at) {
  if (!s.on_chip()) return;
  for (size_t i = 0; i < s.extent.size(); ++i) {
    int64_t from, size, n;
    if (!ir::is_constant(s.data.offset[i], &from) || !ir::is_constant(s.extent[i], &size) ||
        !ir::is_constant(s.buffer.shape[i], &n))
      continue;
    if (from < 0 || size > n || from > n - size)
      raise(at,
            fmt::format("{}: {} starts at {} and takes {} of axis {} of {}, which is {}", word, s.role, from, size, i,
                        s.buffer.name, detail::shown(s.buffer)),
            {s.note(t)});
  }
}

void require_on_chip(const Trace& t, const char* word, const Side& s, Location at) {
  if (!s.on_chip())
    raise(at, fmt::format("{}: {} is the tensor {}: copy it to a tile first", word, s.role, s.buffer.name),
          {s.note(t)});
}

/// Two regions of one statement, at most one of which waits for its extents.
void complete_both(const Trace& t, const char* word, Side& a, Side& b, Location at) {
  if (a.waits() && b.waits())
    raise(at, fmt::format("{}: neither {} nor {} has extents: write {}.tile({{...}}, {{...}})", word, a.role, b.role,
                          a.buffer.name));
  complete(t, word, a, b, at);
  complete(t, word, b, a, at);
  check_inside(t, word, a, at);
  check_inside(t, word, b, at);
}

void require_extents(const char* word, const Side& s, Location at) {
  if (s.waits())
    raise(at, fmt::format("{}: {} has no extents: write {}.tile({{...}}, {{...}})", word, s.role, s.buffer.name));
}

enum class Overlap : uint8_t { none, some, unknown };

/// Whether two regions of one buffer share an element.
Overlap overlap(const Side& a, const Side& b) {
  ir::LinearForms forms;
  Overlap result = Overlap::some;
  for (size_t i = 0; i < a.extent.size(); ++i) {
    ir::Linear apart = ir::add_scaled(forms.of(b.data.offset[i].get()), forms.of(a.data.offset[i].get()), -1, 64);
    int64_t m, n, distance = apart.constant;
    bool known = apart.terms.empty();
    if (known && distance == 0) continue;  // extents are at least 1
    if (!known || !ir::is_constant(a.extent[i], &m) || !ir::is_constant(b.extent[i], &n))
      result = Overlap::unknown;
    else if (distance >= m || distance <= -n)
      return Overlap::none;
  }
  return result;
}

/// The extents of a copy must be equal for certain.
void check_extents(const Trace& t, const Side& src, const Side& dst, Location at) {
  ir::Exprs x = without_ones(src.extent), y = without_ones(dst.extent);
  bool differ = x.size() != y.size();
  for (size_t i = 0; !differ && i < x.size(); ++i) differ = certainly_differ(x[i], y[i]);
  std::vector<Note> notes{src.note(t), dst.note(t)};
  if (differ)
    raise(at, fmt::format("copy: src is {} but dst is {}: the extents differ", src.shown(), dst.shown()), notes);
  for (size_t i = 0; i < x.size(); ++i) {
    if (ir::equal(x[i], y[i])) continue;
    const Side& whole = ir::is_constant(x[i]) ? dst : src;
    raise(at,
          fmt::format("copy: src is {} but dst is {}: {} and {} may differ; write {}[{{...}}] for the part that starts "
                      "there",
                      src.shown(), dst.shown(), detail::text(x[i]), detail::text(y[i]), whole.buffer.name),
          notes);
  }
}

void copy_tiles(const Region& from, const Region& to, const Operand* fill, Location at) {
  Trace& t = detail::current_block_level("copy", at);
  Side src(t, from, "src", at), dst(t, to, "dst", at);
  complete_both(t, "copy", src, dst, at);
  check_extents(t, src, dst, at);
  Overlap shared = src.storage == dst.storage ? overlap(src, dst) : Overlap::none;
  if (shared != Overlap::none)
    raise(at,
          fmt::format("copy: src and dst {} in {}: copy through another tile",
                      shared == Overlap::some ? "overlap" : "may overlap", src.buffer.name),
          {src.note(t)});
  if (src.buffer.dtype.is_bool() != dst.buffer.dtype.is_bool())
    raise(at,
          fmt::format("copy: src is {} but dst is {}: a bool tile is copied to bool tiles only", src.shown(),
                      dst.shown()),
          {src.note(t), dst.note(t)});
  ir::Expr value;
  if (fill) {
    detail::check(t, fill->value, fill->at);
    value = detail::stored_as(*fill, src.buffer.dtype, "copy: fill", "src");
  }
  detail::check_read(t, src.storage, at, "copy");
  detail::check_write(t, dst.storage, at, "copy");
  t.count_nodes(3, at);
  t.append(ir::make_at<ir::Copy>(at, src.region(), dst.region(), value));
  t.wrote(dst.storage, at);
}

void fill_tile(const char* word, const Region& to, const Operand* value, Location at) {
  Trace& t = detail::current_block_level(word, at);
  Side dst(t, to, "dst", at);
  require_extents(word, dst, at);
  check_inside(t, word, dst, at);
  ir::Expr stored;
  if (value) {
    detail::check(t, value->value, value->at);
    stored = detail::stored_as(*value, dst.buffer.dtype, word, dst.buffer.name);
  } else {
    if (dst.buffer.dtype == e8m0) raise(at, fmt::format("clear: {} is e8m0, which has no zero", dst.buffer.name));
    stored = ir::constant(dst.buffer.dtype.is_float() ? Scalar::of_float(dst.buffer.dtype, 0)
                                                      : Scalar::of_int(dst.buffer.dtype, 0));
  }
  detail::check_write(t, dst.storage, at, word);
  t.count_nodes(2, at);
  t.append(ir::make_at<ir::Fill>(at, dst.region(), stored));
  t.wrote(dst.storage, at);
}

// ---- reduce ---------------------------------------------------------------------------------------------------------

void reduce(ir::ReduceOp op, const char* word, const Region& from, const Region& to, int axis, ReduceOptions options,
            Location at) {
  Trace& t = detail::current_block_level(word, at);
  Side src(t, from, "src", at), dst(t, to, "dst", at);
  require_extents(word, src, at), require_extents(word, dst, at);
  require_on_chip(t, word, src, at), require_on_chip(t, word, dst, at);
  check_inside(t, word, src, at), check_inside(t, word, dst, at);
  int64_t rank = static_cast<int64_t>(src.extent.size());
  if (axis < -rank || axis >= rank)
    raise(at, fmt::format("{}: src is {}: it has no axis {}", word, src.shown(), axis), {src.note(t)});
  int64_t k = axis < 0 ? axis + rank : axis;
  ir::Exprs dropped = src.extent, kept = src.extent;
  dropped.erase(dropped.begin() + k);
  kept[k] = ir::index(1);
  auto matches = [&](const ir::Exprs& wanted) {
    if (wanted.size() != dst.extent.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (certainly_differ(wanted[i], dst.extent[i])) return false;
    return true;
  };
  if (!matches(dropped) && !matches(kept))
    raise(at,
          fmt::format("{}: src is {}, so dst must be {} or {} after axis {}, but it is {}", word, src.shown(),
                      detail::shape_text(dropped), detail::shape_text(kept), k, detail::shape_text(dst.extent)),
          {src.note(t), dst.note(t)});
  DType a = src.buffer.dtype, b = dst.buffer.dtype;
  if (a.is_bool() || b.is_bool() || a.is_float() != b.is_float())
    raise(at,
          fmt::format("{}: src is {} but dst is {}: both must be floats or both integers", word, to_string(a),
                      to_string(b)),
          {src.note(t), dst.note(t)});
  if (src.storage == dst.storage) raise(at, fmt::format("{}: src and dst are the same tile {}", word, src.buffer.name));
  if (options.propagate_nan && op == ir::ReduceOp::sum)
    raise(at, "reduce_sum: nan::propagate is for max and min: a sum with a NaN is NaN anyway");
  detail::check_write(t, dst.storage, at, word);
  t.count_nodes(3, at);
  t.append(ir::make_at<ir::Reduce>(at, op, src.region(), dst.region(), k, options.accumulate, options.propagate_nan));
  t.wrote(dst.storage, at);
}

}  // namespace

Buffer shared(DType type, Indices extents, Location at) {
  return Buffer(type, allocate(ir::Space::shared, "shared", type, extents, at));
}
Buffer fragment(DType type, Indices extents, Location at) {
  return Buffer(type, allocate(ir::Space::fragment, "fragment", type, extents, at));
}
Buffer local(DType type, Indices extents, Location at) {
  return Buffer(type, allocate(ir::Space::local, "local", type, extents, at));
}

Cell var(DType type, const Operand& init, Location at) {
  Trace& t = detail::current_in_grid("var", at);
  detail::check(t, init.value, init.at);
  detail::stored_as(init, type, "var", "the variable");
  Cell cell(allocate(ir::Space::var, "var", type, {}, at));
  detail::store_cell(cell.place(), '=', Operand(init.value, at));
  return cell;
}

Let let(const Operand& x) {
  Trace& t = detail::current_in_grid("let", x.at);
  detail::check(t, x.value, x.at);
  Operand o = detail::settled(x);
  DType type = o.value.type;
  ir::Expr value = ir::cast_to(type, detail::node_of(o.value));
  auto var = ir::make<ir::Var>(t.numbered("let"), type);
  t.count_nodes(2, x.at);
  uint32_t depth = static_cast<uint32_t>(t.blocks.size() - 1);
  t.names[var.get()] = {"let value " + var->name, t.top().id, value};
  t.append(ir::make_at<ir::Let>(x.at, var, value));
  return Let(detail::named(t, var, t.top().id, depth));
}

void copy(const Region& src, const Region& dst, Location at) { copy_tiles(src, dst, nullptr, at); }
void copy(const Region& src, const Region& dst, const Operand& fill, Location at) { copy_tiles(src, dst, &fill, at); }
void fill(const Region& dst, const Operand& value, Location at) { fill_tile("fill", dst, &value, at); }
void clear(const Region& dst, Location at) { fill_tile("clear", dst, nullptr, at); }

void reduce_sum(const Region& src, const Region& dst, int axis, ReduceOptions options, Location at) {
  reduce(ir::ReduceOp::sum, "reduce_sum", src, dst, axis, options, at);
}
void reduce_max(const Region& src, const Region& dst, int axis, ReduceOptions options, Location at) {
  reduce(ir::ReduceOp::max, "reduce_max", src, dst, axis, options, at);
}
void reduce_min(const Region& src, const Region& dst, int axis, ReduceOptions options, Location at) {
  reduce(ir::ReduceOp::min, "reduce_min", src, dst, axis, options, at);
}
void reduce_abs_max(const Region& src, const Region& dst, int axis, ReduceOptions options, Location at) {
  reduce(ir::ReduceOp::abs_max, "reduce_abs_max", src, dst, axis, options, at);
}

void require_equal(const Operand& a, const Operand& b) {
  Trace& t = detail::current("require_equal", a.at);
  detail::check(t, a.value, a.at), detail::check(t, b.value, b.at);
  ir::Expr x = detail::as_index(a, "an extent"), y = detail::as_index(b, "an extent");
  if (ir::equal(x, y)) return;
  raise(a.at,
        fmt::format("this kernel needs equal extents, but one is {} and the other {}: give both one symbol or one "
                    "number in the signature",
                    detail::text(x), detail::text(y)));
}

void covers(const Buffer& tensor, Location at) {
  Trace& t = detail::current("covers", at);
  detail::check(t, tensor.place(), at);
  const ir::Buffer& b = detail::buffer_of(tensor.place());
  if (b.space != ir::Space::global)
    raise(at, fmt::format("covers: {} is a tile: coverage is claimed of a tensor argument", b.name),
          {detail::declared(t, tensor.place().storage, b.name.c_str())});
  if (t.blocks.size() > 2) raise(at, "covers: it speaks of the whole kernel and cannot be inside a loop or a when");
  t.count_nodes(1, at);
  t.append(ir::make_at<ir::Covers>(at, detail::buffer_ref(tensor.place())));
}

// ---- gemm -----------------------------------------------------------------------------------------------------------

void gemm(const Region& ra, const Region& rb, const Region& rc, GemmOptions options, Location at) {
  Trace& t = detail::current_block_level("gemm", at);
  Side a(t, ra, "a", at), b(t, rb, "b", at), c(t, rc, "c", at);
  for (const Side* s : {&a, &b, &c}) {
    require_extents("gemm", *s, at), require_on_chip(t, "gemm", *s, at), check_inside(t, "gemm", *s, at);
    size_t rank = s->extent.size();
    bool flat = rank >= 2;
    for (size_t i = 0; i + 2 < rank; ++i) flat = flat && ir::is_constant_equal(s->extent[i], 1);
    if (!flat) raise(at, fmt::format("gemm: {} is {}: it must have two axes", s->role, s->shown()), {s->note(t)});
  }
  auto axis = [](const Side& s, int i) { return s.extent[s.extent.size() - 2 + i]; };
  ir::Expr m = axis(a, options.transpose_a ? 1 : 0), ka = axis(a, options.transpose_a ? 0 : 1);
  ir::Expr kb = axis(b, options.transpose_b ? 1 : 0), n = axis(b, options.transpose_b ? 0 : 1);
  auto with = [](bool transposed) { return transposed ? " (transposed)" : ""; };
  if (certainly_differ(ka, kb)) {
    std::string hint;
    for (auto [inner, other, name, is_set] :
         {std::tuple(ka, n, "transpose_b", options.transpose_b), std::tuple(kb, m, "transpose_a", options.transpose_a)})
      if (hint.empty() && ir::equal(inner, other)) hint = fmt::format("; they agree with .{} = {}", name, !is_set);
    raise(at,
          fmt::format("gemm: a is {}{} but b is {}{}: inner extents {} and {} differ{}", a.shown(),
                      with(options.transpose_a), b.shown(), with(options.transpose_b), detail::text(ka),
                      detail::text(kb), hint),
          {a.note(t), b.note(t)});
  }
  if (certainly_differ(m, axis(c, 0)) || certainly_differ(n, axis(c, 1)))
    raise(at,
          fmt::format("gemm: a is {}{} and b is {}{}, so c must be ({}, {}), but it is {}", a.shown(),
                      with(options.transpose_a), b.shown(), with(options.transpose_b), detail::text(m), detail::text(n),
                      c.shown()),
          {c.note(t)});
  DType x = a.buffer.dtype, y = b.buffer.dtype, z = c.buffer.dtype;
  if (x.is_bool() || y.is_bool() || x.is_float() != y.is_float())
    raise(at,
          fmt::format("gemm: a is {} but b is {}: both must be floats or both integers", to_string(x), to_string(y)),
          {a.note(t), b.note(t)});
  bool wide = x == f64 || y == f64;
  int bits = std::max(x.bits, y.bits);
  bool fine = x.is_float() ? z == f64 || (z == f32 && !wide) : (z == i32 && bits <= 32) || (z == i64 && bits > 16);
  if (!fine)
    raise(at,
          fmt::format("gemm: a is {} and b is {}, so c must be {}, but it is {}", to_string(x), to_string(y),
                      x.is_float() ? (wide ? "f64" : "f32 or f64")
                                   : (bits <= 16   ? "i32"
                                      : bits <= 32 ? "i32 or i64"
                                                   : "i64"),
                      to_string(z)),
          {c.note(t)});
  if (options.precision == Precision::tf32 && !(x == f32 && y == f32))
    raise(at,
          fmt::format("gemm: precision::tf32 is for f32 operands, a is {} and b is {}", to_string(x), to_string(y)));
  if (c.storage == a.storage || c.storage == b.storage)
    raise(at,
          fmt::format("gemm: c is also {}: the accumulator must be a tile of its own",
                      c.storage == a.storage ? "a" : "b"),
          {c.note(t)});
  detail::check_write(t, c.storage, at, "gemm");
  t.count_nodes(4, at);
  t.append(ir::make_at<ir::Gemm>(at, a.region(), b.region(), c.region(), options.transpose_a, options.transpose_b,
                                 static_cast<ir::Precision>(options.precision)));
  t.wrote(c.storage, at);
}

}  // namespace tilewright
