#include "base/check.h"
#include "pass/distribution.h"
#include "pass/lower.h"

namespace tilewright {

using namespace ir;

Expr combine(const Reduce& r, const Expr& a, const Expr& b) {
  switch (r.op) {
    case ReduceOp::sum:
      return binary(BinaryOp::add, a, b);
    case ReduceOp::min:
      return binary(r.propagate_nan ? BinaryOp::min_nan : BinaryOp::min, a, b);
    default:
      return binary(r.propagate_nan ? BinaryOp::max_nan : BinaryOp::max, a, b);
  }
}

namespace {

/// Reduces into `dst`, whose type is the type of the accumulation.
Stmt reduce_into(const Reduce& r, const Region& dst, Lowering& lowering) {
  const Region& src = *r.src;
  DType type = dst.buffer->dtype;
  size_t axis = static_cast<size_t>(r.axis);
  Ref<Var> k = lowering.names.var("k");
  Lowering::Vars kept, src_vars;
  Exprs kept_extents;
  auto element = [&](const Expr& position) -> Expr {
    Exprs at = src.offset;
    size_t next = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      if (d == axis)
        at[d] = add(at[d], position);
      else if (!is_constant_equal(src.extent[d], 1))
        at[d] = add(at[d], kept[next++]);
    }
    Expr value = cast_to(type, load(src.buffer, at));
    if (r.op == ReduceOp::abs_max) value = unary(UnaryOp::abs, value);
    if (Expr guard = inside(src, at)) value = select(guard, value, constant(Scalar::of_int(type, 0)));
    return value;
  };
  for (size_t d = 0; d < src.extent.size(); ++d)
    if (d != axis && !is_constant_equal(src.extent[d], 1)) kept_extents.push_back(src.extent[d]);
  kept = lowering.vars(kept_extents.size());

  Lowering::Vars dst_vars = kept;
  TW_CHECK(loop_axes(dst).size() == kept.size(), "reduce: dst does not have src's shape without the axis");
  auto accumulate = [&](const Expr& value) {
    return write(dst, dst_vars, combine(r, read(dst, dst_vars, type), value), r.at);
  };
  Expr start = r.accumulate ? index(0) : index(1);
  Expr trips = r.accumulate ? src.extent[axis] : sub(src.extent[axis], index(1));
  Stmt first = r.accumulate ? Stmt() : write(dst, dst_vars, element(index(0)), r.at);

  bool rows_inside = axis + 1 == src.extent.size() || !lowering.inner_columns;
  if (rows_inside) {
    Stmt rest = lowering.loop(r.at, LoopKind::reduction, {k}, {trips}, accumulate(element(add(k, start))));
    return lowering.loop(r.at, LoopKind::parallel, kept, kept_extents, sequence({first, rest}, r.at));
  }
  // Reducing an outer axis: run over the contiguous columns inside.
  Stmt init = first ? lowering.loop(r.at, LoopKind::parallel, kept, kept_extents, first) : Stmt();
  Lowering::Vars again = lowering.vars(kept.size());
  kept = dst_vars = again;
  Stmt columns = lowering.loop(r.at, LoopKind::parallel, kept, kept_extents, accumulate(element(add(k, start))));
  return sequence({init, lowering.loop(r.at, LoopKind::reduction, {k}, {trips}, columns)}, r.at);
}

}  // namespace

Stmt lower_reduce(const Reduce& r, Lowering& lowering) {
  const Region& dst = *r.dst;
  if (!dst.buffer->dtype.is_narrow_float()) return reduce_into(r, dst, lowering);
  // A narrow result is accumulated in f32 and rounded once.
  Exprs shape, origin;
  for (size_t d : loop_axes(dst)) {
    shape.push_back(dst.extent[d]);
    origin.push_back(index(0));
  }
  auto wide =
      make_at<Buffer>(r.at, lowering.names.fresh("wide"), f32, shape, Exprs{}, Space::fragment, dst.buffer->memory);
  auto whole = make_at<Region>(r.at, wide, origin, shape);
  Stmts stmts{make_at<Alloc>(r.at, wide)};
  auto as_copy = [&](const Ref<Region>& from, const Ref<Region>& to) {
    Ref<Copy> copy = make_at<Copy>(r.at, from, to, Expr());
    return lower_copy(*copy, lowering);
  };
  if (r.accumulate) stmts.push_back(as_copy(r.dst, whole));
  stmts.push_back(reduce_into(r, *whole, lowering));
  stmts.push_back(as_copy(whole, r.dst));
  return sequence(std::move(stmts), r.at);
}

Stmt prepare_reduce(const Reduce& r, int64_t lanes, const std::string& scratch_memory, Lowering& lowering) {
  const Distribution src = Distribution::of(parse_layout(r.src->buffer->layout));
  int64_t warps = 1;
  for (const Digit& d : src.axes[static_cast<size_t>(r.axis)].digits)
    if (d.threads >= lanes) warps *= d.extent;
  if (warps == 1) return ref(&r);
  Exprs shape;
  for (size_t d : loop_axes(*r.dst)) shape.push_back(r.dst->extent[d]);
  shape.push_back(index(warps));
  auto scratch = make_at<Buffer>(r.at, lowering.names.fresh("exchange"), r.dst->buffer->dtype, shape, Exprs{},
                                 Space::shared, scratch_memory);
  return sequence({make_at<Alloc>(r.at, scratch),
                   make_at<Reduce>(r.at, r.op, r.src, r.dst, r.axis, r.accumulate, r.propagate_nan, scratch)},
                  r.at);
}

}  // namespace tilewright
