#include "ir/simplify_expr.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

bool is_float_constant(const Expr& e, double value) {
  const Const* c = as<Const>(e);
  return c && c->value == Scalar::of_float(e->dtype, value);  // bit for bit: 0 is not -0
}

/// A node with other children; the same node when they are the same.
template <class T, class... A>
Expr with(const T& old, bool same_children, A&&... fields) {
  return same_children ? Expr(&old) : Expr(make<T>(std::forward<A>(fields)...));
}

}  // namespace

Expr simplify(const Expr& e, const Context& context) { return ExprSimplifier(context).run(e); }

Expr ExprSimplifier::run(const Expr& root) {
  if (const Expr* known = memo_.find(root.get())) return *known;
  struct Frame {
    const ExprNode* e;
    bool entered = false, merged = false;
  };
  std::vector<Frame> stack{{static_cast<const ExprNode*>(root.get())}};
  std::vector<const Node*> parts;
  while (!stack.empty()) {
    Frame& top = stack.back();
    const ExprNode& e = *top.e;
    if (top.entered) {
      const bool merged = top.merged;
      stack.pop_back();
      memo_.insert(&e, merged ? merged_sum(e) : rebuilt(e));
    } else if (memo_.find(&e)) {
      stack.pop_back();
    } else {
      top.entered = true;
      top.merged = merges(e);
      parts.clear();
      // Sums inside a sum whose terms merge are not written, however many there are: its atoms are enough.
      if (top.merged)
        for (const Linear::Term& t : context_.linear(Expr(&e)).terms) parts.push_back(t.atom);
      else
        append_children(e, parts);
      for (const Node* part : parts)
        if (is_expr(part->kind)) stack.push_back({static_cast<const ExprNode*>(part)});
    }
  }
  return *memo_.find(root.get());
}

Ref<Buffer> ExprSimplifier::current(const Ref<Buffer>& b) const {
  const Ref<Buffer>* to = buffers_.find(b.get());
  return to ? *to : b;
}

/// `e` with simplified children, then simplified itself.
Expr ExprSimplifier::rebuilt(const ExprNode& e) {
  auto same = [](const Expr& x, const Expr& y) { return x.get() == y.get(); };
  switch (e.kind) {
    case Kind::Var:
      return var(*as<Var>(&e));
    case Kind::Unary: {
      const Unary& n = *as<Unary>(&e);
      const Expr& a = result(n.a);
      return unary(with(n, same(a, n.a), n.op, a));
    }
    case Kind::Binary: {
      const Binary& n = *as<Binary>(&e);
      const Expr &a = result(n.a), &b = result(n.b);
      return binary(with(n, same(a, n.a) && same(b, n.b), n.op, a, b));
    }
    case Kind::Select: {
      const Select& n = *as<Select>(&e);
      const Expr &c = result(n.cond), &a = result(n.a), &b = result(n.b);
      return select(with(n, same(c, n.cond) && same(a, n.a) && same(b, n.b), c, a, b));
    }
    case Kind::Fma: {
      const Fma& n = *as<Fma>(&e);
      const Expr &a = result(n.a), &b = result(n.b), &c = result(n.c);
      const Const *x = as<Const>(a), *y = as<Const>(b), *z = as<Const>(c);
      if (x && y && z) return constant(fma(x->value, y->value, z->value));
      return with(n, same(a, n.a) && same(b, n.b) && same(c, n.c), a, b, c);
    }
    case Kind::Cast: {
      const Cast& n = *as<Cast>(&e);
      const Expr& a = result(n.a);
      return cast(with(n, same(a, n.a), n.type, a, n.overflow));
    }
    case Kind::Load: {
      const Load& n = *as<Load>(&e);
      Ref<Buffer> buffer = current(n.buffer);
      Exprs indices;
      bool unchanged = buffer.get() == n.buffer.get();
      for (const Expr& i : n.indices) {
        indices.push_back(result(i));
        unchanged &= same(indices.back(), i);
      }
      return with(n, unchanged, buffer, indices);
    }
    default:
      return Expr(&e);
  }
}

/// The constant, when the integer or bool `e` can have only one value.
Expr ExprSimplifier::constant_or(const Expr& e) const {
  const DType t = e->dtype;
  if (e->kind == Kind::Const || t.lanes != 1 || t.is_float()) return e;
  const Range r = context_.range(e);
  return r.is_single() ? constant(Scalar::of_int(t, static_cast<int64_t>(static_cast<uint64_t>(r.lo)))) : e;
}

Expr ExprSimplifier::var(const Var& v) {
  for (auto at = values_.rbegin(); at != values_.rend(); ++at)
    if (at->first == v.name) return at->second;
  Expr e(&v);
  if (v.type.is_bool())
    if (Proof p = context_.known(e); p != Proof::unknown) return truth(p == Proof::yes);
  return constant_or(e);
}

