// Operands, host literals and the conversions between types.
#include <fmt/format.h>

#include <cfloat>
#include <cmath>

#include "dsl/state.h"

namespace tilewright {

namespace detail {

namespace {

Value literal_of(Scalar s) {
  Value v;
  ir::Expr node = ir::constant(s);
  v.node = hold(node.get());
  v.type = s.type;
  v.literal = true;
  return v;
}

std::string number(const Scalar& s) {
  if (s.type.is_bool()) return s.as_bool() ? "true" : "false";
  if (s.type.is_float()) {
    std::string t = fmt::format("{}", s.as_double());
    return t.find_first_of(".ein") == std::string::npos ? t + ".0" : t;
  }
  return s.type == u64 ? fmt::format("{}", s.bits) : fmt::format("{}", s.as_int());
}

/// Whether the host number means the same in `t`: integers exactly, floats up to rounding.
bool fits(const Scalar& s, DType t) {
  double d = s.type.is_float() ? s.as_double() : s.to_double();
  if (t.is_bool()) return s.type.is_bool() || (!s.type.is_float() && s.bits <= 1);
  if (s.type.is_bool()) return false;
  if (t.is_int()) {
    if (s.type.is_float()) {
      double low = t.is_signed_int() ? -std::ldexp(1.0, t.bits - 1) : 0.0;
      double high = std::ldexp(1.0, t.is_signed_int() ? t.bits - 1 : t.bits);
      return d == std::floor(d) && d >= low && d < high;
    }
    if (s.type == u64 && s.as_int() < 0) return t == u64;
    int64_t v = s.as_int();
    if (t == i64) return true;
    if (t == u64) return v >= 0;
    int64_t low = t.is_signed_int() ? -(int64_t{1} << (t.bits - 1)) : 0;
    int64_t high = t.is_signed_int() ? (int64_t{1} << (t.bits - 1)) - 1 : (int64_t{1} << t.bits) - 1;
    return v >= low && v <= high;
  }
  if (std::isnan(d)) return t.nan != NanKind::none;
  if (std::isinf(d)) return t.has_infinity && (d > 0 || t.has_sign);
  if (!t.has_sign && d < 0) return false;
  if (t == e8m0 && d == 0) return false;
  if (t == f64) return true;
  if (t.bits >= 32) return std::isfinite(static_cast<float>(d));
  if (t.has_infinity) return std::isfinite(cast(Scalar::of_float(f64, d), t, Overflow::inf_nan).as_double());
  double largest = std::fabs(cast(Scalar::of_float(f64, DBL_MAX), t, Overflow::saturate).as_double());
  return std::fabs(d) <= largest;
}

/// Floats are converted with infinities kept; fits() has refused what would overflow.
Scalar convert(const Scalar& s, DType t) {
  if (t.is_float()) return cast(Scalar::of_float(f64, s.to_double()), t, Overflow::inf_nan);
  return cast(s, t);
}

}  // namespace

Value literal(bool v) { return literal_of(Scalar::of_int(boolean, v)); }
Value literal(int64_t v) { return literal_of(Scalar::of_int(i64, v)); }
Value literal(uint64_t v) {
  return literal_of(Scalar::of_int(v > static_cast<uint64_t>(INT64_MAX) ? u64 : i64, static_cast<int64_t>(v)));
}
Value literal(double v) { return literal_of(Scalar::of_float(f64, v)); }

ir::Expr as_type(const Operand& o, DType t, const char* what) {
  require_value(o.value, o.at);
  ir::Expr node = node_of(o.value);
  if (!o.value.literal) return ir::cast_to(t, node);
  const Scalar& s = ir::as<ir::Const>(node)->value;
  if (!fits(s, t)) {
    if (s.type.is_float() && t.is_int() && std::isfinite(s.as_double()) && s.as_double() != std::floor(s.as_double()))
      raise(o.at, fmt::format("{}: the number {} does not fit {}: cast the other operand to a float first", what,
                              number(s), to_string(t)));
    raise(o.at, fmt::format("{}: the number {} does not fit {}", what, number(s), to_string(t)));
  }
  return ir::constant(convert(s, t));
}

Operand settled(const Operand& o) {
  if (!o.value.literal) return o;
  DType t = o.value.type.is_float() ? f32 : o.value.type;
  Value v = o.value;
  ir::Expr node = as_type(o, t, "a number");
  v.node = hold(node.get());
  v.type = t;
  v.literal = false;
  return Operand(std::move(v), o.at);
}

ir::Expr stored_as(const Operand& o, DType t, const char* what, const std::string& where) {
  require_value(o.value, o.at);
  if (o.value.literal) {
    const Scalar& s = ir::as<ir::Const>(node_of(o.value))->value;
    if (!fits(s, t))
      raise(o.at, fmt::format("{}: the number {} does not fit {}, which is {}", what, number(s), where, to_string(t)));
    return ir::constant(convert(s, t));
  }
  DType from = o.value.type;
  if (from.is_float() && !t.is_float())
    raise(o.at, fmt::format("{}: the value is {} but {} is {}: write cast({}, x)", what, to_string(from), where,
                            to_string(t), to_string(t)));
  if (from.is_bool() != t.is_bool())
    raise(o.at, fmt::format("{}: the value is {} but {} is {}: write {}", what, to_string(from), where, to_string(t),
                            t.is_bool() ? "x != 0" : fmt::format("cast({}, x)", to_string(t))));
  return ir::cast_to(t, node_of(o.value));
}

ir::Expr as_index(const Operand& o, const char* what) {
  require_value(o.value, o.at);
  if (!o.value.type.is_int()) {
    std::string got = o.value.literal ? number(ir::as<ir::Const>(node_of(o.value))->value) : "a value";
    raise(o.at, fmt::format("{} must be an integer, got {} ({})", what, got, to_string(o.value.type)));
  }
  return o.value.literal ? as_type(o, i64, what) : ir::cast_to(i64, node_of(o.value));
}

}  // namespace detail

Operand::Operand(const Expr& e, Location at) : value(e.value()), at(at) {}
Operand::Operand(const Var& v, Location at) : value(v.value()), at(at) {}
Operand::Operand(const Let& v, Location at) : value(v.value()), at(at) {}

Operand::Operand(const Element& e, Location at) : value(e.value()), at(at) {
  detail::Trace* t = detail::active();
  if (!t || t->id != value.trace) return;  // the statement that uses it says so
  const auto* load = ir::as<ir::Load>(detail::node_of(value));
  detail::check_read(*t, t->storage_of.at(load->buffer.get()), at, "this");
}

}  // namespace tilewright
