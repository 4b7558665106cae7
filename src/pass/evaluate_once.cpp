#include "ir/build.h"
#include "ir/walk.h"
#include "pass/names.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

class EvaluateOnce {
 public:
  explicit EvaluateOnce(const KernelRef& kernel) : names_(kernel) {}

  Stmt run(const Stmt& s) {
    Stmts stmts;
    switch (s->kind) {
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        Exprs extents;
        for (const Expr& e : loop.extents) extents.push_back(without_loads(e, stmts, s->at));
        stmts.push_back(make_at<For>(s->at, loop.how, loop.vars, extents, loop.stages, run(loop.body)));
        return sequence(std::move(stmts), s->at);
      }
      case Kind::Copy:
      case Kind::Fill:
      case Kind::Gemm:
      case Kind::Reduce: {
        Stmt named = without_loads(s, stmts, s->at);
        stmts.push_back(named);
        return sequence(std::move(stmts), s->at);
      }
      default:
        return with_bodies(s, [this](const Stmt& body) { return run(body); });
    }
  }

 private:
  /// `root` with each load replaced by a name, which a `let` gives its value.
  template <class T>
  Ref<T> without_loads(const Ref<T>& root, Stmts& lets, Location at) {
    return rewrite_as(root, [&](const Any& node) -> Any {
      const auto* load = as<Load>(node);
      if (!load) return node;
      Ref<Var> v = names_.var(load->buffer->name + "_value", load->dtype);
      lets.push_back(make_at<Let>(at, v, ref(load)));
      return v;
    });
  }

  Names names_;
};

}  // namespace

KernelRef evaluate_once(const KernelRef& kernel, PassContext&) {
  return make_at<Kernel>(kernel->at, kernel->name, kernel->stage, kernel->scalars, kernel->params,
                         EvaluateOnce(kernel).run(kernel->body));
}

}  // namespace tilewright
