#include <fmt/format.h>

#include "ir/walk.h"
#include "pass/lower.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

class LowerTiles {
 public:
  LowerTiles(const KernelRef& kernel, PassContext& context)
      : context_(context),
        lowering_{Names(kernel), context.caps().model == Model::threads ? Guard::predicated : Guard::clipped,
                  context.caps().model == Model::loops} {}

  Stmt run(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq:
      case Kind::When:
        return with_bodies(s, [this](const Stmt& body) { return run(body); });
      case Kind::For:
        return loop(static_cast<const For&>(*s));
      case Kind::OnEngine:
        return on_engine(static_cast<const OnEngine&>(*s));
      case Kind::Covers:
        return make_at<Seq>(s->at);
      default:
        return operation(s);
    }
  }

 private:
  Stmt loop(const For& loop) {
    LoopKind how = loop.how;
    if (how == LoopKind::pipelined || how == LoopKind::persistent) {
      if (loop.stages > 1)
        context_.warn("lower_tiles",
                      fmt::format("pipelined: {} stages asked, 1 granted: iterations do not overlap yet", loop.stages),
                      loop.at);
      how = LoopKind::serial;
    }
    return make_at<For>(loop.at, how, loop.vars, loop.extents, int64_t{0}, run(loop.body));
  }

  Stmt on_engine(const OnEngine& on) {
    const std::string& scalar = context_.caps().scalar_engine().name;
    const auto* copy = as<Copy>(on.body);
    if (copy && on.engine != scalar) {
      const CopyPath* path = context_.caps().path(copy->src->buffer->memory, copy->dst->buffer->memory);
      return clip_engine_copy(*copy, on.engine, scalar, path && path->converts, lowering_);
    }
    return make_at<OnEngine>(on.at, on.engine, run(on.body));
  }

  Stmt operation(const Stmt& s) {
    if (Stmt own = context_.target.lower(*s)) return own;
    switch (s->kind) {
      case Kind::Copy:
        return lower_copy(static_cast<const Copy&>(*s), lowering_);
      case Kind::Fill:
        return lower_fill(static_cast<const Fill&>(*s), lowering_);
      case Kind::Gemm: {
        const auto& gemm = static_cast<const Gemm&>(*s);
        if (!gemm.unit.empty()) return s;
        return gemm.c->buffer->layout.empty() ? lower_gemm(gemm, lowering_) : lower_gemm_by_steps(gemm, lowering_);
      }
      case Kind::Reduce: {
        const auto& reduce = static_cast<const Reduce&>(*s);
        if (reduce.src->buffer->layout.empty()) return lower_reduce(reduce, lowering_);
        const Caps& caps = context_.caps();
        return prepare_reduce(reduce, caps.lanes, caps.memory_of[static_cast<int>(Space::shared)], lowering_);
      }
      default:
        return s;
    }
  }

  PassContext& context_;
  Lowering lowering_;
};

}  // namespace

KernelRef lower_tiles(const KernelRef& kernel, PassContext& context) {
  Stmt body = LowerTiles(kernel, context).run(kernel->body);
  return make_at<Kernel>(kernel->at, kernel->name, Stage::lowered, kernel->scalars, kernel->params, body);
}

}  // namespace tilewright
