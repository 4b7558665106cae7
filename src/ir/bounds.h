#pragma once
// What is known of integer values: ranges from loop extents and let values, facts from enclosing conditions, proofs.
//
// Machine integers wrap. A range or a proof speaks of the value that the machine computes; sums are rearranged as
// mathematics only where they are proved not to wrap.
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/pointer_map.h"
#include "ir/linear.h"
#include "ir/nodes.h"

namespace tilewright::ir {

/// Exact integers: every bound of every integer type, and the sums and products that bounds need.
using Wide = __int128;

/// All values from lo to hi. A bool is 0 or 1.
struct Range {
  Wide lo = 0, hi = 0;
  bool operator==(const Range&) const = default;
  bool is_single() const { return lo == hi; }
  bool within(const Range& o) const { return lo >= o.lo && hi <= o.hi; }
};

/// All values of an integer type or of bool.
Range range_of_type(DType t);

/// Where `a op b` lies when the operands, of integer type `t`, lie in the ranges. Results that may wrap, and operators
/// that are not understood, give the whole type.
Range range_of(BinaryOp op, const Range& a, const Range& b, DType t);
Range range_of(UnaryOp op, const Range& a, DType t);

/// The longest extent that a dimension of a tensor argument may have; a launch refuses longer ones.
inline constexpr int64_t kMaxExtent = int64_t{1} << 48;

enum class Proof : uint8_t { no, yes, unknown };

/// A sum of integers without wrap-around: factors and constant are exact.
struct Sum {
  struct Term {
    const ExprNode* atom;
    Wide factor;
  };
  std::vector<Term> terms;
  Wide constant = 0;
};

/// The comparison that holds when `op` does not, for integers.
BinaryOp negated(BinaryOp op);

/// What holds at a place of the program. Variables that are not bound have the whole range of their type. Expressions
/// given to a context stay alive as long as it does.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Before the first question about an expression that contains the variable.
  void bind(const Ref<Var>& v, Range range);
  /// 0 <= v < extent.
  void bind_loop(const Ref<Var>& v, const Expr& extent);
  /// The scalars of a kernel: those that are extents of parameters lie in [0, kMaxExtent].
  void bind_scalars(const Kernel& kernel);
  /// `condition` (a bool) holds from here to the next release() of an earlier mark. What it says of memory is ignored.
  void assume(const Expr& condition, bool value = true);

  /// Facts are scoped: release(mark()) forgets those assumed in between and returns whether there were any.
  size_t mark() const { return facts_.size() + known_.size(); }
  bool release(size_t mark);

  /// Where an integer or bool expression lies.
  Range range(const Expr& e) const;
  /// Whether this very condition was assumed.
  Proof known(const Expr& condition) const;
  /// Whether a bool expression is true.
  Proof prove(const Expr& condition) const;
  /// Whether `a op b` is true, for a comparison of integers of one type.
  Proof compare(BinaryOp op, const Expr& a, const Expr& b) const;
  /// The expression as a sum modulo 2^width. Valid until the context ends.
  const Linear& linear(const Expr& e) const;
  /// Where the sum lies before it wraps; nothing when that exceeds 127 bits.
  std::optional<Range> range_before_wrap(const Linear& sum) const;

 private:
  struct Fact {
    Sum sum;  // sum >= 0
    size_t serial;
  };
  struct Known {
    Expr condition;
    bool value;
    size_t serial;
  };
  struct Refined {
    std::string name;
    Range before;
    size_t serial;
  };

  void pin(const ExprNode* e) const { pinned_.emplace_back(e); }
  Range compute(const ExprNode& e) const;
  Range known_range(const Expr& e) const;
  Range var_range(const Var& v) const;

  Sum exact(const Expr& e, int depth = 4) const;
  std::optional<Wide> lower_bound(const Sum& s) const;
  bool not_negative(const Sum& s, int depth, int& budget) const;
  bool try_fact(const Sum& goal, const Sum& fact, int depth, int& budget) const;
  void axioms(const ExprNode& atom, std::vector<Sum>& out) const;
  bool proves_order(const Sum& low, const Sum& high, Wide gap) const;
  void assume_order(const Expr& low, const Expr& high, Wide gap);
  void narrow(const Var& v, Wide factor, const Sum& s, size_t serial);
  void add_fact(Sum s);
  void assume_comparison(BinaryOp op, const Expr& a, const Expr& b);
  Proof prove(const Expr& condition, int& budget) const;

  std::vector<Fact> facts_;
  std::vector<Known> known_;
  std::vector<Refined> refined_;
  std::vector<std::pair<std::string, Range>> vars_;  // sorted by name
  mutable PointerMap<Range> ranges_;
  mutable LinearForms forms_;
  mutable std::vector<Expr> pinned_;
};

}  // namespace tilewright::ir
