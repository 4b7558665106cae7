#pragma once
// Simplification of expressions under one context. Private to simplify.
#include <string>
#include <utility>
#include <vector>

#include "base/pointer_map.h"
#include "ir/bounds.h"

namespace tilewright::ir {

class ExprSimplifier {
 public:
  explicit ExprSimplifier(const Context& context) : context_(context) {}

  Expr run(const Expr& e);
  /// To be called when facts of the context were added or released.
  void forget() { memo_ = {}; }  // clear() would pay for the largest expression ever seen
  /// From here on `v` is written as `value`, a constant or a variable.
  void replace(const Ref<Var>& v, const Expr& value) { values_.emplace_back(v->name, value); }
  /// From here on reads of `from` read `to`.
  void replace(const Ref<Buffer>& from, const Ref<Buffer>& to) { buffers_.insert(from.get(), to); }
  Ref<Buffer> current(const Ref<Buffer>& b) const;

 private:
  bool merges(const ExprNode& e) const;
  Expr rebuilt(const ExprNode& e);
  const Expr& result(const Expr& child) const { return *memo_.find(child.get()); }

  Expr constant_or(const Expr& e) const;
  Expr var(const Var& v);
  Expr unary(const Expr& e);
  Expr binary(const Expr& e);
  Expr int_binary(const Expr& e);
  Expr float_binary(const Expr& e) const;
  Expr logical(const Expr& e) const;
  Expr comparison(const Expr& e) const;
  Expr select(const Expr& e) const;
  Expr cast(const Expr& e) const;

  Expr merged_sum(const ExprNode& e);
  Expr sum(const Expr& e);
  Expr from_linear(const Linear& form, DType t, const Expr& e) const;
  Expr divide(BinaryOp op, const Expr& a, const Expr& b);
  Expr divide_by_constant(BinaryOp op, const Expr& a, const Expr& b, Wide c);
  Expr divide_sum(BinaryOp op, const Expr& a, const Expr& b, int64_t c);
  Expr divide_by_common_factor(BinaryOp op, const Linear& form, DType t, int64_t c);

  const Context& context_;
  PointerMap<Expr> memo_;
  std::vector<std::pair<std::string, Expr>> values_;
  PointerMap<Ref<Buffer>> buffers_;
};

}  // namespace tilewright::ir
