#pragma once
// Short names for making expressions. Integer helpers fold constants and drop neutral elements, so that lowered index
// arithmetic stays readable; nothing here needs a proof (that is simplify's work).
#include "ir/nodes.h"

namespace tilewright::ir {

inline Expr constant(Scalar value) { return make<Const>(value); }
/// An integer of type i64.
inline Expr index(int64_t value) { return constant(Scalar::of_int(i64, value)); }
inline Expr truth(bool value) { return constant(Scalar::of_int(boolean, value)); }

/// The value of a constant expression of integer type.
inline bool is_constant(const Expr& e, int64_t* value = nullptr) {
  const Const* c = as<Const>(e);
  if (!c || c->value.type.is_float()) return false;
  if (value) *value = c->value.as_int();
  return true;
}
inline bool is_constant_equal(const Expr& e, int64_t expected) {
  int64_t value;
  return is_constant(e, &value) && value == expected;
}

/// `a op b`, evaluated when both are constants.
Expr binary(BinaryOp op, const Expr& a, const Expr& b);
Expr unary(UnaryOp op, const Expr& a);
/// `e` itself when it has that type already; a constant is converted.
Expr cast_to(DType type, const Expr& e, Overflow overflow = Overflow::saturate);
Expr select(const Expr& cond, const Expr& a, const Expr& b);

Expr add(const Expr& a, const Expr& b);       // x + 0 = x
Expr sub(const Expr& a, const Expr& b);       // x - 0 = x
Expr mul(const Expr& a, const Expr& b);       // x * 1 = x, integer x * 0 = 0
Expr floordiv(const Expr& a, const Expr& b);  // x / 1 = x
Expr floormod(const Expr& a, const Expr& b);  // x % 1 = 0
Expr ceildiv(const Expr& a, const Expr& b);   // x / 1 = x
Expr min(const Expr& a, const Expr& b);
Expr less(const Expr& a, const Expr& b);
Expr less_equal(const Expr& a, const Expr& b);
Expr both(const Expr& a, const Expr& b);  // true and x = x; a null operand is left out
Expr load(const Ref<Buffer>& buffer, Exprs at);

/// The buffer after `change`, a function of a Buffer&.
template <class F>
Ref<Buffer> altered(const Buffer& b, F&& change) {
  auto* copy = new Buffer(b);
  Ref<Buffer> owner(copy);
  change(*copy);
  finish(copy);
  return owner;
}

/// Product of the extents, 1 for none.
Expr product(const Exprs& extents);

/// Statements as one: a single statement stays itself, nested Seqs are spliced, null statements left out.
Stmt sequence(Stmts stmts, Location at = {});

}  // namespace tilewright::ir
