// The operators: dispatch by class of type. The arithmetic itself is in integer.h and floating.h.
#include "numeric/scalar.h"

#include "base/check.h"
#include "numeric/codec.h"
#include "numeric/floating.h"
#include "numeric/integer.h"

namespace tilewright {
namespace {

[[noreturn, gnu::cold]] void undefined(std::string_view op, DType t) {
  check_failed("is_defined(op, type)", __FILE__, __LINE__,
               "evaluate: operator '" + std::string(op) + "' is not defined on " + to_string(t));
}

[[noreturn, gnu::cold]] void mismatch(std::string_view op, DType a, DType b) {
  check_failed("a.type == b.type", __FILE__, __LINE__,
               "evaluate: operands of '" + std::string(op) + "' are " + to_string(a) + " and " + to_string(b));
}

/// Floats that operators accept: f32 and f64.
bool is_arithmetic_float(const DType& t) { return t.is_float() && t.bits >= 32; }

/// A value of the type of `a`. The copy moves the whole type at once, which costs half of writing it field by field.
Scalar with_bits(const Scalar& a, uint64_t bits) {
  Scalar result = a;
  result.bits = bits;
  return result;
}

/// A float result: every NaN becomes the one quiet NaN, so that results do not depend on operand order.
template <class T>
Scalar float_result(const Scalar& a, T value) {
  const double wide = value;
  return with_bits(a, value != value ? codec::kQuietNan : std::bit_cast<uint64_t>(wide));
}

Scalar truth(bool value) { return {boolean, value ? uint64_t{1} : 0}; }

template <class T>
Scalar evaluate_float(UnaryOp op, const Scalar& a) {
  const T x = static_cast<T>(a.as_double());
  if (op == UnaryOp::is_nan) return truth(x != x);
  T result;
  if (!floating::unary(op, x, result)) undefined(name_of(op), a.type);
  return float_result(a, result);
}

template <class T>
Scalar evaluate_float(BinaryOp op, const Scalar& a, const Scalar& b) {
  const T x = static_cast<T>(a.as_double()), y = static_cast<T>(b.as_double());
  if (is_comparison(op)) return truth(floating::compare(op, x, y));
  T result;
  if (!floating::binary(op, x, y, result)) undefined(name_of(op), a.type);
  return float_result(a, result);
}

Scalar evaluate_int(UnaryOp op, const Scalar& a) {
  switch (op) {
    case UnaryOp::neg:
      return with_bits(a, integer::wrap(a.type, 0 - a.bits));
    case UnaryOp::bit_not:
      return with_bits(a, integer::wrap(a.type, ~a.bits));
    case UnaryOp::abs: {
      const bool negative = a.type.is_signed_int() && a.as_int() < 0;
      return with_bits(a, negative ? integer::wrap(a.type, 0 - a.bits) : a.bits);
    }
    default:
      undefined(name_of(op), a.type);
  }
}

Scalar evaluate_int(BinaryOp op, const Scalar& left, const Scalar& right) {
  const DType& t = left.type;
  const bool is_signed = t.is_signed_int();
  const uint64_t a = left.bits, b = right.bits;
  const auto wrapped = [&t, &left](uint64_t value) { return with_bits(left, integer::wrap(t, value)); };
  switch (op) {
    case BinaryOp::add:
      return wrapped(a + b);
    case BinaryOp::sub:
      return wrapped(a - b);
    case BinaryOp::mul:
      return wrapped(a * b);
    case BinaryOp::floordiv:
      return wrapped(integer::floordiv(is_signed, a, b));
    case BinaryOp::floormod:
      return wrapped(integer::floormod(is_signed, a, b));
    case BinaryOp::truncdiv:
      return wrapped(integer::divide(is_signed, a, b).quotient);
    case BinaryOp::truncmod:
      return wrapped(integer::divide(is_signed, a, b).remainder);
    case BinaryOp::ceildiv:
      return wrapped(integer::ceildiv(is_signed, a, b));
    case BinaryOp::min:
    case BinaryOp::min_nan:
      return with_bits(left, integer::less(is_signed, b, a) ? b : a);
    case BinaryOp::max:
    case BinaryOp::max_nan:
      return with_bits(left, integer::less(is_signed, a, b) ? b : a);
    case BinaryOp::bit_and:
      return with_bits(left, a & b);
    case BinaryOp::bit_or:
      return with_bits(left, a | b);
    case BinaryOp::bit_xor:
      return with_bits(left, a ^ b);
    case BinaryOp::shl:
      return wrapped(integer::shl(t, a, b));
    case BinaryOp::shr:
      return with_bits(left, integer::shr(t, a, b));
    case BinaryOp::eq:
      return truth(a == b);
    case BinaryOp::ne:
      return truth(a != b);
    case BinaryOp::lt:
      return truth(integer::less(is_signed, a, b));
    case BinaryOp::le:
      return truth(!integer::less(is_signed, b, a));
    case BinaryOp::gt:
      return truth(integer::less(is_signed, b, a));
    case BinaryOp::ge:
      return truth(!integer::less(is_signed, a, b));
    case BinaryOp::div:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or:
      break;
  }
  undefined(name_of(op), t);
}

Scalar evaluate_bool(BinaryOp op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case BinaryOp::logical_and:
      return truth(a.as_bool() && b.as_bool());
    case BinaryOp::logical_or:
      return truth(a.as_bool() || b.as_bool());
    case BinaryOp::eq:
      return truth(a.as_bool() == b.as_bool());
    case BinaryOp::ne:
      return truth(a.as_bool() != b.as_bool());
    default:
      undefined(name_of(op), a.type);
  }
}

}  // namespace

