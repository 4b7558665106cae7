#include "pass/distribute.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "ir/bounds.h"
#include "ir/walk.h"
#include "pass/lower.h"

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
  std::stable_sort(place.loops.begin(), place.loops.end(),
                   [](const auto& a, const auto& b) { return a.stride > b.stride; });
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
               "a distributed tile is used in a loop that it does not fit");
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
    const bool own = s->buffer->space != Space::global && s->buffer->memory == own_memory_;
    return own || !first ? node : Any(make_at<When>(s->at, first, ref(s), Stmt()));
  });
  Expr inside;
  for (size_t k = 0; k < loop.vars.size(); ++k)
    if (dealt.axes[k].is_padded()) inside = both(inside, less(loop.vars[k], index(dealt.axes[k].extent)));
  if (inside) body = make_at<When>(loop.at, inside, body, Stmt());
  Stmts stmts;
  for (size_t k = 0; k < loop.vars.size(); ++k)
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

}  // namespace tilewright
