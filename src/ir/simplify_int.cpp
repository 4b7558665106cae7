// Integer sums, quotients and remainders. Every rule names what it needs; `fits` means: the sum, as mathematics, lies
// in the range of its type, so that the machine's value is the mathematical one.
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "ir/build.h"
#include "ir/simplify_expr.h"

namespace tilewright::ir {
namespace {

/// Whether `e`, of that form, is no sum, or one of more terms than a form has.
bool is_atom(const Linear& form, const ExprNode& e) { return form.terms.size() == 1 && form.terms[0].atom == &e; }

size_t size_of(const Linear& f) { return f.terms.size() + (f.constant != 0 ? 1 : 0); }

Expr number(DType t, int64_t v) { return constant(Scalar::of_int(t, v)); }

Wide floor_of(Wide a, Wide c) { return a / c - (a % c < 0 ? 1 : 0); }
Wide ceil_of(Wide a, Wide c) { return -floor_of(-a, c); }

/// The sum without the terms that are no multiple of `c`, and without its constant.
Linear multiples_of(const Linear& form, int64_t c) {
  Linear out;
  for (const auto& t : form.terms)
    if (t.factor % c == 0) out.terms.push_back(t);
  return out;
}
Linear divided(Linear form, int64_t c) {
  for (auto& t : form.terms) t.factor /= c;
  form.constant /= c;
  return form;
}

/// A quotient and a remainder of the same two operands, as terms f * (c * (x / c)) + f * (x % c): f * x instead.
/// Nothing when there are none.
std::optional<Linear> join_quotient_and_remainder(const Linear& form, const Context& context, int bits) {
  for (const auto& r : form.terms) {
    const Binary* rem = as<Binary>(r.atom);
    int64_t c;
    if (!rem || (rem->op != BinaryOp::floormod && rem->op != BinaryOp::truncmod) || !is_constant(rem->b, &c) || c == 0)
      continue;
    const BinaryOp op = rem->op == BinaryOp::floormod ? BinaryOp::floordiv : BinaryOp::truncdiv;
    const int64_t scaled = wrap_signed(bits, static_cast<uint64_t>(r.factor) * static_cast<uint64_t>(c));
    for (const auto& q : form.terms) {
      const Binary* quo = as<Binary>(q.atom);
      if (!quo || quo->op != op || q.factor != scaled || !is_constant_equal(quo->b, c) ||
          !same_expr(quo->a.get(), rem->a.get()))
        continue;
      Linear rest{{}, form.constant};
      std::ranges::copy_if(form.terms, std::back_inserter(rest.terms),
                           [&](const Linear::Term& t) { return t.atom != r.atom && t.atom != q.atom; });
      return add_scaled(rest, context.linear(rem->a), r.factor, bits);
    }
  }
  return std::nullopt;
}

/// The same, until none are left; nothing when there were none.
std::optional<Linear> join_all(const Linear& form, const Context& context, int bits) {
  std::optional<Linear> joined = join_quotient_and_remainder(form, context, bits);
  for (std::optional<Linear> next = joined; next; next = join_quotient_and_remainder(*joined, context, bits))
    joined = std::move(next);
  return joined;
}

}  // namespace

/// The expression of `form`; `e` itself when that is how it is written already.
Expr ExprSimplifier::from_linear(const Linear& form, DType t, const Expr& e) const {
  Expr built = build_sum(form, t);
  return e && same_expr(built.get(), e.get()) ? e : built;
}

/// Whether `e` is a sum of two integers that have terms in common.
bool ExprSimplifier::merges(const ExprNode& e) const {
  const Binary* b = as<Binary>(&e);
  if (!b || !is_scalar_int(e.dtype) || (b->op != BinaryOp::add && b->op != BinaryOp::sub)) return false;
  const Linear& form = context_.linear(Expr(&e));
  if (is_atom(form, e)) return false;
  return size_of(form) < size_of(context_.linear(b->a)) + size_of(context_.linear(b->b));
}

/// A sum whose terms merge, of the simplified atoms.
Expr ExprSimplifier::merged_sum(const ExprNode& e) {
  const DType t = e.dtype;
  const Linear& form = context_.linear(Expr(&e));
  Linear sum{{}, form.constant};
  for (const Linear::Term& term : form.terms)
    sum = add_scaled(sum, context_.linear(result(Expr(term.atom))), term.factor, t.bits);
  const std::optional<Linear> joined = join_all(sum, context_, t.bits);
  return from_linear(joined ? *joined : sum, t, Expr(&e));
}

/// An integer add, sub, mul, shl or neg. It is written anew when terms have merged; else it stays, with its
/// sharing. Its atoms have more than one value each, and so has the sum.
Expr ExprSimplifier::sum(const Expr& e) {
  const DType t = e->dtype;
  const Linear& form = context_.linear(e);
  if (is_atom(form, *e)) return e;
  const std::optional<Linear> joined = join_all(form, context_, t.bits);
  if (joined || size_of(form) <= 1) return from_linear(joined ? *joined : form, t, e);
  const Binary* b = as<Binary>(e);
  if (b && (b->op == BinaryOp::add || b->op == BinaryOp::sub)) {
    const size_t parts = size_of(context_.linear(b->a)) + size_of(context_.linear(b->b));
    const bool has_zero = is_constant_equal(b->a, 0) || is_constant_equal(b->b, 0);
    const bool constant_first = b->a->kind == Kind::Const && b->op == BinaryOp::add;
    if (size_of(form) < parts || has_zero || constant_first) return from_linear(form, t, e);
  }
  if (b && b->op == BinaryOp::mul && is_constant_equal(b->b, 1)) return b->a;
  if (b && b->op == BinaryOp::mul && b->a->kind == Kind::Const) return sum(make<Binary>(BinaryOp::mul, b->b, b->a));
  return e;
}

Expr ExprSimplifier::int_binary(const Expr& e) {
  const Binary& n = *as<Binary>(e);
  const DType t = e->dtype;
  switch (n.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
    case BinaryOp::shl:
      return sum(e);
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
    case BinaryOp::truncdiv:
    case BinaryOp::truncmod:
    case BinaryOp::ceildiv:
      if (Expr better = divide(n.op, n.a, n.b)) return better;
      break;
    case BinaryOp::min_nan:  // integers have no NaN
      return binary(make<Binary>(BinaryOp::min, n.a, n.b));
    case BinaryOp::max_nan:
      return binary(make<Binary>(BinaryOp::max, n.a, n.b));
    case BinaryOp::min:
    case BinaryOp::max: {
      const bool is_min = n.op == BinaryOp::min;
      const Proof p = context_.compare(BinaryOp::le, n.a, n.b);
      if (p == Proof::yes || same_expr(n.a.get(), n.b.get())) return is_min ? n.a : n.b;
      if (p == Proof::no || context_.compare(BinaryOp::ge, n.a, n.b) == Proof::yes) return is_min ? n.b : n.a;
      break;
    }
    case BinaryOp::shr:
      if (is_constant_equal(n.b, 0)) return n.a;
      break;
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
      if (same_expr(n.a.get(), n.b.get())) return n.a;
      [[fallthrough]];
    case BinaryOp::bit_xor: {
      if (n.op == BinaryOp::bit_xor && same_expr(n.a.get(), n.b.get())) return number(t, 0);
      const int64_t neutral = as<Const>(number(t, n.op == BinaryOp::bit_and ? -1 : 0))->value.as_int();
      if (is_constant_equal(n.a, neutral)) return n.b;
      if (is_constant_equal(n.b, neutral)) return n.a;
      break;
    }
    default:
      break;
  }
  return constant_or(e);
}

/// A better form of `a op b` for an operator of the division family, or null.
Expr ExprSimplifier::divide(BinaryOp op, const Expr& a, const Expr& b) {
  const DType t = a->dtype;
  const bool remainder = op == BinaryOp::floormod || op == BinaryOp::truncmod;
  if (const Const* c = as<Const>(b)) {
    const Wide value = t.is_signed_int() ? Wide{c->value.as_int()} : static_cast<Wide>(c->value.bits);
    return divide_by_constant(op, a, b, value);
  }
  if (same_expr(a.get(), b.get())) {
    if (remainder) return number(t, 0);  // 0 % 0 is 0 too
    const Range r = context_.range(a);
    if (r.lo > 0 || r.hi < 0) return number(t, 1);
  }
  // 0 <= a < b
  if (op != BinaryOp::ceildiv && context_.range(a).lo >= 0 && context_.compare(BinaryOp::lt, a, b) == Proof::yes)
    return remainder ? a : number(t, 0);
  return nullptr;
}

Expr ExprSimplifier::divide_by_constant(BinaryOp op, const Expr& a, const Expr& b, Wide c) {
  const DType t = a->dtype;
  const bool remainder = op == BinaryOp::floormod || op == BinaryOp::truncmod;
  if (c == 0) return number(t, 0);
  if (c == 1 || c == -1) {
    if (remainder) return number(t, 0);
    return c == 1 ? a : unary(make<Unary>(UnaryOp::neg, a));  // the lowest value stays itself either way
  }
  if (c < 0 || c > range_of_type(i64).hi) return nullptr;
  if (op == BinaryOp::truncdiv || op == BinaryOp::truncmod) {
    if (context_.range(a).lo < 0) return nullptr;
    const BinaryOp floor = op == BinaryOp::truncdiv ? BinaryOp::floordiv : BinaryOp::floormod;
    return binary(make<Binary>(floor, a, b));
  }
  if (const Binary* inner = as<Binary>(a); inner && inner->op == op) {
    int64_t k;
    const bool positive = is_constant(inner->b, &k) && k > 0;
    if (positive && op == BinaryOp::floormod && k % c == 0) return binary(make<Binary>(op, inner->a, b));
    // (x / k) / c = x / (k c) for floor and for ceil.
    if (positive && op != BinaryOp::floormod && k * c <= range_of_type(t).hi)
      return binary(make<Binary>(op, inner->a, number(t, static_cast<int64_t>(k * c))));
  }
  if (Expr better = divide_sum(op, a, b, static_cast<int64_t>(c))) return better;
  return nullptr;
}

/// a = c q + r: then a / c = q + r / c and a % c = r % c, where a and r fit. For a power of two the remainder needs no
/// proof: 2^width is a multiple of it.
Expr ExprSimplifier::divide_sum(BinaryOp op, const Expr& a, const Expr& b, int64_t c) {
  const DType t = a->dtype;
  const Range limits = range_of_type(t);
  const Linear& form = context_.linear(a);
  const auto whole = context_.range_before_wrap(form);
  const bool fits = whole && whole->within(limits);
  Linear q = multiples_of(form, c);
  Linear r = add_scaled(form, q, -1, t.bits);
  const bool remainder = op == BinaryOp::floormod;
  auto again = [&](const Expr& x) { return binary(make<Binary>(op, x, b)); };
  if (!fits) {
    if (!remainder || (c & (c - 1)) != 0) return nullptr;
    r.constant &= c - 1;
    if (q.terms.empty() && r.constant == form.constant) return nullptr;
    return again(from_linear(r, t, nullptr));
  }
  const auto rest = context_.range_before_wrap(r);
  if (!rest || !rest->within(limits)) return nullptr;
  // All of r has one quotient k.
  const bool up = op == BinaryOp::ceildiv;
  const Wide k = up ? ceil_of(rest->lo, c) : floor_of(rest->lo, c);
  if (k == (up ? ceil_of(rest->hi, c) : floor_of(rest->hi, c))) {
    if (remainder) {
      r.constant = wrap_signed(t.bits, static_cast<uint64_t>(r.constant) - static_cast<uint64_t>(k * c));
      return q.terms.empty() && k == 0 ? a : from_linear(r, t, a);
    }
    q = divided(q, c);
    q.constant = static_cast<int64_t>(k);
    return from_linear(q, t, nullptr);
  }
  // The part of the constant that c divides goes into q.
  const int64_t whole_part = static_cast<int64_t>(floor_of(r.constant, c));
  Linear less = r;
  less.constant = static_cast<int64_t>(r.constant - Wide{whole_part} * c);
  const auto less_range = context_.range_before_wrap(less);
  if ((!q.terms.empty() || whole_part != 0) && less_range && less_range->within(limits)) {
    const Expr rest_of = again(from_linear(less, t, nullptr));
    if (remainder) return rest_of;
    q = divided(q, c);
    q.constant = whole_part;
    return binary(make<Binary>(BinaryOp::add, from_linear(q, t, nullptr), rest_of));
  }
  return divide_by_common_factor(op, form, t, c);
}

/// g x + r with 0 <= r < g, g a divisor of c: floor((g x + r) / c) = floor(x / (c / g)); ceil likewise when r = 0. The
/// sum fits.
Expr ExprSimplifier::divide_by_common_factor(BinaryOp op, const Linear& form, DType t, int64_t c) {
  if (op == BinaryOp::floormod) return nullptr;
  for (const auto& term : form.terms) {
    if (term.factor == std::numeric_limits<int64_t>::min()) continue;
    const int64_t g = std::gcd(term.factor, c);
    if (g == 1) continue;
    Linear x = multiples_of(form, g);
    const Wide multiple = floor_of(form.constant, g) * g;
    if (multiple < range_of_type(i64).lo) continue;
    x.constant = static_cast<int64_t>(multiple);
    const Linear r = add_scaled(form, x, -1, t.bits);
    const auto range = context_.range_before_wrap(r);
    if (!range || range->lo < 0 || range->hi >= (op == BinaryOp::ceildiv ? 1 : g)) continue;
    return binary(make<Binary>(op, from_linear(divided(x, g), t, nullptr), number(t, c / g)));
  }
  return nullptr;
}

}  // namespace tilewright::ir