bool is_defined(UnaryOp op, DType t) {
  if (t.is_bool()) return op == UnaryOp::logical_not;
  if (t.is_int()) return op == UnaryOp::neg || op == UnaryOp::bit_not || op == UnaryOp::abs;
  return is_arithmetic_float(t) && op != UnaryOp::bit_not && op != UnaryOp::logical_not;
}

bool is_defined(BinaryOp op, DType t) {
  if (t.is_bool()) return is_logical(op) || op == BinaryOp::eq || op == BinaryOp::ne;
  if (is_logical(op)) return false;
  if (t.is_int()) return op != BinaryOp::div;
  if (!is_arithmetic_float(t)) return false;
  const bool integer_only =
      (op >= BinaryOp::floordiv && op <= BinaryOp::ceildiv) || (op >= BinaryOp::bit_and && op <= BinaryOp::shr);
  return !integer_only;
}

Scalar evaluate(UnaryOp op, Scalar a) {
  if (a.type.is_int()) return evaluate_int(op, a);
  if (a.type.is_float() && a.type.bits == 32) return evaluate_float<float>(op, a);
  if (a.type.is_float() && a.type.bits == 64) return evaluate_float<double>(op, a);
  if (a.type.is_bool() && op == UnaryOp::logical_not) return truth(!a.as_bool());
  undefined(name_of(op), a.type);
}

Scalar evaluate(BinaryOp op, Scalar a, Scalar b) {
  if (a.type != b.type) mismatch(name_of(op), a.type, b.type);
  if (a.type.is_int()) return evaluate_int(op, a, b);
  if (a.type.is_bool()) return evaluate_bool(op, a, b);
  if (a.type.bits == 32) return evaluate_float<float>(op, a, b);
  if (a.type.bits == 64) return evaluate_float<double>(op, a, b);
  undefined(name_of(op), a.type);
}

Scalar fma(Scalar a, Scalar b, Scalar c) {
  if (a.type != b.type) mismatch("fma", a.type, b.type);
  if (a.type != c.type) mismatch("fma", a.type, c.type);
  if (a.type.is_int()) return with_bits(a, integer::wrap(a.type, a.bits * b.bits + c.bits));
  if (!is_arithmetic_float(a.type)) undefined("fma", a.type);
  if (a.type.bits == 64) return float_result(a, std::fma(a.as_double(), b.as_double(), c.as_double()));
  return float_result(a, std::fma(static_cast<float>(a.as_double()), static_cast<float>(b.as_double()),
                                  static_cast<float>(c.as_double())));
}

}  // namespace tilewright
