// Simplification of statements: a walk that knows the ranges of enclosing loops and the facts of enclosing conditions.
#include "ir/simplify.h"

#include <type_traits>

#include "ir/build.h"
#include "ir/simplify_expr.h"

namespace tilewright::ir {
namespace {

template <class V>
bool same_value(const V& a, const V& b) {
  if constexpr (requires { a.get(); })
    return a.get() == b.get();
  else
    return a == b;
}
template <class V>
bool same_value(const std::vector<Ref<V>>& a, const std::vector<Ref<V>>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].get() != b[i].get()) return false;
  return a.size() == b.size();
}
template <class T>
bool unchanged(const T& a, const T& b) {
  bool all = true;
  std::apply([&](auto... f) { ((all &= same_value(a.*(f.member), b.*(f.member))), ...); }, T::fields());
  return all;
}

/// `old` with other fields; `old` itself when they are the same.
template <class T, class... A>
Stmt rebuilt(const T& old, const A&... fields) {
  Ref<T> out = make_at<T>(old.at, fields...);
  return unchanged(*out, old) ? Stmt(&old) : Stmt(out);
}

class KernelSimplifier {
 public:
  Ref<Kernel> run(const Ref<Kernel>& kernel) {
    context_.bind_scalars(*kernel);
    std::vector<Ref<Buffer>> params;
    bool changed = false;
    for (const auto& b : kernel->params) {
      params.push_back(declaration(b));
      changed |= !same(params.back(), b);
    }
    Stmt body = kernel->body ? block(kernel->body) : kernel->body;
    if (!changed && same(body, kernel->body)) return kernel;
    return make_at<Kernel>(kernel->at, kernel->name, kernel->stage, kernel->scalars, params, body);
  }

 private:
  // ---- parts of statements; each returns its argument when nothing changed

  Expr part(const Expr& e) { return e ? exprs_.run(e) : e; }
  Exprs part(const Exprs& list) {
    Exprs out;
    for (const Expr& e : list) out.push_back(part(e));
    return out;
  }
  Ref<Buffer> part(const Ref<Buffer>& b) { return b ? exprs_.current(b) : b; }
  Ref<Region> part(const Ref<Region>& r) {
    if (!r) return r;
    Ref<Region> out = make_at<Region>(r->at, part(r->buffer), part(r->offset), part(r->extent));
    return unchanged(*out, *r) ? r : out;
  }
  template <class V>
  V part(const V& v) {
    return v;
  }

  /// A buffer with simplified extents; later uses of the old one mean the new one.
  Ref<Buffer> declaration(const Ref<Buffer>& b) {
    Ref<Buffer> out = altered(*b, [&](Buffer& o) { o.shape = part(b->shape), o.strides = part(b->strides); });
    if (unchanged(*out, *b)) return b;
    exprs_.replace(b, out);
    return out;
  }

  // ---- statements

  /// Forgets what is learned in a scope when it ends.
  struct Scope {
    explicit Scope(KernelSimplifier& s) : self(s), mark(s.context_.mark()) {}
    ~Scope() {
      if (self.context_.release(mark)) self.exprs_.forget();
    }
    KernelSimplifier& self;
    size_t mark;
  };

  Stmt block(const Stmt& s) {
    Scope scope(*this);
    Stmt out = statement(s);
    return out ? out : Stmt(make_at<Seq>(s->at));
  }

