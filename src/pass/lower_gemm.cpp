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

/// The variables m, n, k of a gemm, and what its sum adds to: a * b of one k, and c.
struct Step {
  Ref<Var> m, n, k;
  Expr m_extent, n_extent, k_extent;
  Lowering::Vars c_vars;
  Expr x, y;
};

Step step_of(const Gemm& gemm, Lowering& lowering) {
  const Region &a = *gemm.a, &c = *gemm.c;
  const size_t rank = c.extent.size();
  const DType type = c.buffer->dtype;
  Step s;
  s.m_extent = c.extent[rank - 2], s.n_extent = c.extent[rank - 1];
  s.k_extent = a.extent[a.extent.size() - (gemm.transpose_a ? 2 : 1)];
  s.m = lowering.names.var("m"), s.n = lowering.names.var("n"), s.k = lowering.names.var("k");
  for (size_t d : loop_axes(c)) s.c_vars.push_back(d + 2 == rank ? s.m : s.n);
  s.x = operand(a, s.m, s.k, gemm.transpose_a, type);
  s.y = operand(*gemm.b, s.k, s.n, gemm.transpose_b, type);
  return s;
}

}  // namespace

Stmt lower_gemm(const Gemm& gemm, Lowering& lowering) {
  const Region& c = *gemm.c;
  const auto [m, n, k, m_extent, n_extent, k_extent, c_vars, x, y] = step_of(gemm, lowering);
  Expr sum = binary(BinaryOp::add, read(c, c_vars, c.buffer->dtype), binary(BinaryOp::mul, x, y));
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

Stmt lower_gemm_by_steps(const Gemm& gemm, Lowering& lowering) {
  const Region& c = *gemm.c;
  const Step s = step_of(gemm, lowering);
  const Expr old = read(c, s.c_vars, c.buffer->dtype);
  const Expr sum = c.buffer->dtype.is_float() ? Expr(make<Fma>(s.x, s.y, old))
                                              : binary(BinaryOp::add, old, binary(BinaryOp::mul, s.x, s.y));
  Lowering::Vars vars;
  Exprs extents;
  for (const auto& [v, extent] : {std::pair(s.m, s.m_extent), std::pair(s.n, s.n_extent)}) {
    if (is_constant_equal(extent, 1)) continue;
    vars.push_back(v);
    extents.push_back(extent);
  }
  const Stmt step = lowering.loop(gemm.at, LoopKind::parallel, vars, extents, write(c, s.c_vars, sum, gemm.at));
  return lowering.loop(gemm.at, LoopKind::serial, {s.k}, {s.k_extent}, step);
}

}  // namespace tilewright
