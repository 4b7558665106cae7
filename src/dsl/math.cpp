// Operators and functions: the types of mixed operands, and the nodes.
#include "tilewright/dsl/math.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/state.h"

namespace tilewright {

static_assert(overflow::saturate == Overflow::saturate && overflow::inf_nan == Overflow::inf_nan);

namespace {

using detail::Value;

std::string symbol(BinaryOp op) {
  if (op == BinaryOp::logical_and) return "&&";
  if (op == BinaryOp::logical_or) return "||";
  if (op == BinaryOp::floordiv) return "floordiv";
  std::string_view s = spelling_of(op);
  return std::string(s.empty() ? name_of(op) : s);
}

void count(int64_t n, Location at) {
  if (detail::Trace* t = detail::active()) t->count_nodes(n, at);
}

Expr finish(Value v, const ir::Expr& node, DType type, Location at) {
  count(1, at);
  v.node = detail::hold(node.get());
  v.type = type;
  return Expr(std::move(v));
}

/// The type of two operands that are not both literals.
DType common_type(const char* op, const Operand& a, const Operand& b) {
  detail::require_value(a.value, a.at), detail::require_value(b.value, b.at);
  DType x = a.value.type, y = b.value.type;
  if (a.value.literal) return y;
  if (b.value.literal) return x;
  if (x == y) return x;
  if (x.is_bool() || y.is_bool())
    detail::raise(a.at, fmt::format("{}: the operands are {} and {}: cast the bool, or compare the other with 0", op,
                                    to_string(x), to_string(y)));
  if (x.is_int() && y.is_int()) return make_int(x.is_signed_int() || y.is_signed_int(), std::max(x.bits, y.bits));
  if (x.is_int()) return y;
  if (y.is_int()) return x;
  auto holds = [](DType wide, DType t) {
    bool range = wide.exponent > t.exponent || (wide.exponent == t.exponent && wide.bias == t.bias);
    return range && wide.mantissa >= t.mantissa && (wide.has_sign || !t.has_sign);
  };
  if (holds(x, y)) return x;
  if (holds(y, x)) return y;
  return f32;
}

/// A bool literal beside a number counts as 0 or 1, as in C++.
Operand as_number(const Operand& o) {
  if (!o.value.type.is_bool()) return o;
  return Operand(detail::literal(ir::as<ir::Const>(detail::node_of(o.value))->value.as_int()), o.at);
}

Expr literal_result(const ir::Expr& node, Location at) {
  Value v;
  v.node = detail::hold(node.get());
  v.type = node->dtype;
  v.literal = true;
  return Expr(Operand(std::move(v), at));
}

bool is_division(BinaryOp op) {
  return op == BinaryOp::floordiv || op == BinaryOp::floormod || op == BinaryOp::truncdiv || op == BinaryOp::truncmod ||
         op == BinaryOp::ceildiv;
}

void refuse_zero_divisor(BinaryOp op, const char* name, const Operand& b) {
  if (is_division(op) && b.value.literal && ir::is_constant_equal(detail::node_of(b.value), 0))
    detail::raise(b.at, fmt::format("{}: the divisor is the number 0", name));
}

using Wide = __int128;

/// A host integer: an i64, or a u64 above it.
Wide exact_value(const Operand& o) {
  const Scalar& s = ir::as<ir::Const>(detail::node_of(o.value))->value;
  return s.type == u64 ? Wide{s.bits} : Wide{s.as_int()};
}

/// Two host integers are exact: a result that no 64-bit integer holds is refused. The type that holds all three.
DType exact_type(BinaryOp op, const char* name, const Operand& a, const Operand& b) {
  Wide x = exact_value(a), y = exact_value(b), result = 0;
  if (op == BinaryOp::add) result = x + y;
  if (op == BinaryOp::sub) result = x - y;
  if (op == BinaryOp::mul && __builtin_mul_overflow(x, y, &result)) result = Wide{1} << 100;
  Wide low = std::min({x, y, result}), high = std::max({x, y, result});
  if (low >= INT64_MIN && high <= INT64_MAX) return i64;
  if (low >= 0 && high <= Wide{UINT64_MAX}) return u64;
  auto number = [](const Operand& o) {
    Wide v = exact_value(o);
    return v < 0 ? fmt::format("{}", static_cast<int64_t>(v)) : fmt::format("{}", static_cast<uint64_t>(v));
  };
  detail::raise(a.at, fmt::format("{}: the numbers {} and {}, or their result, do not fit one 64-bit type", name,
                                  number(a), number(b)));
}

/// Two literals: evaluated now, and a literal again.
Expr fold_literals(BinaryOp op, const char* name, const Operand& a, const Operand& b) {
  bool bools = a.value.type.is_bool() && b.value.type.is_bool();
  Operand x = bools ? a : as_number(a), y = bools ? b : as_number(b);
  x.value.literal = y.value.literal = false;
  bool ints = x.value.type.is_int() && y.value.type.is_int();
  DType t = ints ? exact_type(op, name, x, y) : common_type(name, x, y);
  if (!is_defined(op, t)) detail::raise(a.at, fmt::format("{} is not defined on {}", name, to_string(t)));
  ir::Expr p = ir::cast_to(t, detail::node_of(x.value)), q = ir::cast_to(t, detail::node_of(y.value));
  ir::Expr result = ir::binary(op, p, q);
  int64_t value;
  if (result->dtype == u64 && ir::is_constant(result, &value) && value >= 0) result = ir::index(value);
  return literal_result(result, a.at);
}
bool both_literals(const Operand& a, const Operand& b) { return a.value.literal && b.value.literal; }

Expr binary(BinaryOp op, const Operand& a, const Operand& b, const char* name = nullptr) {
  std::string called = name ? name : symbol(op);
  detail::require_value(a.value, a.at), detail::require_value(b.value, b.at);
  refuse_zero_divisor(op, called.c_str(), b);
  if (both_literals(a, b)) return fold_literals(op, called.c_str(), a, b);
  DType nominal = common_type(called.c_str(), a, b);
  DType t = detail::compute_type(nominal);
  if (!is_defined(op, t)) {
    const char* hint = is_logical(op) ? ": write x != 0" : t.is_bool() ? ": write cast(i32, x)" : "";
    detail::raise(a.at, fmt::format("{} is not defined on {}{}", called, to_string(nominal), hint));
  }
  ir::Expr x = detail::as_type(a, t, called.c_str()), y = detail::as_type(b, t, called.c_str());
  return finish(detail::join(a.value, b.value, a.at), ir::binary(op, x, y), is_comparison(op) ? boolean : nominal,
                a.at);
}

/// `/`: floor division of ints, division of floats.
Expr divide(const Operand& a, const Operand& b) {
  detail::require_value(a.value, a.at), detail::require_value(b.value, b.at);
  auto is_float = [](const Operand& o) { return o.value.type.is_float(); };
  if (a.value.literal != b.value.literal) {
    const Operand &number = a.value.literal ? a : b, &typed = a.value.literal ? b : a;
    if (is_float(number) && !is_float(typed))
      detail::raise(a.at, fmt::format("/: a floating number with an {} operand: cast(f32, x) / y divides, "
                                      "floordiv(x, y) rounds down",
                                      to_string(typed.value.type)));
    return binary(is_float(typed) ? BinaryOp::div : BinaryOp::floordiv, a, b, "/");
  }
  return binary(is_float(a) || is_float(b) ? BinaryOp::div : BinaryOp::floordiv, a, b, "/");
}

/// The result has the type of the value; the amount keeps its meaning whatever its type.
Expr shift(BinaryOp op, const Operand& a, const Operand& amount) {
  detail::require_value(a.value, a.at), detail::require_value(amount.value, amount.at);
  std::string called = symbol(op);
  if (both_literals(a, amount)) return fold_literals(op, called.c_str(), a, amount);
  Operand x = a.value.literal ? detail::settled(a) : a;
  DType t = x.value.type, s = amount.value.type;
  if (!t.is_int() || !s.is_int())
    detail::raise(a.at, fmt::format("{} takes integers, got {} and {}", called, to_string(t), to_string(s)));
  ir::Expr y;
  if (amount.value.literal) {
    y = detail::as_type(amount, t, called.c_str());
  } else {
    y = detail::node_of(amount.value);
    if (s.bits > t.bits) {
      y = ir::binary(BinaryOp::min, y, ir::constant(Scalar::of_int(s, t.bits)));
      if (s.is_signed_int()) y = ir::binary(BinaryOp::max, y, ir::constant(Scalar::of_int(s, -1)));
    }
    y = ir::cast_to(t, y);
  }
  return finish(detail::join(x.value, amount.value, a.at), ir::binary(op, detail::node_of(x.value), y), t, a.at);
}

Expr unary(UnaryOp op, const Operand& a, const char* name) {
  detail::require_value(a.value, a.at);
  bool floats_only = !is_defined(op, i64);
  if (a.value.literal) {
    DType t = a.value.type;
    if (floats_only && t.is_int()) t = f64;
    if (is_defined(op, t)) return literal_result(ir::unary(op, ir::cast_to(t, detail::node_of(a.value))), a.at);
  }
  DType nominal = a.value.type, t = detail::compute_type(nominal);
  if (!is_defined(op, t))
    detail::raise(a.at, fmt::format("{} is not defined on {}{}", name, to_string(nominal),
                                    t.is_int() && floats_only ? fmt::format(": write {}(cast(f32, x))", name) : ""));
  ir::Expr x = detail::as_type(a, t, name);
  Value v = a.value;
  v.literal = false;
  return finish(std::move(v), ir::unary(op, x), op == UnaryOp::is_nan ? boolean : nominal, a.at);
}

}  // namespace

Expr operator+(const Operand& a, const Operand& b) { return binary(BinaryOp::add, a, b); }
Expr operator-(const Operand& a, const Operand& b) { return binary(BinaryOp::sub, a, b); }
Expr operator*(const Operand& a, const Operand& b) { return binary(BinaryOp::mul, a, b); }
Expr operator/(const Operand& a, const Operand& b) { return divide(a, b); }
Expr operator%(const Operand& a, const Operand& b) { return binary(BinaryOp::floormod, a, b); }
Expr operator<(const Operand& a, const Operand& b) { return binary(BinaryOp::lt, a, b); }
Expr operator<=(const Operand& a, const Operand& b) { return binary(BinaryOp::le, a, b); }
Expr operator>(const Operand& a, const Operand& b) { return binary(BinaryOp::gt, a, b); }
Expr operator>=(const Operand& a, const Operand& b) { return binary(BinaryOp::ge, a, b); }
Expr operator==(const Operand& a, const Operand& b) { return binary(BinaryOp::eq, a, b); }
Expr operator!=(const Operand& a, const Operand& b) { return binary(BinaryOp::ne, a, b); }
Expr operator&(const Operand& a, const Operand& b) { return binary(BinaryOp::bit_and, a, b); }
Expr operator|(const Operand& a, const Operand& b) { return binary(BinaryOp::bit_or, a, b); }
Expr operator^(const Operand& a, const Operand& b) { return binary(BinaryOp::bit_xor, a, b); }
Expr operator<<(const Operand& a, const Operand& n) { return shift(BinaryOp::shl, a, n); }
Expr operator>>(const Operand& a, const Operand& n) { return shift(BinaryOp::shr, a, n); }
Expr operator-(const Operand& a) { return unary(UnaryOp::neg, a, "-"); }
Expr operator~(const Operand& a) { return unary(UnaryOp::bit_not, a, "~"); }

Expr floordiv(const Operand& a, const Operand& b) { return binary(BinaryOp::floordiv, a, b, "floordiv"); }
Expr floormod(const Operand& a, const Operand& b) { return binary(BinaryOp::floormod, a, b, "floormod"); }
Expr truncdiv(const Operand& a, const Operand& b) { return binary(BinaryOp::truncdiv, a, b); }
Expr truncmod(const Operand& a, const Operand& b) { return binary(BinaryOp::truncmod, a, b); }
Expr ceildiv(const Operand& a, const Operand& b) { return binary(BinaryOp::ceildiv, a, b); }
Expr min(const Operand& a, const Operand& b) { return binary(BinaryOp::min, a, b); }
Expr max(const Operand& a, const Operand& b) { return binary(BinaryOp::max, a, b); }
Expr min(const Operand& a, const Operand& b, nan::Propagate) { return binary(BinaryOp::min_nan, a, b, "min"); }
Expr max(const Operand& a, const Operand& b, nan::Propagate) { return binary(BinaryOp::max_nan, a, b, "max"); }

#define TW_X(name) \
  Expr name(const Operand& a) { return unary(UnaryOp::name, a, #name); }
TW_X(abs)
TW_X(exp)
TW_X(exp2)
TW_X(log)
TW_X(log2)
TW_X(sqrt)
TW_X(rsqrt)
TW_X(sin)
TW_X(cos)
TW_X(tanh)
TW_X(erf)
TW_X(floor)
TW_X(ceil)
TW_X(trunc)
TW_X(is_nan)
#undef TW_X
Expr round(const Operand& a) { return unary(UnaryOp::round_even, a, "round"); }

Expr fma(const Operand& a, const Operand& b, const Operand& c) {
  for (const Operand* o : {&a, &b, &c}) detail::require_value(o->value, o->at);
  DType t = f32;
  bool any = false;
  for (const Operand* o : {&a, &b, &c}) {
    if (o->value.literal) continue;
    if (!o->value.type.is_float())
      detail::raise(a.at, fmt::format("fma takes floats, got {}: write cast(f32, x)", to_string(o->value.type)));
    Value v;
    v.type = t;
    v.node = o->value.node;
    t = any ? common_type("fma", Operand(v, a.at), *o) : o->value.type;
    any = true;
  }
  DType compute = detail::compute_type(t);
  ir::Expr x = detail::as_type(a, compute, "fma"), y = detail::as_type(b, compute, "fma"),
           z = detail::as_type(c, compute, "fma");
  Value uses = detail::join(a.value, b.value, a.at);
  detail::add_uses(uses, c.value, a.at);
  return finish(std::move(uses), ir::make<ir::Fma>(x, y, z), t, a.at);
}

Expr select(const Operand& cond, const Operand& a, const Operand& b) {
  for (const Operand* o : {&cond, &a, &b}) detail::require_value(o->value, o->at);
  if (!cond.value.type.is_bool())
    detail::raise(cond.at,
                  fmt::format("select: the condition is {}, not bool: write x != 0", to_string(cond.value.type)));
  bool numbers = a.value.literal && b.value.literal;
  bool mixed = numbers && a.value.type.is_float() != b.value.type.is_float();
  Operand x = a, y = b;
  if (mixed) (a.value.type.is_float() ? x : y) = detail::settled(a.value.type.is_float() ? a : b);
  if (numbers && !mixed) x = detail::settled(a);
  DType nominal = common_type("select", x, y), t = detail::compute_type(nominal);
  ir::Expr p = detail::as_type(x, t, "select"), q = detail::as_type(y, t, "select");
  Value uses = detail::join(a.value, b.value, a.at);
  detail::add_uses(uses, cond.value, a.at);
  return finish(std::move(uses), ir::select(detail::node_of(cond.value), p, q), nominal, a.at);
}

Expr cast(DType type, const Operand& x, Overflow how) {
  detail::require_value(x.value, x.at);
  if (type.lanes != 1) detail::raise(x.at, fmt::format("cast: {} is not a scalar type", to_string(type)));
  Value v = x.value;
  v.literal = false;
  return finish(std::move(v), ir::cast_to(type, detail::node_of(x.value), how), type, x.at);
}

namespace detail {

Expr logical_and(const Operand& a, const Operand& b) { return binary(BinaryOp::logical_and, a, b); }
Expr logical_or(const Operand& a, const Operand& b) { return binary(BinaryOp::logical_or, a, b); }
Value arithmetic(char op, const Operand& a, const Operand& b) {
  switch (op) {
    case '+':
      return (a + b).value();
    case '-':
      return (a - b).value();
    case '*':
      return (a * b).value();
    default:
      return (a / b).value();
  }
}

}  // namespace detail

Operand::Operand(const Truth& v, Location at) : value(v.value()), at(at) {
  detail::require_value(value, at);
  if (!value.type.is_bool())
    detail::raise(at, v.negations()
                          ? fmt::format("! is not defined on {}: write x == 0", to_string(value.type))
                          : fmt::format("&& and || are not defined on {}: write x != 0", to_string(value.type)));
  for (int i = 0; i < v.negations(); ++i) value = unary(UnaryOp::logical_not, *this, "!").value();
}

}  // namespace tilewright
