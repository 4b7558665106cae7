#include "ir/linear.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

constexpr size_t kMaxTerms = 16;

uint64_t bits_of(int64_t v) { return static_cast<uint64_t>(v); }

/// The two operands of `e` that are sums of its type too, and what they are multiplied by: the first of two by 1.
struct Parts {
  const ExprNode* part[2] = {nullptr, nullptr};
  int64_t factor[2] = {0, 0};
};

Parts parts_of(const ExprNode& e) {
  Parts p;
  if (const Unary* u = as<Unary>(&e)) {
    if (u->op == UnaryOp::neg) p = {{u->a.get()}, {-1}};
    return p;
  }
  const Binary* b = as<Binary>(&e);
  if (!b) return p;
  int64_t c;
  if (b->op == BinaryOp::add) p = {{b->a.get(), b->b.get()}, {1, 1}};
  if (b->op == BinaryOp::sub) p = {{b->a.get(), b->b.get()}, {1, -1}};
  if (b->op == BinaryOp::mul) {
    if (is_constant(b->b, &c))
      p = {{b->a.get()}, {c}};
    else if (is_constant(b->a, &c))
      p = {{b->b.get()}, {c}};
  }
  if (b->op == BinaryOp::shl && is_constant(b->b, &c) && c >= 0 && c < e.dtype.bits)
    p = {{b->a.get()}, {static_cast<int64_t>(uint64_t{1} << c)}};
  return p;
}

}  // namespace

bool same_expr(const ExprNode* a, const ExprNode* b) {
  return a == b || (a->hash == b->hash && a->kind == b->kind && equal(ref<Node>(a), ref<Node>(b)));
}

Linear add_scaled(const Linear& a, const Linear& b, int64_t factor, int bits) {
  Linear sum;
  sum.terms.reserve(a.terms.size() + b.terms.size());
  sum.terms = a.terms;
  sum.constant = wrap_signed(bits, bits_of(a.constant) + bits_of(factor) * bits_of(b.constant));
  for (const Linear::Term& t : b.terms) {
    const uint64_t added = bits_of(factor) * bits_of(t.factor);
    auto at = std::ranges::find_if(sum.terms, [&](const Linear::Term& s) { return same_expr(s.atom, t.atom); });
    if (at != sum.terms.end()) {
      at->factor = wrap_signed(bits, bits_of(at->factor) + added);
      if (at->factor == 0) sum.terms.erase(at);
    } else if (int64_t f = wrap_signed(bits, added); f != 0) {
      sum.terms.push_back({t.atom, f});
    }
  }
  return sum;
}

Expr build_sum(const Linear& sum, DType t) {
  auto number = [&](int64_t v) { return constant(Scalar::of_int(t, v)); };
  auto scaled = [&](const Linear::Term& term, int64_t factor) {
    Expr atom(term.atom);
    return factor == 1 ? atom : binary(BinaryOp::mul, atom, number(factor));
  };
  const int64_t lowest = wrap_signed(t.bits, uint64_t{1} << (t.bits - 1));
  Expr result;
  for (const auto& term : sum.terms)
    if (term.factor > 0)
      result = result ? binary(BinaryOp::add, result, scaled(term, term.factor)) : scaled(term, term.factor);
  int64_t rest = sum.constant;
  for (const auto& term : sum.terms) {
    if (term.factor > 0) continue;
    if (!result && rest != 0) result = number(std::exchange(rest, 0));
    if (!result)
      result = term.factor == -1 ? unary(UnaryOp::neg, Expr(term.atom)) : scaled(term, term.factor);
    else if (term.factor == lowest)
      result = binary(BinaryOp::add, result, scaled(term, term.factor));
    else
      result = binary(BinaryOp::sub, result, scaled(term, -term.factor));
  }
  if (!result) return number(rest);
  if (rest == 0) return result;
  if (rest < 0 && rest != lowest) return binary(BinaryOp::sub, result, number(-rest));
  return binary(BinaryOp::add, result, number(rest));
}

const Linear* LinearForms::known(const ExprNode* e) const {
  const uint32_t* i = index_.find(e);
  return i ? &forms_[*i] : nullptr;
}

const Linear& LinearForms::of(const ExprNode* root) {
  if (const Linear* f = known(root)) return *f;
  std::vector<const ExprNode*> stack{root};
  while (!stack.empty()) {
    const ExprNode* e = stack.back();
    if (known(e)) {
      stack.pop_back();
      continue;
    }
    const size_t waiting = stack.size();
    for (const ExprNode* part : parts_of(*e).part)
      if (part && !known(part)) stack.push_back(part);
    if (stack.size() != waiting) continue;
    stack.pop_back();
    forms_.push_back(compute(*e));
    index_.insert(e, static_cast<uint32_t>(forms_.size() - 1));
  }
  return *known(root);
}

Linear LinearForms::compute(const ExprNode& e) {
  if (const Const* c = as<Const>(&e)) return {{}, wrap_signed(e.dtype.bits, c->value.bits)};
  const Parts p = parts_of(e);
  if (!p.part[0]) return {{{&e, 1}}, 0};
  Linear sum = p.part[1] ? add_scaled(*known(p.part[0]), *known(p.part[1]), p.factor[1], e.dtype.bits)
                         : add_scaled({}, *known(p.part[0]), p.factor[0], e.dtype.bits);
  if (sum.terms.size() > kMaxTerms) return {{{&e, 1}}, 0};
  return sum;
}

}  // namespace tilewright::ir
