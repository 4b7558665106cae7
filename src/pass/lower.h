#pragma once
// Portable lowering of tile operations, one function an operation: to loops over elements, or to what an engine does as
// a whole. Internal to src/pass.
#include "ir/build.h"
#include "ir/region.h"
#include "pass/names.h"

namespace tilewright {

/// How a loop keeps out of what lies outside a tensor: `clipped` shrinks the loop's bounds (plain inner loops for a
/// compiler that vectorises), `predicated` tests each element (every machine thread runs the same iterations).
enum class Guard : uint8_t { clipped, predicated };

struct Lowering {
  Names names;
  Guard guard;
  bool inner_columns;  // gemm keeps n innermost, for vector loops over contiguous columns

  using Vars = std::vector<ir::Ref<ir::Var>>;
  Vars vars(size_t count);
  ir::Stmt loop(Location at, ir::LoopKind how, const Vars& vars, ir::Exprs extents, ir::Stmt body);
};

/// Constants say that the region lies inside its buffer on axis d.
bool plainly_inside(const ir::Region& region, size_t d);

/// Index of element `vars` (one a loop axis) of the region.
ir::Exprs element_of(const ir::Region& region, const Lowering::Vars& vars);

/// "the element lies inside the buffer", null when that is plain from constants.
ir::Expr inside(const ir::Region& region, const ir::Exprs& index);

/// The element of the region, 0 when it lies outside its buffer, as `type`.
ir::Expr read(const ir::Region& region, const Lowering::Vars& vars, DType type);
/// Stores to the element of the region, dropped when it lies outside its buffer.
ir::Stmt write(const ir::Region& region, const Lowering::Vars& vars, const ir::Expr& value, Location at);

/// op of two values, as the reduction combines them.
ir::Expr combine(const ir::Reduce& r, const ir::Expr& a, const ir::Expr& b);

ir::Stmt lower_copy(const ir::Copy& copy, Lowering& lowering);
ir::Stmt lower_fill(const ir::Fill& fill, Lowering& lowering);
ir::Stmt lower_gemm(const ir::Gemm& gemm, Lowering& lowering);
ir::Stmt lower_reduce(const ir::Reduce& reduce, Lowering& lowering);

/// A gemm whose c the threads hold together: products of one k after the other, each thread for its own elements.
ir::Stmt lower_gemm_by_steps(const ir::Gemm& gemm, Lowering& lowering);
/// A reduction of what the threads hold together stays whole; where several warps hold one row, it gets memory in
/// `scratch_memory` to exchange their parts.
ir::Stmt prepare_reduce(const ir::Reduce& reduce, int64_t lanes, const std::string& scratch_memory, Lowering& lowering);

/// A copy that an engine does as a whole, with both regions clipped to their tensors; what the source does not have is
/// filled first, by loops on `scalar_engine`. An engine that does not convert moves elements of one type, that of the
/// source in global memory or else of the destination, and `scalar_engine` converts from or to a tile of the copy's
/// own.
ir::Stmt clip_engine_copy(const ir::Copy& copy, const std::string& engine, const std::string& scalar_engine,
                          bool converts, Lowering& lowering);

}  // namespace tilewright