  /// Null when nothing is left of the statement.
  Stmt statement(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq:
        return seq(*as<Seq>(s));
      case Kind::Grid:
        return grid(*as<Grid>(s));
      case Kind::For:
        return loop(*as<For>(s));
      case Kind::When:
        return when(*as<When>(s));
      case Kind::Let:
        return let(*as<Let>(s));
      case Kind::Alloc:
        return rebuilt(*as<Alloc>(s), declaration(as<Alloc>(s)->buffer));
      case Kind::OnEngine:
        return rebuilt(*as<OnEngine>(s), as<OnEngine>(s)->engine, block(as<OnEngine>(s)->body));
      default:
        return dispatch(*s, [&]<class T>(const T& n) -> Stmt {
          if constexpr (std::is_base_of_v<StmtNode, T>)
            return std::apply([&](auto... f) { return rebuilt(n, part(n.*(f.member))...); }, T::fields());
          return s;
        });
    }
  }

  Stmt seq(const Seq& n) {
    Scope scope(*this);
    Stmts out;
    for (const Stmt& s : n.stmts) {
      Stmt kept = statement(s);
      if (!kept) continue;
      // What was the body of a loop or a branch becomes part of this Seq, unless its tiles live for that body only.
      const Seq* inner = as<Seq>(kept);
      if (inner && s->kind != Kind::Seq && !allocates(*inner))
        out.insert(out.end(), inner->stmts.begin(), inner->stmts.end());
      else
        out.push_back(std::move(kept));
    }
    if (out.empty() && !n.stmts.empty()) return nullptr;
    // What is left alone needs no Seq, unless it declares something for this Seq.
    if (out.size() == 1 && n.stmts.size() > 1 && out[0]->kind != Kind::Alloc && out[0]->kind != Kind::Let)
      return out[0];
    return rebuilt(n, out);
  }

  static bool allocates(const Seq& n) {
    for (const Stmt& s : n.stmts)
      if (s->kind == Kind::Alloc) return true;
    return false;
  }

  void enter(const std::vector<Ref<Var>>& vars, const Exprs& extents) {
    for (size_t i = 0; i < vars.size() && i < extents.size(); ++i) context_.bind_loop(vars[i], extents[i]);
    exprs_.forget();
  }

  Stmt grid(const Grid& n) {
    Exprs extents = part(n.extents);
    Scope scope(*this);
    enter(n.vars, extents);
    return rebuilt(n, n.vars, extents, n.threads, block(n.body));
  }

  Stmt loop(const For& n) {
    Exprs extents = part(n.extents);
    const bool is_launch = n.how >= LoopKind::blocks;
    for (const Expr& e : extents)
      if (!is_launch && context_.range(e).hi <= 0) return nullptr;
    Scope scope(*this);
    enter(n.vars, extents);
    // What the launch or the pipeline planner reads stays, also with one iteration.
    const bool plain = n.how == LoopKind::serial || n.how == LoopKind::unroll || n.how == LoopKind::vectorized ||
                       n.how == LoopKind::parallel;
    std::vector<Ref<Var>> vars = n.vars;
    if (plain)
      for (size_t i = vars.size(); i-- > 0;)
        if (is_constant_equal(extents[i], 1)) {
          vars.erase(vars.begin() + static_cast<ptrdiff_t>(i));
          extents.erase(extents.begin() + static_cast<ptrdiff_t>(i));
        }
    Stmt body = statement(n.body);
    if (!body && !is_launch) return nullptr;
    if (!body) body = make_at<Seq>(n.body->at);
    return vars.empty() ? body : rebuilt(n, n.how, vars, extents, n.stages, body);
  }

  Stmt branch(const Stmt& s, const Expr& cond, bool value) {
    if (!s) return nullptr;
    Scope scope(*this);
    const size_t before = context_.mark();
    context_.assume(cond, value);
    if (context_.mark() != before) exprs_.forget();
    return statement(s);
  }

  Stmt when(const When& n) {
    Expr cond = part(n.cond);
    if (is_constant_equal(cond, 1)) return scoped(n.then);
    if (is_constant_equal(cond, 0)) return n.otherwise ? scoped(n.otherwise) : nullptr;
    Stmt then = branch(n.then, cond, true), otherwise = branch(n.otherwise, cond, false);
    if (!then && !otherwise) return nullptr;
    return rebuilt(n, cond, then ? then : Stmt(make_at<Seq>(n.then->at)), otherwise);
  }
  Stmt scoped(const Stmt& s) {
    Scope scope(*this);
    return statement(s);
  }

  Stmt let(const Let& n) {
    Expr value = part(n.value);
    if (value->kind == Kind::Const || value->kind == Kind::Var) {
      exprs_.replace(n.var, value);
      return nullptr;
    }
    if (n.var->type.lanes == 1 && !n.var->type.is_float()) context_.bind(n.var, context_.range(value));
    return rebuilt(n, n.var, value);
  }

  Context context_;
  ExprSimplifier exprs_{context_};
};

}  // namespace

Ref<Kernel> simplify(const Ref<Kernel>& kernel) { return KernelSimplifier().run(kernel); }

}  // namespace tilewright::ir
