#pragma once
// Integer expressions as sums: factor * atom + ... + constant, modulo 2^width. Modulo 2^width every rearrangement is
// exact, so that nothing needs a proof here.
#include <deque>
#include <vector>

#include "base/pointer_map.h"
#include "ir/nodes.h"

namespace tilewright::ir {

/// A scalar integer type: the types that sums and ranges speak of.
constexpr bool is_scalar_int(DType t) { return t.is_int() && t.lanes == 1; }

/// Factors and constant are the signed representatives modulo 2^width: -1 also for an unsigned type.
struct Linear {
  struct Term {
    const ExprNode* atom;  // not a sum itself; no two atoms of a sum are equal
    int64_t factor;        // not 0
  };
  std::vector<Term> terms;  // in order of first use
  int64_t constant = 0;
};

/// `value` modulo 2^bits, as a signed number.
constexpr int64_t wrap_signed(int bits, uint64_t value) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// a + factor * b in a type of this width.
Linear add_scaled(const Linear& a, const Linear& b, int64_t factor, int bits);

/// The expression of a sum in integer type `t`; positive terms first, then negative ones, then the constant.
Expr build_sum(const Linear& sum, DType t);

/// The same expression: one node, or equal structure.
bool same_expr(const ExprNode* a, const ExprNode* b);

/// Computes and remembers the forms of expressions. The expressions must outlive it.
class LinearForms {
 public:
  /// The form of an expression of scalar integer type. Sums of more than 16 terms are atoms. The reference stays valid.
  const Linear& of(const ExprNode* e);
  /// The same when it was asked for before, or computed for a larger sum; else null.
  const Linear* known(const ExprNode* e) const;

 private:
  Linear compute(const ExprNode& e);

  PointerMap<uint32_t> index_;
  std::deque<Linear> forms_;
};

}  // namespace tilewright::ir
