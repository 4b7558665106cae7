// Bindings, facts and proofs of a context. An order a <= b is a sum b - a >= 0; a proof subtracts multiples of known
// sums from it until interval arithmetic shows the rest not negative.
#include <algorithm>

#include "base/check.h"
#include "ir/bounds.h"
#include "ir/build.h"
#include "ir/walk.h"

namespace tilewright::ir {
namespace {

constexpr size_t kMaxFacts = 96, kMaxTerms = 12;
constexpr int kProofDepth = 4, kProofBudget = 400, kConditionSteps = 100;

/// into += scale * s; false when a number leaves 127 bits.
bool add_to(Sum& into, const Sum& s, Wide scale) {
  Wide c;
  if (__builtin_mul_overflow(s.constant, scale, &c) || __builtin_add_overflow(into.constant, c, &into.constant))
    return false;
  for (const Sum::Term& t : s.terms) {
    if (__builtin_mul_overflow(t.factor, scale, &c)) return false;
    auto at = std::ranges::find_if(into.terms, [&](const Sum::Term& o) { return same_expr(o.atom, t.atom); });
    if (at == into.terms.end()) {
      into.terms.push_back({t.atom, c});
    } else {
      if (__builtin_add_overflow(at->factor, c, &at->factor)) return false;
      if (at->factor == 0) into.terms.erase(at);
    }
  }
  return true;
}

/// The quotient rounded down; c > 0.
Wide floor_of(Wide a, Wide c) { return a / c - (a % c < 0 ? 1 : 0); }

Proof opposite(Proof p) { return p == Proof::yes ? Proof::no : p == Proof::no ? Proof::yes : Proof::unknown; }

}  // namespace

BinaryOp negated(BinaryOp op) {
  switch (op) {
    case BinaryOp::eq:
      return BinaryOp::ne;
    case BinaryOp::ne:
      return BinaryOp::eq;
    case BinaryOp::lt:
      return BinaryOp::ge;
    case BinaryOp::le:
      return BinaryOp::gt;
    case BinaryOp::gt:
      return BinaryOp::le;
    default:
      return BinaryOp::lt;
  }
}

// ---- bindings

Range Context::var_range(const Var& v) const {
  auto at = std::ranges::lower_bound(vars_, v.name, {}, &std::pair<std::string, Range>::first);
  return at != vars_.end() && at->first == v.name ? at->second : range_of_type(v.type);
}

void Context::bind(const Ref<Var>& v, Range range) {
  if (!range.within(range_of_type(v->type))) range = range_of_type(v->type);
  auto at = std::ranges::lower_bound(vars_, v->name, {}, &std::pair<std::string, Range>::first);
  if (at != vars_.end() && at->first == v->name)
    at->second = range;
  else
    vars_.insert(at, {v->name, range});
}

void Context::bind_loop(const Ref<Var>& v, const Expr& extent) {
  const Wide most = range(extent).hi - 1;
  bind(v, {0, std::max<Wide>(most, 0)});  // a loop without iterations has no values; its body may be taken as any
  // The variable counts in its own type: a longer extent would wrap it.
  if (most <= range_of_type(v->type).hi && !reads_memory(extent)) assume_order(v, extent, 1);
}

void Context::bind_scalars(const Kernel& kernel) {
  for (const auto& v : kernel.scalars) {
    bool is_extent = false;
    for (const auto& b : kernel.params)
      for (const Expr& e : b->shape) is_extent |= as<Var>(e) && as<Var>(e)->name == v->name;
    if (!is_scalar_int(v->type)) continue;
    Range r = range_of_type(v->type);
    if (is_extent) r = {0, std::min<Wide>(r.hi, kMaxExtent)};
    bind(v, r);
  }
}

// ---- facts

/// What s >= 0, where `v` stands with this factor, says of the range of v: factor * v >= -(the most that the rest can
/// be).
void Context::narrow(const Var& v, Wide factor, const Sum& s, size_t serial) {
  Sum less;  // -(s - factor * v)
  if (!add_to(less, s, -1)) return;
  std::erase_if(less.terms, [&](const Sum::Term& t) { return as<Var>(t.atom) && as<Var>(t.atom)->name == v.name; });
  const std::optional<Wide> least = lower_bound(less);
  Wide most;  // of the rest
  if (!least || __builtin_sub_overflow(Wide{0}, *least, &most)) return;
  const Range old = var_range(v);
  Range now = old;
  if (factor > 0)
    now.lo = std::max(now.lo, -floor_of(most, factor));
  else
    now.hi = std::min(now.hi, floor_of(most, -factor));
  if (now == old || now.lo > now.hi) return;
  refined_.push_back({v.name, old, serial});
  bind(Ref<Var>(&v), now);
  ranges_ = {};
}

void Context::add_fact(Sum s) {
  if (facts_.size() >= kMaxFacts || s.terms.empty() || s.terms.size() > kMaxTerms) return;
  const size_t serial = mark();
  for (const Sum::Term& t : s.terms)
    if (t.atom->kind == Kind::Var) narrow(*as<Var>(t.atom), t.factor, s, serial);
  facts_.push_back({std::move(s), serial});
}

/// low + gap <= high.
void Context::assume_order(const Expr& low, const Expr& high, Wide gap) {
  Sum s = exact(high);
  if (!add_to(s, exact(low), -1) || __builtin_sub_overflow(s.constant, gap, &s.constant)) return;
  add_fact(std::move(s));
}

void Context::assume(const Expr& root, bool of_root) {
  std::vector<std::pair<Expr, bool>> todo{{root, of_root}};
  for (int steps = 0; !todo.empty() && steps < kConditionSteps; ++steps) {
    auto [condition, value] = todo.back();
    todo.pop_back();
    const Unary* n = as<Unary>(condition);
    const Binary* b = as<Binary>(condition);
    if (n && n->op == UnaryOp::logical_not) {
      todo.emplace_back(n->a, !value);
    } else if (b && b->op == (value ? BinaryOp::logical_and : BinaryOp::logical_or)) {
      todo.emplace_back(b->b, value);
      todo.emplace_back(b->a, value);
    } else if (condition->kind != Kind::Const && !reads_memory(condition)) {
      known_.push_back({condition, value, mark()});
      if (b && is_comparison(b->op) && is_scalar_int(b->a->dtype))
        assume_comparison(value ? b->op : negated(b->op), b->a, b->b);
    }
  }
}

void Context::assume_comparison(BinaryOp op, const Expr& a, const Expr& b) {
  switch (op) {
    case BinaryOp::lt:
      return assume_order(a, b, 1);
    case BinaryOp::gt:
      return assume_order(b, a, 1);
    case BinaryOp::le:
      return assume_order(a, b, 0);
    case BinaryOp::ge:
      return assume_order(b, a, 0);
    case BinaryOp::eq:
      assume_order(a, b, 0);
      return assume_order(b, a, 0);
    default:
      return;
  }
}

bool Context::release(size_t mark) {
  bool any = false;
  auto drop = [&](auto& list) {
    while (!list.empty() && list.back().serial >= mark) {
      list.pop_back();
      any = true;
    }
  };
  while (!refined_.empty() && refined_.back().serial >= mark) {
    auto at = std::ranges::lower_bound(vars_, refined_.back().name, {}, &std::pair<std::string, Range>::first);
    TW_CHECK(at != vars_.end() && at->first == refined_.back().name, "a refined variable is not bound");
    at->second = refined_.back().before;
    refined_.pop_back();
    ranges_ = {};
  }
  drop(facts_);
  drop(known_);
  return any;
}

// ---- proofs

/// The value of `e` as a sum. A part that may wrap, and a part nested deeper than `depth`, is an atom.
Sum Context::exact(const Expr& e, int depth) const {
  Sum s;
  const Linear& form = linear(e);
  auto before = range_before_wrap(form);
  if (!before || !before->within(range_of_type(e->dtype))) {
    if (const Const* c = as<Const>(e))
      s.constant = e->dtype.is_signed_int() ? Wide{c->value.as_int()} : static_cast<Wide>(c->value.bits);
    else
      s.terms.push_back({e.get(), 1});
    return s;
  }
  s.constant = form.constant;
  for (const Linear::Term& t : form.terms) {
    // A conversion that keeps the value is looked through.
    const Cast* c = as<Cast>(t.atom);
    Sum part{{{t.atom, 1}}, 0};
    if (depth > 0 && c && is_scalar_int(c->a->dtype) && range(c->a).within(range_of_type(c->type)))
      part = exact(c->a, depth - 1);
    if (!add_to(s, part, t.factor)) return {{{e.get(), 1}}, 0};
  }
  return s;
}

std::optional<Wide> Context::lower_bound(const Sum& s) const {
  Wide total = s.constant;
  for (const Sum::Term& t : s.terms) {
    const Range r = range(Expr(t.atom));
    Wide x;
    if (__builtin_mul_overflow(t.factor > 0 ? r.lo : r.hi, t.factor, &x) || __builtin_add_overflow(total, x, &total))
      return std::nullopt;
  }
  return total;
}

/// Sums that are never negative, by what the atom is.
void Context::axioms(const ExprNode& atom, std::vector<Sum>& out) const {
  const Binary* b = as<Binary>(&atom);
  if (!b || !is_scalar_int(b->dtype)) return;
  const Sum self{{{&atom, 1}}, 0};
  auto add = [&](const Sum& a, Wide fa, const Sum& b, Wide fb, Wide constant) {
    Sum s;
    if (add_to(s, a, fa) && add_to(s, b, fb) && !__builtin_add_overflow(s.constant, constant, &s.constant))
      out.push_back(std::move(s));
  };
  int64_t c;
  if ((b->op == BinaryOp::floordiv || b->op == BinaryOp::ceildiv) && is_constant(b->b, &c) && c > 1) {
    const Sum x = exact(b->a, 1);
    const bool floor = b->op == BinaryOp::floordiv;
    add(x, floor ? 1 : -1, self, floor ? -c : c, 0);            // q c <= x      or  q c >= x
    add(x, floor ? -1 : 1, self, floor ? c : -c, Wide{c} - 1);  // q c >= x-c+1  or  q c <= x+c-1
  } else if (b->op == BinaryOp::min || b->op == BinaryOp::max) {
    const Wide sign = b->op == BinaryOp::min ? 1 : -1;
    add(exact(b->a, 1), sign, self, -sign, 0);
    add(exact(b->b, 1), sign, self, -sign, 0);
  }
}

bool Context::try_fact(const Sum& goal, const Sum& fact, int depth, int& budget) const {
  for (const Sum::Term& t : goal.terms)
    for (const Sum::Term& f : fact.terms) {
      if ((t.factor > 0) != (f.factor > 0) || t.factor % f.factor != 0 || !same_expr(t.atom, f.atom)) continue;
      Sum rest = goal;
      if (add_to(rest, fact, -(t.factor / f.factor)) && rest.terms.size() <= kMaxTerms &&
          not_negative(rest, depth - 1, budget))
        return true;
    }
  return false;
}

bool Context::not_negative(const Sum& s, int depth, int& budget) const {
  if (--budget < 0) return false;
  if (auto low = lower_bound(s); low && *low >= 0) return true;
  if (depth == 0 || s.terms.empty()) return false;
  for (auto f = facts_.rbegin(); f != facts_.rend(); ++f)
    if (try_fact(s, f->sum, depth, budget)) return true;
  std::vector<Sum> rules;
  for (const Sum::Term& t : s.terms) axioms(*t.atom, rules);
  for (const Sum& r : rules)
    if (try_fact(s, r, depth, budget)) return true;
  return false;
}

/// Whether low + gap <= high.
bool Context::proves_order(const Sum& low, const Sum& high, Wide gap) const {
  Sum s = high;
  if (!add_to(s, low, -1) || __builtin_sub_overflow(s.constant, gap, &s.constant)) return false;
  int budget = kProofBudget;
  return not_negative(s, kProofDepth, budget);
}

Proof Context::compare(BinaryOp op, const Expr& a, const Expr& b) const {
  const Range quick = range_of(op, range(a), range(b), boolean);
  if (quick.is_single()) return quick.lo == 1 ? Proof::yes : Proof::no;
  if (op == BinaryOp::eq || op == BinaryOp::ne) {
    const Proof same = op == BinaryOp::eq ? Proof::yes : Proof::no;
    const Linear difference = add_scaled(linear(a), linear(b), -1, a->dtype.bits);
    if (difference.terms.empty()) return difference.constant == 0 ? same : opposite(same);
    const Sum x = exact(a), y = exact(b);
    if (proves_order(x, y, 1) || proves_order(y, x, 1)) return opposite(same);
    return proves_order(x, y, 0) && proves_order(y, x, 0) ? same : Proof::unknown;
  }
  const Sum x = exact(a), y = exact(b);
  const bool swapped = op == BinaryOp::gt || op == BinaryOp::ge;
  const Wide gap = op == BinaryOp::lt || op == BinaryOp::gt ? 1 : 0;
  const Sum &low = swapped ? y : x, &high = swapped ? x : y;
  if (proves_order(low, high, gap)) return Proof::yes;
  return proves_order(high, low, 1 - gap) ? Proof::no : Proof::unknown;
}

Proof Context::prove(const Expr& condition) const {
  pin(condition.get());
  int budget = kConditionSteps;
  return prove(condition, budget);
}

Proof Context::known(const Expr& condition) const {
  for (const Known& k : known_)
    if (same_expr(k.condition.get(), condition.get())) return k.value ? Proof::yes : Proof::no;
  return Proof::unknown;
}

Proof Context::prove(const Expr& e, int& budget) const {
  if (const Const* c = as<Const>(e)) return c->value.as_bool() ? Proof::yes : Proof::no;
  if (Proof p = known(e); p != Proof::unknown) return p;
  if (--budget < 0) return Proof::unknown;
  if (const Unary* u = as<Unary>(e))
    return u->op == UnaryOp::logical_not ? opposite(prove(u->a, budget)) : Proof::unknown;
  const Binary* b = as<Binary>(e);
  if (!b) return Proof::unknown;
  if (is_logical(b->op)) {
    const Proof decisive = b->op == BinaryOp::logical_and ? Proof::no : Proof::yes;
    const Proof x = prove(b->a, budget), y = prove(b->b, budget);
    if (x == decisive || y == decisive) return decisive;
    return x == opposite(decisive) && y == opposite(decisive) ? x : Proof::unknown;
  }
  if (is_comparison(b->op) && is_scalar_int(b->a->dtype)) return compare(b->op, b->a, b->b);
  return Proof::unknown;
}

}  // namespace tilewright::ir
