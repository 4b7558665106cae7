// Interval arithmetic on machine integers, and the ranges of expressions.
#include "ir/bounds.h"

#include <algorithm>
#include <initializer_list>

#include "ir/build.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

constexpr Range kBool{0, 1};

Wide value_of(const Scalar& s) {
  if (s.type.is_signed_int()) return s.as_int();
  return static_cast<Wide>(s.bits);
}

Range fit(const Range& r, DType t) { return r.within(range_of_type(t)) ? r : range_of_type(t); }
Range hull(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

/// The quotient rounded as the operator says; b is not 0.
Wide divide(BinaryOp op, Wide a, Wide b) {
  const Wide q = a / b, r = a % b;
  if (r == 0 || op == BinaryOp::truncdiv) return q;
  const bool negative = (r < 0) != (b < 0);
  if (op == BinaryOp::floordiv) return negative ? q - 1 : q;
  return negative ? q : q + 1;
}

Range divide(BinaryOp op, const Range& a, const Range& b, DType t) {
  // Quotients are monotone in a, and in b on each side of 0.
  std::optional<Range> result;
  auto add = [&](Wide lo, Wide hi) {
    for (Wide d : {lo, hi})
      for (Wide n : {a.lo, a.hi}) {
        const Wide q = divide(op, n, d);
        result = result ? hull(*result, {q, q}) : Range{q, q};
      }
  };
  if (b.hi > 0) add(std::max<Wide>(b.lo, 1), b.hi);
  if (b.lo < 0) add(b.lo, std::min<Wide>(b.hi, -1));
  if (b.lo <= 0 && b.hi >= 0) result = result ? hull(*result, {0, 0}) : Range{0, 0};
  return fit(*result, t);
}

Range modulo(const Range& a, const Range& b) {
  Range r{b.lo < 0 ? b.lo + 1 : 0, b.hi > 0 ? b.hi - 1 : 0};
  // With b > 0 a value of [0, b) stays itself, and no value of a >= 0 grows.
  if (b.lo > 0 && a.lo >= 0) {
    if (a.hi < b.lo) return a;
    r.hi = std::min(r.hi, a.hi);
  }
  return r;
}

Range truncated_modulo(const Range& a, const Range& b) {
  const Wide most = std::max({b.hi, -b.lo, Wide{1}}) - 1;  // |result| <= most and <= |a|
  return {a.lo >= 0 ? 0 : std::max(-most, a.lo), a.hi <= 0 ? 0 : std::min(most, a.hi)};
}

/// 2^k - 1 for the least k that covers `v`.
Wide mask_over(Wide v) {
  Wide m = 0;
  while (m < v) m = m * 2 + 1;
  return m;
}

Range shift(BinaryOp op, const Range& a, const Range& by, DType t) {
  if (op == BinaryOp::shr) {
    if (by.is_single() && by.lo >= 0 && by.lo < t.bits)
      return {a.lo >> static_cast<int>(by.lo), a.hi >> static_cast<int>(by.lo)};
    // Any shift moves towards 0, or -1 below it.
    return {std::min<Wide>(a.lo, 0), a.hi < 0 ? -1 : a.hi};
  }
  if (by.is_single() && by.lo >= 0 && by.lo < t.bits) {
    const Wide scale = Wide{1} << static_cast<int>(by.lo);
    Wide lo, hi;
    if (!__builtin_mul_overflow(a.lo, scale, &lo) && !__builtin_mul_overflow(a.hi, scale, &hi)) return fit({lo, hi}, t);
  }
  return range_of_type(t);
}

Range bitwise(BinaryOp op, const Range& a, const Range& b, DType t) {
  if (op == BinaryOp::bit_and) {
    if (a.lo >= 0 && b.lo >= 0) return {0, std::min(a.hi, b.hi)};
    if (a.lo >= 0) return {0, a.hi};
    if (b.lo >= 0) return {0, b.hi};
    return range_of_type(t);
  }
  if (a.lo < 0 || b.lo < 0) return range_of_type(t);
  return {op == BinaryOp::bit_or ? std::max(a.lo, b.lo) : 0, mask_over(std::max(a.hi, b.hi))};
}

Range compare(BinaryOp op, const Range& a, const Range& b) {
  const Range no{0, 0}, yes{1, 1};
  switch (op) {
    case BinaryOp::eq:
      if (a.hi < b.lo || b.hi < a.lo) return no;
      return a.is_single() && a == b ? yes : kBool;
    case BinaryOp::ne:
      if (a.hi < b.lo || b.hi < a.lo) return yes;
      return a.is_single() && a == b ? no : kBool;
    case BinaryOp::lt:
      return a.hi < b.lo ? yes : a.lo >= b.hi ? no : kBool;
    case BinaryOp::le:
      return a.hi <= b.lo ? yes : a.lo > b.hi ? no : kBool;
    case BinaryOp::gt:
      return compare(BinaryOp::lt, b, a);
    default:
      return compare(BinaryOp::le, b, a);
  }
}

bool has_range(DType t) { return t.lanes == 1 && (t.is_int() || t.is_bool()); }

}  // namespace

Range range_of_type(DType t) {
  if (t.is_bool()) return kBool;
  if (t.is_signed_int()) return {-(Wide{1} << (t.bits - 1)), (Wide{1} << (t.bits - 1)) - 1};
  return {0, (Wide{1} << t.bits) - 1};
}

