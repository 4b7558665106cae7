#include "ir/build.h"

namespace tilewright::ir {

Expr binary(BinaryOp op, const Expr& a, const Expr& b) {
  const Const *x = as<Const>(a), *y = as<Const>(b);
  if (x && y && x->value.type == y->value.type && is_defined(op, x->value.type))
    return constant(evaluate(op, x->value, y->value));
  return make<Binary>(op, a, b);
}

Expr unary(UnaryOp op, const Expr& a) {
  const Const* x = as<Const>(a);
  if (x && is_defined(op, x->value.type)) return constant(evaluate(op, x->value));
  return make<Unary>(op, a);
}

Expr cast_to(DType type, const Expr& e, Overflow overflow) {
  if (e->dtype == type) return e;
  if (const Const* c = as<Const>(e)) return constant(cast(c->value, type, overflow));
  return make<Cast>(type, e, overflow);
}

Expr select(const Expr& cond, const Expr& a, const Expr& b) {
  if (const Const* c = as<Const>(cond)) return c->value.as_bool() ? a : b;
  return make<Select>(cond, a, b);
}

Expr add(const Expr& a, const Expr& b) {
  if (is_constant_equal(a, 0)) return b;
  if (is_constant_equal(b, 0)) return a;
  return binary(BinaryOp::add, a, b);
}
Expr sub(const Expr& a, const Expr& b) { return is_constant_equal(b, 0) ? a : binary(BinaryOp::sub, a, b); }
Expr mul(const Expr& a, const Expr& b) {
  if (is_constant_equal(a, 0) || is_constant_equal(b, 1)) return a;
  if (is_constant_equal(b, 0) || is_constant_equal(a, 1)) return b;
  return binary(BinaryOp::mul, a, b);
}
Expr floordiv(const Expr& a, const Expr& b) { return is_constant_equal(b, 1) ? a : binary(BinaryOp::floordiv, a, b); }
Expr floormod(const Expr& a, const Expr& b) {
  return is_constant_equal(b, 1) ? constant(Scalar::of_int(b->dtype, 0)) : binary(BinaryOp::floormod, a, b);
}
Expr ceildiv(const Expr& a, const Expr& b) { return is_constant_equal(b, 1) ? a : binary(BinaryOp::ceildiv, a, b); }
Expr min(const Expr& a, const Expr& b) { return binary(BinaryOp::min, a, b); }
Expr less(const Expr& a, const Expr& b) { return binary(BinaryOp::lt, a, b); }
Expr less_equal(const Expr& a, const Expr& b) { return binary(BinaryOp::le, a, b); }

Expr both(const Expr& a, const Expr& b) {
  if (!a || is_constant_equal(a, 1)) return b;
  if (!b || is_constant_equal(b, 1)) return a;
  return binary(BinaryOp::logical_and, a, b);
}

Expr load(const Ref<Buffer>& buffer, Exprs at) { return make<Load>(buffer, std::move(at)); }

Expr product(const Exprs& extents) {
  Expr result = index(1);
  for (const Expr& e : extents) result = mul(result, e);
  return result;
}

Stmt sequence(Stmts stmts, Location at) {
  Stmts flat;
  for (Stmt& s : stmts) {
    if (!s) continue;
    if (const Seq* seq = as<Seq>(s))
      flat.insert(flat.end(), seq->stmts.begin(), seq->stmts.end());
    else
      flat.push_back(std::move(s));
  }
  if (flat.size() == 1) return flat[0];
  return make_at<Seq>(at, std::move(flat));
}

}  // namespace tilewright::ir
