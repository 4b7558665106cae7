// Elements of a region: which axes a loop runs over, and what keeps an access inside its buffer.
#include "pass/lower.h"

namespace tilewright {

using namespace ir;

Lowering::Vars Lowering::vars(size_t count) {
  static constexpr const char* kBases[] = {"i", "j", "k", "l"};
  Vars made;
  for (size_t d = 0; d < count; ++d) made.push_back(names.var(kBases[d < 4 ? d : 3]));
  return made;
}

Stmt Lowering::loop(Location at, LoopKind how, const Vars& vars, Exprs extents, Stmt body) {
  return make_at<For>(at, how, vars, std::move(extents), int64_t{0}, std::move(body));
}

Exprs element_of(const Region& region, const Lowering::Vars& vars) {
  Exprs at = region.offset;
  std::vector<size_t> axes = loop_axes(region);
  for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = add(at[axes[i]], vars[i]);
  return at;
}

bool plainly_inside(const Region& region, size_t d) {
  int64_t offset, extent, size;
  return is_constant(region.offset[d], &offset) && is_constant(region.extent[d], &extent) &&
         is_constant(region.buffer->shape[d], &size) && offset >= 0 && extent <= size && offset <= size - extent;
}

Expr inside(const Region& region, const Exprs& at) {
  Expr all;
  for (size_t d = 0; d < at.size(); ++d) {
    if (plainly_inside(region, d)) continue;
    all = both(all, both(less_equal(index(0), at[d]), less(at[d], region.buffer->shape[d])));
  }
  return all;
}

Expr read(const Region& region, const Lowering::Vars& vars, DType type) {
  Exprs at = element_of(region, vars);
  Expr value = cast_to(type, load(region.buffer, at));
  Expr guard = inside(region, at);
  return guard ? select(guard, value, constant(Scalar::of_int(type, 0))) : value;
}

Stmt write(const Region& region, const Lowering::Vars& vars, const Expr& value, Location where) {
  Exprs at = element_of(region, vars);
  Stmt store = make_at<Store>(where, region.buffer, at, value);
  Expr guard = inside(region, at);
  return guard ? make_at<When>(where, guard, store, Stmt()) : store;
}

}  // namespace tilewright