Expr ExprSimplifier::unary(const Expr& e) {
  const Unary& n = *as<Unary>(e);
  if (const Const* c = as<Const>(n.a); c && is_defined(n.op, n.a->dtype)) return constant(evaluate(n.op, c->value));
  const Unary* inner = as<Unary>(n.a);
  const bool undone = n.op == UnaryOp::neg || n.op == UnaryOp::bit_not || n.op == UnaryOp::logical_not;
  if (undone && inner && inner->op == n.op) return inner->a;
  if (n.op == UnaryOp::neg && is_scalar_int(e->dtype)) return sum(e);
  if (n.op == UnaryOp::abs && is_scalar_int(e->dtype) && context_.range(n.a).lo >= 0) return n.a;
  if (n.op == UnaryOp::logical_not) {
    const Binary* b = as<Binary>(n.a);
    if (b && is_comparison(b->op)) {
      const bool exact = !b->a->dtype.is_float() || b->op == BinaryOp::eq || b->op == BinaryOp::ne;
      if (exact) return binary(make<Binary>(negated(b->op), b->a, b->b));
    }
  }
  return constant_or(e);
}

Expr ExprSimplifier::binary(const Expr& e) {
  const Binary& n = *as<Binary>(e);
  const DType t = n.a->dtype;
  const Const *x = as<Const>(n.a), *y = as<Const>(n.b);
  if (x && y && is_defined(n.op, t)) return constant(evaluate(n.op, x->value, y->value));
  if (t.lanes != 1) return e;
  if (is_logical(n.op)) return logical(e);
  if (is_comparison(n.op)) return comparison(e);
  if (t.is_float()) return float_binary(e);
  return t.is_int() ? int_binary(e) : constant_or(e);
}

Expr ExprSimplifier::float_binary(const Expr& e) const {
  const Binary& n = *as<Binary>(e);
  switch (n.op) {
    case BinaryOp::mul:
      if (is_float_constant(n.a, 1)) return n.b;
      return is_float_constant(n.b, 1) ? n.a : e;
    case BinaryOp::div:
      return is_float_constant(n.b, 1) ? n.a : e;
    case BinaryOp::add:
      if (is_float_constant(n.a, -0.0)) return n.b;
      return is_float_constant(n.b, -0.0) ? n.a : e;
    case BinaryOp::sub:
      return is_float_constant(n.b, 0.0) ? n.a : e;
    case BinaryOp::min:
    case BinaryOp::max:
    case BinaryOp::min_nan:
    case BinaryOp::max_nan:
      return same_expr(n.a.get(), n.b.get()) ? n.a : e;
    default:
      return e;
  }
}

Expr ExprSimplifier::logical(const Expr& e) const {
  const Binary& n = *as<Binary>(e);
  const bool is_and = n.op == BinaryOp::logical_and;
  for (const auto& [one, other] : {std::pair(n.a, n.b), std::pair(n.b, n.a)})
    if (const Const* c = as<Const>(one)) return c->value.as_bool() == is_and ? other : one;
  if (same_expr(n.a.get(), n.b.get())) return n.a;
  if (Proof p = context_.known(e); p != Proof::unknown) return truth(p == Proof::yes);
  return e;
}

Expr ExprSimplifier::comparison(const Expr& e) const {
  const Binary& n = *as<Binary>(e);
  Proof p = context_.known(e);
  if (p == Proof::unknown && !n.a->dtype.is_float() && same_expr(n.a.get(), n.b.get()))
    p = n.op == BinaryOp::eq || n.op == BinaryOp::le || n.op == BinaryOp::ge ? Proof::yes : Proof::no;
  if (p == Proof::unknown && n.a->dtype.is_int()) p = context_.compare(n.op, n.a, n.b);
  if (p == Proof::unknown && n.a->dtype.is_bool()) return constant_or(e);
  return p == Proof::unknown ? e : truth(p == Proof::yes);
}

Expr ExprSimplifier::select(const Expr& e) const {
  const Select& n = *as<Select>(e);
  if (const Const* c = as<Const>(n.cond)) return c->value.as_bool() ? n.a : n.b;
  if (same_expr(n.a.get(), n.b.get())) return n.a;
  if (const Unary* u = as<Unary>(n.cond); u && u->op == UnaryOp::logical_not)
    return select(make<Select>(u->a, n.b, n.a));
  if (e->dtype == boolean && is_constant_equal(n.a, 1) && is_constant_equal(n.b, 0)) return n.cond;
  return constant_or(e);
}

Expr ExprSimplifier::cast(const Expr& e) const {
  const Cast& n = *as<Cast>(e);
  if (n.a->dtype == n.type) return n.a;
  if (const Const* c = as<Const>(n.a)) return constant(tilewright::cast(c->value, n.type, n.overflow));
  // cast<T>(cast<U>(x)) with every value of x kept by U.
  const Cast* inner = as<Cast>(n.a);
  if (inner && is_scalar_int(inner->type) && is_scalar_int(inner->a->dtype) &&
      context_.range(inner->a).within(range_of_type(inner->type)))
    return cast(make<Cast>(n.type, inner->a, n.overflow));
  return constant_or(e);
}

}  // namespace tilewright::ir
