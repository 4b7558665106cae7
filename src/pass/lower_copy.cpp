#include "ir/walk.h"
#include "pass/lower.h"

namespace tilewright {
namespace {

using namespace ir;

/// The values [low, high) of a loop variable for which the region's element on one axis lies inside its buffer.
struct LoopBounds {
  Expr low, high;
};

constexpr int64_t kFar = int64_t{1} << 62;

Expr max_of(const Expr& a, const Expr& b) { return binary(BinaryOp::max, a, b); }

/// One range a loop axis. An axis that plainly lies inside keeps [0, extent).
std::vector<LoopBounds> clip(const Region& region) {
  std::vector<LoopBounds> ranges;
  for (size_t d : loop_axes(region)) {
    if (plainly_inside(region, d)) {
      ranges.push_back({index(0), region.extent[d]});
    } else {
      // An offset beyond these lies outside whatever the tensor is; kept there, no bound or difference of bounds wraps.
      const Expr at = ir::min(max_of(region.offset[d], index(-kFar)), index(kFar));
      ranges.push_back(
          {max_of(index(0), sub(index(0), at)), ir::min(region.extent[d], sub(region.buffer->shape[d], at))});
    }
  }
  return ranges;
}

bool is_whole(const std::vector<LoopBounds>& ranges, const Region& region) {
  std::vector<size_t> axes = loop_axes(region);
  for (size_t i = 0; i < ranges.size(); ++i)
    if (!is_constant_equal(ranges[i].low, 0) || !same(ranges[i].high, region.extent[axes[i]])) return false;
  return true;
}

/// "the axes that no loop runs over lie inside": null when plain.
Expr fixed_axes_inside(const Region& region) {
  Expr all;
  for (size_t d = 0; d < region.extent.size(); ++d) {
    if (!is_constant_equal(region.extent[d], 1) || plainly_inside(region, d)) continue;
    all = both(all, both(less_equal(index(0), region.offset[d]), less(region.offset[d], region.buffer->shape[d])));
  }
  return all;
}

std::vector<LoopBounds> intersect(const std::vector<LoopBounds>& a, const std::vector<LoopBounds>& b) {
  std::vector<LoopBounds> both;
  for (size_t i = 0; i < a.size(); ++i) {
    auto pick = [](const Expr& x, const Expr& y, Expr (*op)(const Expr&, const Expr&)) {
      return same(x, y) ? x : op(x, y);
    };
    both.push_back({is_constant_equal(b[i].low, 0)   ? a[i].low
                    : is_constant_equal(a[i].low, 0) ? b[i].low
                                                     : max_of(a[i].low, b[i].low),
                    pick(a[i].high, b[i].high, ir::min)});
  }
  return both;
}

/// Names the bounds of a range, so that they are computed once.
std::vector<LoopBounds> name_ranges(const std::vector<LoopBounds>& ranges, Lowering& lowering, Stmts& lets,
                                    Location at) {
  auto named = [&](const Expr& e, const char* base) -> Expr {
    if (as<Const>(e) || as<Var>(e)) return e;
    Ref<Var> v = lowering.names.var(base);
    lets.push_back(make_at<Let>(at, v, e));
    return v;
  };
  std::vector<LoopBounds> result;
  for (const LoopBounds& r : ranges) result.push_back({named(r.low, "low"), named(r.high, "high")});
  return result;
}

/// The region with its loop axes restricted to the ranges.
Ref<Region> restricted(const Region& region, const std::vector<LoopBounds>& ranges) {
  Exprs offset = region.offset, extent = region.extent;
  std::vector<size_t> axes = loop_axes(region);
  for (size_t i = 0; i < axes.size(); ++i) {
    offset[axes[i]] = add(offset[axes[i]], ranges[i].low);
    extent[axes[i]] = sub(ranges[i].high, ranges[i].low);
  }
  return make_at<Region>(region.at, region.buffer, offset, extent);
}

/// A parallel loop over the ranges that stores to element `low + var` of each axis: that of `src`, or `fill` without
/// it.
Stmt loop_over(const std::vector<LoopBounds>& ranges, Lowering& lowering, Location at, const Region& dst,
               const Region* src, const Expr& fill) {
  Lowering::Vars vars = lowering.vars(ranges.size());
  Exprs extents;
  for (const LoopBounds& r : ranges) extents.push_back(sub(r.high, r.low));
  auto element = [&](const Region& region) {
    Exprs at_index = region.offset;
    std::vector<size_t> axes = loop_axes(region);
    for (size_t i = 0; i < axes.size(); ++i) at_index[axes[i]] = add(at_index[axes[i]], add(ranges[i].low, vars[i]));
    return at_index;
  };
  Expr value = src ? cast_to(dst.buffer->dtype, load(src->buffer, element(*src))) : fill;
  return lowering.loop(at, LoopKind::parallel, vars, extents, make_at<Store>(at, dst.buffer, element(dst), value));
}

Expr fill_value(const Copy& copy) {
  DType type = copy.dst->buffer->dtype;
  return copy.fill ? cast_to(type, copy.fill) : constant(Scalar::of_int(type, 0));
}

/// The pieces of a clipped copy: bounds as lets, the filling of what the source lacks, and the ranges that are copied.
struct Clipped {
  Stmts before;
  std::vector<LoopBounds> copied;
  Expr writable, readable;  // of the axes without a loop; null = yes
  Stmt filling;             // null when the source has everything
  Expr incomplete;          // when the filling is needed
};

Clipped clip_copy(const Copy& copy, Lowering& lowering) {
  Clipped c;
  std::vector<LoopBounds> written = clip(*copy.dst), readable = clip(*copy.src);
  c.writable = fixed_axes_inside(*copy.dst);
  c.readable = fixed_axes_inside(*copy.src);
  written = name_ranges(written, lowering, c.before, copy.at);
  c.copied = name_ranges(intersect(written, readable), lowering, c.before, copy.at);
  if (!is_whole(readable, *copy.src) || c.readable) {
    for (size_t i = 0; i < written.size(); ++i) {
      auto differs = [&](const Expr& x, const Expr& y) {
        if (same(x, y) || (as<Const>(x) && equal(x, y))) return;
        Expr d = binary(BinaryOp::ne, x, y);
        c.incomplete = c.incomplete ? binary(BinaryOp::logical_or, c.incomplete, d) : d;
      };
      differs(c.copied[i].low, written[i].low);
      differs(c.copied[i].high, written[i].high);
    }
    if (c.readable) {
      Expr unreadable = unary(UnaryOp::logical_not, c.readable);
      c.incomplete = c.incomplete ? binary(BinaryOp::logical_or, c.incomplete, unreadable) : unreadable;
    }
    c.filling = loop_over(written, lowering, copy.at, *copy.dst, nullptr, fill_value(copy));
  }
  return c;
}

Stmt guarded(const Expr& condition, Stmt body, Location at) {
  return condition ? make_at<When>(at, condition, std::move(body), Stmt()) : body;
}

Stmt lower_clipped(const Copy& copy, Lowering& lowering) {
  Clipped c = clip_copy(copy, lowering);
  Stmts stmts;
  if (c.filling) stmts.push_back(guarded(c.incomplete, c.filling, copy.at));
  stmts.push_back(
      guarded(c.readable, loop_over(c.copied, lowering, copy.at, *copy.dst, copy.src.get(), nullptr), copy.at));
  c.before.push_back(guarded(c.writable, sequence(std::move(stmts), copy.at), copy.at));
  return sequence(std::move(c.before), copy.at);
}

Stmt lower_predicated(const Copy& copy, Lowering& lowering) {
  Lowering::Vars vars = lowering.vars(loop_axes(*copy.dst).size());
  Exprs extents;
  for (size_t d : loop_axes(*copy.dst)) extents.push_back(copy.dst->extent[d]);
  Exprs from = element_of(*copy.src, vars);
  Expr value = cast_to(copy.dst->buffer->dtype, load(copy.src->buffer, from));
  if (Expr guard = inside(*copy.src, from)) value = select(guard, value, fill_value(copy));
  return lowering.loop(copy.at, LoopKind::parallel, vars, extents, write(*copy.dst, vars, value, copy.at));
}

}  // namespace

Stmt lower_copy(const Copy& copy, Lowering& lowering) {
  return lowering.guard == Guard::clipped ? lower_clipped(copy, lowering) : lower_predicated(copy, lowering);
}

Stmt lower_fill(const Fill& fill, Lowering& lowering) {
  if (lowering.guard == Guard::clipped) {
    Stmts stmts;
    std::vector<LoopBounds> ranges = name_ranges(clip(*fill.dst), lowering, stmts, fill.at);
    stmts.push_back(guarded(fixed_axes_inside(*fill.dst),
                            loop_over(ranges, lowering, fill.at, *fill.dst, nullptr, fill.value), fill.at));
    return sequence(std::move(stmts), fill.at);
  }
  Lowering::Vars vars = lowering.vars(loop_axes(*fill.dst).size());
  Exprs extents;
  for (size_t d : loop_axes(*fill.dst)) extents.push_back(fill.dst->extent[d]);
  return lowering.loop(fill.at, LoopKind::parallel, vars, extents, write(*fill.dst, vars, fill.value, fill.at));
}

namespace {

/// The ranges of a copy by an engine that does not convert. The tile in between has the shape of the copy's tile.
Stmts move_and_convert(const Copy& copy, const std::vector<LoopBounds>& ranges, const std::string& engine,
                       const std::string& scalar_engine, Lowering& lowering) {
  const bool loads = copy.src->buffer->space == Space::global;
  const Region& tile = loads ? *copy.dst : *copy.src;
  const DType type = (loads ? copy.src : copy.dst)->buffer->dtype;
  const Ref<Buffer> buffer =
      make_at<Buffer>(copy.at, lowering.names.fresh(tile.buffer->name + "_moved"), type, tile.extent, Exprs{},
                      tile.buffer->space, tile.buffer->memory, int64_t{-1});
  const Ref<Region> moved = make_at<Region>(copy.at, buffer, Exprs(tile.extent.size(), index(0)), tile.extent);
  auto move = [&](const Region& from, const Region& to) {
    const Expr fill = cast_to(type, copy.fill ? copy.fill : constant(Scalar::of_int(type, 0)));
    return make_at<OnEngine>(copy.at, engine,
                             make_at<Copy>(copy.at, restricted(from, ranges), restricted(to, ranges), fill));
  };
  auto convert = [&](const Region& from, const Region& to) {
    return make_at<OnEngine>(copy.at, scalar_engine, loop_over(ranges, lowering, copy.at, to, &from, nullptr));
  };
  const Stmt alloc = make_at<Alloc>(copy.at, buffer);
  if (loads) return {alloc, move(*copy.src, *moved), convert(*moved, *copy.dst)};
  return {alloc, convert(*copy.src, *moved), move(*moved, *copy.dst)};
}

}  // namespace

Stmt clip_engine_copy(const Copy& copy, const std::string& engine, const std::string& scalar_engine, bool converts,
                      Lowering& lowering) {
  Clipped c = clip_copy(copy, lowering);
  Expr something = both(c.writable, c.readable);
  for (const LoopBounds& r : c.copied)
    if (!as<Const>(r.low) || !as<Const>(r.high)) something = both(something, less(r.low, r.high));
  if (c.filling)
    c.before.push_back(
        guarded(both(c.writable, c.incomplete), make_at<OnEngine>(copy.at, scalar_engine, c.filling), copy.at));
  Stmts moved;
  if (!converts && copy.src->buffer->dtype != copy.dst->buffer->dtype)
    moved = move_and_convert(copy, c.copied, engine, scalar_engine, lowering);
  else
    moved = {make_at<OnEngine>(
        copy.at, engine,
        make_at<Copy>(copy.at, restricted(*copy.src, c.copied), restricted(*copy.dst, c.copied), fill_value(copy)))};
  c.before.push_back(guarded(something, sequence(std::move(moved), copy.at), copy.at));
  return sequence(std::move(c.before), copy.at);
}

}  // namespace tilewright
