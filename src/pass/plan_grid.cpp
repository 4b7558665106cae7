#include <fmt/format.h>

#include "ir/bounds.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "pass/names.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// Statements that give the grid's variables from the linear block index: the first variable varies fastest.
Stmts block_coordinates(const Grid& grid, const Expr& block) {
  Stmts lets;
  Expr rest = block;
  for (size_t d = 0; d < grid.vars.size(); ++d) {
    bool last = d + 1 == grid.vars.size();
    lets.push_back(make_at<Let>(grid.at, grid.vars[d], last ? rest : floormod(rest, grid.extents[d])));
    rest = floordiv(rest, grid.extents[d]);
  }
  return lets;
}

/// The number of blocks: none when an extent is 0 or less, also when two are.
Expr count_blocks(const Grid& grid, const Context& known) {
  if (grid.extents.size() == 1) return grid.extents[0];
  Exprs counts;
  for (const Expr& e : grid.extents)
    counts.push_back(known.compare(BinaryOp::ge, e, index(0)) == Proof::yes ? e : binary(BinaryOp::max, e, index(0)));
  return product(counts);
}

using VarList = std::vector<Ref<Var>>;

/// The blocks loop of the loops and threads models.
Stmt plan_blocks(const Grid& grid, const Expr& blocks, Names& names, bool with_threads) {
  Stmt body = grid.body;
  if (with_threads)
    body =
        make_at<For>(grid.at, LoopKind::threads, VarList{names.var("t")}, Exprs{index(grid.threads)}, int64_t{0}, body);
  if (grid.vars.size() == 1) return make_at<For>(grid.at, LoopKind::blocks, grid.vars, grid.extents, int64_t{0}, body);
  Ref<Var> block = names.var("block");
  Stmts stmts = block_coordinates(grid, block);
  stmts.push_back(body);
  return make_at<For>(grid.at, LoopKind::blocks, VarList{block}, Exprs{blocks}, int64_t{0},
                      sequence(std::move(stmts), grid.at));
}

/// The cores loop of the engines model: core c of n runs blocks c, c + n, c + 2 n, ...
Stmt plan_cores(const Grid& grid, const Expr& blocks, Names& names, int64_t cores) {
  Ref<Var> core = names.var("core"), round = names.var("round"), block = names.var("block");
  Expr used = ir::min(blocks, index(cores));
  Stmts stmts{make_at<Let>(grid.at, block, add(mul(round, used), core))};
  for (Stmt& let : block_coordinates(grid, block)) stmts.push_back(std::move(let));
  stmts.push_back(grid.body);
  Stmt rounds = make_at<For>(grid.at, LoopKind::serial, VarList{round}, Exprs{ceildiv(sub(blocks, core), used)},
                             int64_t{0}, sequence(std::move(stmts), grid.at));
  return make_at<For>(grid.at, LoopKind::cores, VarList{core}, Exprs{used}, int64_t{0}, rounds);
}

}  // namespace

KernelRef plan_grid(const KernelRef& kernel, PassContext& context) {
  const Caps& caps = context.caps();
  Names names(kernel);
  Context known;
  known.bind_scalars(*kernel);
  return rewrite_as(kernel, [&](const Any& node) -> Any {
    if (const auto* grid = as<Grid>(node)) {
      if (caps.model == Model::engines) {
        context.fact("plan_grid", fmt::format("each of up to {} cores runs every n-th block", caps.cores), grid->at);
        return plan_cores(*grid, count_blocks(*grid, known), names, caps.cores);
      }
      context.fact("plan_grid", "one block a work item; the grid's first variable varies fastest", grid->at);
      return plan_blocks(*grid, count_blocks(*grid, known), names, caps.model == Model::threads);
    }
    if (const auto* k = as<Kernel>(node))
      return make_at<Kernel>(k->at, k->name, Stage::planned, k->scalars, k->params, k->body);
    return node;
  });
}

}  // namespace tilewright
