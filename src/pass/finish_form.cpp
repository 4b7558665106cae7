#include "base/check.h"
#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "pass/distribute.h"
#include "pass/names.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

using VarList = std::vector<Ref<Var>>;

/// Deals the iterations of parallel loops out to the threads: iteration r * threads + t runs on thread t.
class DealOut {
 public:
  DealOut(Names& names, const Ref<Var>& thread, int64_t threads, const Caps& caps)
      : names_(names), thread_(thread), threads_(threads), distribute_(names, thread, threads, caps) {}

  Stmt run(const Stmt& s) {
    const auto* loop = as<For>(s);
    if (loop && loop->how == LoopKind::parallel) {
      if (const std::optional<Distribution> dealt = dealing_of(*loop)) return distribute_.loop(*loop, *dealt);
      return deal(*loop);
    }
    if (const auto* alloc = as<Alloc>(s); alloc && !alloc->buffer->layout.empty())
      return make_at<Alloc>(s->at, slots_of(*alloc->buffer));
    if (const auto* gemm = as<Gemm>(s)) return distribute_.gemm(*gemm);
    if (const auto* reduce = as<Reduce>(s)) return distribute_.reduce(*reduce);
    return with_bodies(s, [this](const Stmt& body) { return run(body); });
  }

 private:
  Stmt deal(const For& loop) {
    Expr total = product(loop.extents), linear = thread_;
    int64_t count = -1;
    is_constant(total, &count);
    bool one_round = count >= 0 && count <= threads_;
    Ref<Var> round = one_round ? Ref<Var>() : names_.var("round");
    if (round) linear = add(mul(round, index(threads_)), thread_);

    Stmts stmts;
    Ref<Var> iteration = loop.vars.size() == 1 ? loop.vars[0] : names_.var("iteration");
    if (!loop.vars.empty()) stmts.push_back(make_at<Let>(loop.at, iteration, linear));
    Stmts inner;
    if (loop.vars.size() > 1) {
      Expr rest = iteration;
      for (size_t d = loop.vars.size(); d-- > 0;) {
        inner.insert(inner.begin(),
                     make_at<Let>(loop.at, loop.vars[d], d == 0 ? rest : floormod(rest, loop.extents[d])));
        rest = floordiv(rest, loop.extents[d]);
      }
    }
    inner.push_back(as_serial(loop.body));
    Stmt body = sequence(std::move(inner), loop.at);
    bool exact = count >= 0 && count % threads_ == 0;
    if (!exact) body = make_at<When>(loop.at, less(loop.vars.empty() ? linear : Expr(iteration), total), body, Stmt());
    stmts.push_back(body);
    Stmt once = sequence(std::move(stmts), loop.at);
    if (!round) return once;
    return make_at<For>(loop.at, LoopKind::serial, VarList{round}, Exprs{ceildiv(total, index(threads_))}, int64_t{0},
                        once);
  }

  Names& names_;
  Ref<Var> thread_;
  int64_t threads_;
  Distribute distribute_;
};

}  // namespace

KernelRef finish_form(const KernelRef& kernel, PassContext& context) {
  Stmt body = kernel->body;
  Stage stage = Stage::loops;
  if (context.caps().model == Model::engines) {
    stage = Stage::engines;
    body = as_serial(body);
  } else if (context.caps().model == Model::threads) {
    stage = Stage::threads;
    Names names(kernel);
    body = rewrite_as(body, [&](const Any& node) -> Any {
      const auto* loop = as<For>(node);
      if (!loop || loop->how != LoopKind::threads) return node;
      int64_t threads = 0;
      TW_CHECK(is_constant(loop->extents[0], &threads), "the thread count is not a constant");
      Stmt dealt = DealOut(names, loop->vars[0], threads, context.caps()).run(loop->body);
      // What every thread reads of a distributed tile is the only element, which every thread has.
      dealt = rewrite_as(dealt, [](const Any& inner) -> Any {
        const auto* l = as<Load>(inner);
        if (!l || l->buffer->layout.empty()) return inner;
        TW_CHECK(element_count(*l->buffer) == 1, l->buffer->name + " is distributed, and read outside of its loops");
        return load(slots_of(*l->buffer), {index(0)});
      });
      return make_at<For>(loop->at, loop->how, loop->vars, loop->extents, loop->stages, dealt);
    });
  }
  return make_at<Kernel>(kernel->at, kernel->name, stage, kernel->scalars, kernel->params, body);
}

}  // namespace tilewright
