#include "pass/lower.h"

namespace tilewright {

using namespace ir;

namespace {

/// The region with its two loop variables in memory order.
Expr operand(const Region& region, const Ref<Var>& row, const Ref<Var>& column, bool transposed, DType type) {
  // loop_axes drops axes of extent 1; their variable is 0 there and must not be passed.
  std::vector<size_t> axes = loop_axes(region);
  const Ref<Var>&first = transposed ? column : row, &second = transposed ? row : column;
  size_t rank = region.extent.size();
  Lowering::Vars vars;
  for (size_t d : axes) vars.push_back(d + 2 == rank ? first : second);
  return read(region, vars, type);
}

}  // namespace

Stmt lower_gemm(const Gemm& gemm, Lowering& lowering) {
  const Region& c = *gemm.c;
  DType type = c.buffer->dtype;
  size_t rank = c.extent.size();
  Expr m_extent = c.extent[rank - 2], n_extent = c.extent[rank - 1];
  const Region& a = *gemm.a;
  Expr k_extent = a.extent[a.extent.size() - (gemm.transpose_a ? 2 : 1)];
  Ref<Var> m = lowering.names.var("m"), n = lowering.names.var("n"), k = lowering.names.var("k");

  Lowering::Vars c_vars;
  for (size_t d : loop_axes(c)) c_vars.push_back(d + 2 == rank ? m : n);
  Expr x = operand(a, m, k, gemm.transpose_a, type), y = operand(*gemm.b, k, n, gemm.transpose_b, type);
  Expr sum = binary(BinaryOp::add, read(c, c_vars, type), binary(BinaryOp::mul, x, y));
  Stmt update = write(c, c_vars, sum, gemm.at);

  auto loop = [&](LoopKind how, const Lowering::Vars& vars, Exprs extents, Stmt body) {
    return lowering.loop(gemm.at, how, vars, std::move(extents), std::move(body));
  };
  if (lowering.inner_columns && !gemm.transpose_b) {
    Stmt columns = loop(LoopKind::parallel, {n}, {n_extent}, update);
    return loop(LoopKind::parallel, {m}, {m_extent}, loop(LoopKind::reduction, {k}, {k_extent}, columns));
  }
  return loop(LoopKind::parallel, {m, n}, {m_extent, n_extent}, loop(LoopKind::reduction, {k}, {k_extent}, update));
}

}  // namespace tilewright