Range range_of(BinaryOp op, const Range& a, const Range& b, DType t) {
  switch (op) {
    case BinaryOp::add:
      return fit({a.lo + b.lo, a.hi + b.hi}, t);
    case BinaryOp::sub:
      return fit({a.lo - b.hi, a.hi - b.lo}, t);
    case BinaryOp::mul: {
      Range r{};
      bool first = true;
      for (Wide x : {a.lo, a.hi})
        for (Wide y : {b.lo, b.hi}) {
          Wide p;
          if (__builtin_mul_overflow(x, y, &p)) return range_of_type(t);
          r = first ? Range{p, p} : hull(r, {p, p});
          first = false;
        }
      return fit(r, t);
    }
    case BinaryOp::floordiv:
    case BinaryOp::truncdiv:
    case BinaryOp::ceildiv:
      return divide(op, a, b, t);
    case BinaryOp::floormod:
      return modulo(a, b);
    case BinaryOp::truncmod:
      return truncated_modulo(a, b);
    case BinaryOp::min:
    case BinaryOp::min_nan:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case BinaryOp::max:
    case BinaryOp::max_nan:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return bitwise(op, a, b, t);
    case BinaryOp::shl:
    case BinaryOp::shr:
      return shift(op, a, b, t);
    case BinaryOp::logical_and:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case BinaryOp::logical_or:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case BinaryOp::div:
      return range_of_type(t);
    default:
      return compare(op, a, b);
  }
}

Range range_of(UnaryOp op, const Range& a, DType t) {
  switch (op) {
    case UnaryOp::neg:
      return fit({-a.hi, -a.lo}, t);
    case UnaryOp::abs:
      return fit(a.lo >= 0 ? a : a.hi <= 0 ? Range{-a.hi, -a.lo} : Range{0, std::max(-a.lo, a.hi)}, t);
    case UnaryOp::bit_not:
      if (t.is_signed_int()) return {-a.hi - 1, -a.lo - 1};
      return {range_of_type(t).hi - a.hi, range_of_type(t).hi - a.lo};
    case UnaryOp::logical_not:
      return {1 - a.hi, 1 - a.lo};
    default:
      return range_of_type(t);
  }
}

Range Context::known_range(const Expr& e) const {
  const Range* r = ranges_.find(e.get());
  return r ? *r : range_of_type(e->dtype);
}

Range Context::range(const Expr& root) const {
  if (!has_range(root->dtype)) return {};
  if (const Range* r = ranges_.find(root.get())) return *r;
  struct Frame {
    const ExprNode* e;
    bool entered = false;
  };
  std::vector<Frame> stack{{root.get()}};
  std::vector<const Node*> children;
  pin(root.get());
  while (!stack.empty()) {
    const ExprNode* e = stack.back().e;
    if (stack.back().entered) {
      stack.pop_back();
      ranges_.insert(e, compute(*e));
    } else if (ranges_.find(e)) {
      stack.pop_back();
    } else {
      stack.back().entered = true;
      children.clear();
      if (e->kind != Kind::Load) append_children(*e, children);
      for (const Node* child : children) {
        const auto* c = static_cast<const ExprNode*>(child);
        if (has_range(c->dtype)) stack.push_back({c});
      }
    }
  }
  return *ranges_.find(root.get());
}

/// The children's ranges are known.
Range Context::compute(const ExprNode& e) const {
  const DType t = e.dtype;
  Range r = range_of_type(t);
  if (const Const* c = as<Const>(&e)) {
    const Wide v = value_of(c->value);
    return {v, v};
  }
  if (const Var* v = as<Var>(&e)) return var_range(*v);
  if (const Unary* u = as<Unary>(&e)) {
    if (has_range(u->a->dtype)) r = range_of(u->op, known_range(u->a), t);
  } else if (const Binary* b = as<Binary>(&e)) {
    if (has_range(b->a->dtype)) r = range_of(b->op, known_range(b->a), known_range(b->b), t);
  } else if (const Select* s = as<Select>(&e)) {
    const Range cond = known_range(s->cond);
    if (cond.is_single()) return known_range(cond.lo == 1 ? s->a : s->b);
    r = hull(known_range(s->a), known_range(s->b));
  } else if (const Cast* c = as<Cast>(&e)) {
    if (!has_range(c->a->dtype)) return r;
    const Range from = known_range(c->a);
    if (t.is_bool()) return from.lo > 0 || from.hi < 0 ? Range{1, 1} : from == Range{0, 0} ? from : kBool;
    return fit(from, t);
  }
  // Terms that cancel make the range of a sum narrower than that of its parts.
  const bool is_sum = (as<Binary>(&e) && as<Binary>(&e)->op <= BinaryOp::mul) || as<Unary>(&e);
  if (is_sum && is_scalar_int(t)) {
    const Linear& form = forms_.of(&e);
    if (form.terms.size() == 1 && form.terms[0].atom == &e) return r;
    if (auto before = range_before_wrap(form); before && before->within(range_of_type(t)))
      r = {std::max(r.lo, before->lo), std::min(r.hi, before->hi)};
  }
  return r;
}

std::optional<Range> Context::range_before_wrap(const Linear& sum) const {
  Range total{sum.constant, sum.constant};
  for (const auto& t : sum.terms) {
    const Range* known = ranges_.find(t.atom);
    const Range r = known ? *known : range(Expr(t.atom));
    Wide x, y;
    if (__builtin_mul_overflow(r.lo, static_cast<Wide>(t.factor), &x) ||
        __builtin_mul_overflow(r.hi, static_cast<Wide>(t.factor), &y) ||
        __builtin_add_overflow(total.lo, std::min(x, y), &total.lo) ||
        __builtin_add_overflow(total.hi, std::max(x, y), &total.hi))
      return std::nullopt;
  }
  return total;
}

const Linear& Context::linear(const Expr& e) const {
  if (const Linear* known = forms_.known(e.get())) return *known;
  pin(e.get());
  return forms_.of(e.get());
}

}  // namespace tilewright::ir
