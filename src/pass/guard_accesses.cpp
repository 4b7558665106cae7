#include <fmt/format.h>

#include "ir/bounds.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// Walks the statements with what is known of the variables around them.
class GuardAccesses {
 public:
  explicit GuardAccesses(const KernelRef& kernel) { known_.bind_scalars(*kernel); }

  Stmt run(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq:
        return with_bodies(s, [this](const Stmt& body) { return run(body); });
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        Exprs extents;
        for (const Expr& e : loop.extents) extents.push_back(value(e));
        size_t mark = known_.mark();
        for (size_t d = 0; d < loop.vars.size(); ++d) known_.bind_loop(loop.vars[d], loop.extents[d]);
        Stmt body = run(loop.body);
        known_.release(mark);
        return make_at<For>(s->at, loop.how, loop.vars, extents, loop.stages, body);
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(*s);
        Expr cond = value(when.cond);
        return make_at<When>(s->at, cond, under(when.cond, true, when.then),
                             when.otherwise ? under(when.cond, false, when.otherwise) : Stmt());
      }
      case Kind::Let: {
        const auto& let = static_cast<const Let&>(*s);
        Expr v = value(let.value);
        if (let.var->type.is_int()) {
          known_.bind(let.var, known_.range(let.value));
          known_.assume(binary(BinaryOp::eq, let.var, let.value));
        }
        return make_at<Let>(s->at, let.var, v);
      }
      case Kind::OnEngine: {
        const auto& on = static_cast<const OnEngine&>(*s);
        return make_at<OnEngine>(s->at, on.engine, run(on.body));
      }
      case Kind::Store: {
        const auto& store = static_cast<const Store&>(*s);
        Exprs indices;
        for (const Expr& i : store.indices) indices.push_back(value(i));
        Stmt raw = make_at<Store>(s->at, store.buffer, indices, value(store.value));
        Expr guard = unproved(*store.buffer, indices);
        return guard ? make_at<When>(s->at, guard, raw, Stmt()) : raw;
      }
      default:
        return rewrite_as(s, [&](const Any& node) { return guarded_load(node); });
    }
  }

  int guards() const { return guards_; }

 private:
  Stmt under(const Expr& cond, bool holds, const Stmt& body) {
    size_t mark = known_.mark();
    known_.assume(cond, holds);
    Stmt result = run(body);
    known_.release(mark);
    return result;
  }

  Expr value(const Expr& e) {
    return rewrite_as(e, [&](const Any& node) { return guarded_load(node); });
  }

  Any guarded_load(const Any& node) {
    const auto* l = as<Load>(node);
    if (!l) return node;
    Expr guard = unproved(*l->buffer, l->indices);
    return guard ? Any(select(guard, ref(l), constant(Scalar::of_int(l->dtype, 0)))) : node;
  }

  /// What has to hold for the access to be in range; null when all of it is proved.
  Expr unproved(const Buffer& buffer, const Exprs& indices) {
    Expr guard;
    for (size_t d = 0; d < indices.size(); ++d) {
      Expr at = cast_to(i64, indices[d]);
      if (known_.compare(BinaryOp::ge, at, index(0)) != Proof::yes) guard = both(guard, less_equal(index(0), at));
      if (known_.compare(BinaryOp::lt, at, buffer.shape[d]) != Proof::yes)
        guard = both(guard, less(at, buffer.shape[d]));
    }
    guards_ += guard ? 1 : 0;
    return guard;
  }

  Context known_;
  int guards_ = 0;
};

}  // namespace

KernelRef guard_accesses(const KernelRef& kernel, PassContext& context) {
  GuardAccesses guard(kernel);
  Stmt body = guard.run(kernel->body);
  context.fact("guard_accesses",
               fmt::format("{} element accesses need a guard; the others are proved in range", guard.guards()),
               kernel->at);
  return make_at<Kernel>(kernel->at, kernel->name, kernel->stage, kernel->scalars, kernel->params, body);
}

}  // namespace tilewright
