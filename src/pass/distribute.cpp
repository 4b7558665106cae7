#include "pass/distribute.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/check.h"
#include "ir/bounds.h"
#include "ir/walk.h"
#include "pass/lower.h"
#include "pass/matrix_unit.h"

namespace tilewright {

using namespace ir;

Stmt as_serial(const Stmt& s) {
  return rewrite_as(s, [](const Any& node) -> Any {
    const auto* loop = as<For>(node);
    if (!loop || loop->how != LoopKind::parallel) return node;
    return make_at<For>(loop->at, LoopKind::serial, loop->vars, loop->extents, int64_t{0}, loop->body);
  });
}

Ref<Buffer> slots_of(const Buffer& tile) {
  const int64_t slots = Distribution::of(parse_layout(tile.layout)).slots();
  return altered(tile, [&](Buffer& b) {
    b.shape = {index(slots)};
    b.layout.clear();
  });
}

Expr Distribute::thread_digit(const Digit& d) const {
  const Expr above = floordiv(thread_, index(d.threads));
  return d.threads * d.extent == threads_ ? above : floormod(above, index(d.extent));
}

Distribute::Place Distribute::place_of(const Distribution& d) {
  Place place;
  for (const Distribution::Axis& axis : d.axes) {
    Exprs& digits = place.digits.emplace_back();
    for (const Digit& digit : axis.digits) {
      if (digit.of_thread()) {
        digits.push_back(thread_digit(digit));
        continue;
      }
      place.loops.push_back({names_.var("slot"), digit.extent, digit.slots});
      digits.push_back(place.loops.back().var);
    }
  }
  std::sort(place.loops.begin(), place.loops.end(), [](const auto& a, const auto& b) { return a.stride > b.stride; });
  return place;
}

Expr Distribute::coordinate(const Distribution::Axis& axis, const Exprs& digits) {
  Expr at = index(0);
  for (size_t q = 0; q < digits.size(); ++q) at = add(mul(at, index(axis.digits[q].extent)), digits[q]);
  return at;
}

Expr Distribute::slot(const Distribution& d, const std::vector<Exprs>& digits) {
  Expr at = index(0);
  for (size_t a = 0; a < d.axes.size(); ++a)
    for (size_t q = 0; q < d.axes[a].digits.size(); ++q)
      if (const Digit& digit = d.axes[a].digits[q]; !digit.of_thread())
        at = add(at, mul(digits[a][q], index(digit.slots)));
  return at;
}

Stmt Distribute::around(const Place& place, Stmt body, Location at) {
  for (size_t k = place.loops.size(); k-- > 0;)
    body = make_at<For>(at, LoopKind::unroll, std::vector<Ref<Var>>{place.loops[k].var},
                        Exprs{index(place.loops[k].extent)}, int64_t{0}, body);
  return body;
}

Stmt Distribute::loop(const For& loop, const Distribution& dealt) {
  const Place place = place_of(dealt);
  auto slot_of = [&](const Buffer& tile, const Exprs& indices) {
    const Distribution d = Distribution::of(parse_layout(tile.layout));
    std::vector<Exprs> digits(d.axes.size());
    for (size_t a = 0; a < d.axes.size(); ++a)
      for (size_t k = 0; k < loop.vars.size(); ++k)
        if (const auto* v = as<Var>(indices[a]); v && v->name == loop.vars[k]->name) digits[a] = place.digits[k];
    for (size_t a = 0; a < d.axes.size(); ++a)
      TW_CHECK(digits[a].size() == d.axes[a].digits.size(),
               tile.name + " is distributed, and used in a loop that it does not fit");
    return Exprs{slot(d, digits)};
  };
  Expr first;  // whether this thread is the first of those that hold the same elements
  for (const Digit& d : dealt.copies) first = both(first, binary(BinaryOp::eq, thread_digit(d), index(0)));
  Stmt body = rewrite_as(as_serial(loop.body), [&](const Any& node) -> Any {
    if (const auto* l = as<Load>(node); l && !l->buffer->layout.empty())
      return load(slots_of(*l->buffer), slot_of(*l->buffer, l->indices));
    const auto* s = as<Store>(node);
    if (!s) return node;
    if (!s->buffer->layout.empty())
      return make_at<Store>(s->at, slots_of(*s->buffer), slot_of(*s->buffer, s->indices), s->value);
    const bool own = s->buffer->space != Space::global && s->buffer->memory == caps_.iteration_memory;
    return own || !first ? node : Any(make_at<When>(s->at, first, ref(s), Stmt()));
  });
  Expr inside;
  for (size_t k = 0; k < loop.vars.size(); ++k)
    if (dealt.axes[k].is_padded()) inside = both(inside, less(loop.vars[k], index(dealt.axes[k].extent)));
  if (inside) body = make_at<When>(loop.at, inside, body, Stmt());
  Stmts stmts;
  std::set<std::string> used;
  post_order(body, [&](const Node& node) {
    if (const auto* v = as<Var>(&node)) used.insert(v->name);
  });
  for (size_t k = 0; k < loop.vars.size(); ++k)
    if (used.contains(loop.vars[k]->name))
      stmts.push_back(make_at<Let>(loop.at, loop.vars[k], coordinate(dealt.axes[k], place.digits[k])));
  stmts.push_back(body);
  return around(place, sequence(std::move(stmts), loop.at), loop.at);
}

namespace {

/// The value that changes no other: -0 for sums of floats; NaN where max and min prefer numbers.
Expr neutral(const Reduce& r, DType type) {
  const bool is_min = r.op == ReduceOp::min;
  if (r.op == ReduceOp::sum) return constant(type.is_float() ? Scalar::of_float(type, -0.0) : Scalar::of_int(type, 0));
  if (type.is_float()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return constant(Scalar::of_float(type, !r.propagate_nan ? std::numeric_limits<double>::quiet_NaN()
                                           : is_min         ? infinity
                                                            : -infinity));
  }
  const Range all = range_of_type(type);
  return constant(Scalar::of_int(type, static_cast<int64_t>(is_min ? all.hi : all.lo)));
}

}  // namespace

Stmt Distribute::reduce(const Reduce& r) {
  const Buffer& to = *r.dst->buffer;
  const DType type = to.dtype;
  const Distribution src = Distribution::of(parse_layout(r.src->buffer->layout));
  const Distribution dst = Distribution::of(parse_layout(to.layout));
  const size_t axis = static_cast<size_t>(r.axis);
  const Ref<Buffer> elements = slots_of(*r.src->buffer), results = slots_of(to);
  const Ref<Buffer> parts = altered(*results, [&](Buffer& b) { b.name = names_.fresh("part"); });
  Stmts stmts{make_at<Alloc>(r.at, parts)};
  auto store = [&](const Ref<Buffer>& buffer, Exprs at, const Expr& value) -> Stmt {
    return make_at<Store>(r.at, buffer, std::move(at), value);
  };
  /// `body(slot, place)` for each slot of the result.
  auto each_result = [&](auto body) {
    const Place place = place_of(dst);
    stmts.push_back(around(place, body(slot(dst, place.digits), place), r.at));
  };
  each_result([&](const Expr& at, const Place&) { return store(parts, {at}, neutral(r, type)); });

  // The thread's own elements.
  const Place all = place_of(src);
  Expr value = cast_to(type, load(elements, {slot(src, all.digits)}));
  if (r.op == ReduceOp::abs_max) value = unary(UnaryOp::abs, value);
  if (src.axes[axis].is_padded())
    value = select(less(coordinate(src.axes[axis], all.digits[axis]), index(src.axes[axis].extent)), value,
                   neutral(r, type));
  std::vector<Exprs> kept;
  for (size_t d = 0; d < src.axes.size(); ++d)
    if (d != axis && src.axes[d].extent != 1) kept.push_back(all.digits[d]);
  std::vector<Exprs> digits(dst.axes.size());
  size_t next = 0;
  for (size_t d = 0; d < dst.axes.size(); ++d)
    if (dst.axes[d].extent != 1) digits[d] = kept.at(next++);
  const Expr part = slot(dst, digits);
  stmts.push_back(around(all, store(parts, {part}, combine(r, load(parts, {part}), value)), r.at));

  // The lanes that hold one row.
  Expr first;  // whether this is the first of them
  Expr warp = index(0);
  int64_t warps = 1;
  for (const Digit& d : src.axes[axis].digits) {
    if (!d.of_thread()) continue;
    if (d.threads >= lanes_) {
      warp = add(mul(warp, index(d.extent)), thread_digit(d));
      warps *= d.extent;
      continue;
    }
    first = both(first, binary(BinaryOp::eq, thread_digit(d), index(0)));
    for (int64_t mask = d.threads; mask < d.threads * d.extent; mask *= 2)
      each_result([&](const Expr& at, const Place&) {
        const Ref<Var> other = names_.var("other", type);
        return sequence({make_at<Shuffle>(r.at, other, load(parts, {at}), mask),
                         store(parts, {at}, combine(r, load(parts, {at}), other))},
                        r.at);
      });
  }

  // The warps that hold one row.
  if (r.scratch) {
    TW_CHECK(is_constant_equal(r.scratch->shape.back(), warps), "the scratch memory of a reduction has another shape");
    auto rows = [&](const Place& place, Expr& inside) {
      Exprs at;
      for (size_t d = 0; d < dst.axes.size(); ++d) {
        if (dst.axes[d].extent == 1) continue;
        at.push_back(coordinate(dst.axes[d], place.digits[d]));
        if (dst.axes[d].is_padded()) inside = both(inside, less(at.back(), index(dst.axes[d].extent)));
      }
      return at;
    };
    auto guarded = [&](const Expr& cond, const Stmt& s) { return cond ? make_at<When>(r.at, cond, s, Stmt()) : s; };
    for (const Digit& d : src.copies) first = both(first, binary(BinaryOp::eq, thread_digit(d), index(0)));
    each_result([&](const Expr& at, const Place& place) {
      Expr mine = first;
      Exprs where = rows(place, mine);
      where.push_back(warp);
      return guarded(mine, store(r.scratch, where, load(parts, {at})));
    });
    stmts.push_back(make_at<Barrier>(r.at));
    each_result([&](const Expr& at, const Place& place) {
      Expr inside;
      Exprs where = rows(place, inside);
      where.push_back(index(0));
      Expr sum = load(r.scratch, where);
      for (int64_t w = 1; w < warps; ++w) {
        where.back() = index(w);
        sum = combine(r, sum, load(r.scratch, where));
      }
      return guarded(inside, store(parts, {at}, sum));
    });
  }
  each_result([&](const Expr& at, const Place&) {
    const Expr sum = load(parts, {at});
    return store(results, {at}, r.accumulate ? combine(r, load(results, {at}), sum) : sum);
  });
  return sequence(std::move(stmts), r.at);
}

Stmt Distribute::gemm(const Gemm& g) {
  const MatrixUnit* unit = caps_.matrix_unit(g.unit);
  TW_CHECK(unit, "a gemm names a matrix unit that the machine lacks");
  const UnitShape shape(*unit);
  int64_t m = 0, n = 0, k = 0;
  is_constant(g.c->extent[0], &m), is_constant(g.c->extent[1], &n);
  is_constant(g.a->extent[g.a->extent.size() - (g.transpose_a ? 2 : 1)], &k);
  const Distribution c = Distribution::of(parse_layout(g.c->buffer->layout));
  std::optional<UnitTiling> tiling;
  for (bool whole_rows : {false, true}) {
    const std::optional<UnitTiling> t = tile_unit(*unit, m, n, k, threads_ / lanes_, whole_rows);
    if (t && accumulator_of(*unit, *t, lanes_).layout(32) == c.layout(32)) tiling = t;
  }
  TW_CHECK(tiling, "the accumulator of a gemm has another layout than its matrix unit");

  const Distribution atom_a = Distribution::of(unit->a), atom_b = Distribution::of(unit->b);
  const Ref<Buffer> results = slots_of(*g.c->buffer);
  auto own = [&](const char* name, const Buffer& of, int64_t count) {
    return make_at<Buffer>(g.at, names_.fresh(name), of.dtype, Exprs{index(count)}, Exprs{}, Space::fragment,
                           caps_.iteration_memory, results->offset);
  };
  const bool a_in_registers = !g.a->buffer->layout.empty();
  const Ref<Buffer> a = a_in_registers ? slots_of(*g.a->buffer) : own("a_part", *g.a->buffer, atom_a.slots());
  const Ref<Buffer> b = own("b_part", *g.b->buffer, atom_b.slots() * tiling->column_tiles);
  auto unrolled = [&](const Ref<Var>& v, int64_t extent, const Stmt& body) {
    return make_at<For>(g.at, LoopKind::unroll, std::vector<Ref<Var>>{v}, Exprs{index(extent)}, int64_t{0}, body);
  };
  /// Loads the unit's part of an operand, whose first element lies at (row, column) of the region, to `to` from `at`
  /// on.
  auto load_part = [&](const Region& region, bool transposed, const Distribution& atom, const Ref<Buffer>& to,
                       const Expr& at, const Expr& row, const Expr& column) {
    const Place place = place_of(atom);
    Expr r = add(row, coordinate(atom.axes[0], place.digits[0]));
    Expr s = add(column, coordinate(atom.axes[1], place.digits[1]));
    if (transposed) std::swap(r, s);
    Exprs element = region.offset;
    const size_t rank = element.size();
    element[rank - 2] = add(element[rank - 2], r);
    element[rank - 1] = add(element[rank - 1], s);
    return around(
        place, make_at<Store>(g.at, to, Exprs{add(at, slot(atom, place.digits))}, load(region.buffer, element)), g.at);
  };
  const Expr warp = floordiv(thread_, index(lanes_));
  const Expr row_warp = floordiv(warp, index(tiling->column_warps));
  const Expr column_warp = floormod(warp, index(tiling->column_warps));
  const Ref<Var> step = names_.var("step"), row = names_.var("row"), column = names_.var("column"),
                 loaded = names_.var("column");
  const Expr first_k = mul(step, index(shape.k));
  auto tile_row = mul(add(mul(row_warp, index(tiling->row_tiles)), row), index(shape.m));
  auto tile_column = mul(add(mul(column_warp, index(tiling->column_tiles)), loaded), index(shape.n));

  const Stmt load_b =
      unrolled(loaded, tiling->column_tiles,
               load_part(*g.b, g.transpose_b, atom_b, b, mul(loaded, index(atom_b.slots())), first_k, tile_column));
  const int64_t c_slots = Distribution::of(unit->c).slots();
  const Expr tile = add(mul(row, index(tiling->column_tiles)), column);
  const Expr a_at = a_in_registers ? mul(add(mul(row, index(tiling->steps)), step), index(atom_a.slots())) : index(0);
  const Stmt products = unrolled(
      column, tiling->column_tiles,
      make_at<Mma>(g.at, g.unit, a, a_at, b, mul(column, index(atom_b.slots())), results, mul(tile, index(c_slots))));
  Stmts of_row;
  if (!a_in_registers) of_row.push_back(load_part(*g.a, g.transpose_a, atom_a, a, index(0), tile_row, first_k));
  of_row.push_back(products);
  Stmts stmts;
  if (!a_in_registers) stmts.push_back(make_at<Alloc>(g.at, a));
  stmts.push_back(make_at<Alloc>(g.at, b));
  stmts.push_back(
      unrolled(step, tiling->steps,
               sequence({load_b, unrolled(row, tiling->row_tiles, sequence(std::move(of_row), g.at))}, g.at)));
  return sequence(std::move(stmts), g.at);
}

}  // namespace tilewright
