#pragma once
// Arithmetic on f32 and f64, each in its own precision. Private to src/numeric.
#include <cmath>
#include <cstdint>

#include "numeric/ops.h"

namespace tilewright::floating {

/// The number when one operand is NaN; -0 lies below +0.
template <class T>
T min_number(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

template <class T>
T max_number(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// NaN when one operand is NaN.
template <class T>
T min_nan(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? a + b : min_number(a, b);
}

template <class T>
T max_nan(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? a + b : max_number(a, b);
}

/// The result of an arithmetic operator; false when `op` is not one for floats.
template <class T>
bool binary(BinaryOp op, T a, T b, T& result) {
  switch (op) {
    case BinaryOp::add:
      result = a + b;
      return true;
    case BinaryOp::sub:
      result = a - b;
      return true;
    case BinaryOp::mul:
      result = a * b;
      return true;
    case BinaryOp::div:
      result = a / b;
      return true;
    case BinaryOp::min:
      result = min_number(a, b);
      return true;
    case BinaryOp::max:
      result = max_number(a, b);
      return true;
    case BinaryOp::min_nan:
      result = min_nan(a, b);
      return true;
    case BinaryOp::max_nan:
      result = max_nan(a, b);
      return true;
    default:
      return false;
  }
}

/// IEEE comparison: all but ne are false when one operand is NaN.
template <class T>
bool compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::gt:
      return a > b;
    default:
      return a >= b;
  }
}

/// The result of a unary operator with a float result; false when `op` is not one for floats.
template <class T>
bool unary(UnaryOp op, T a, T& result) {
  switch (op) {
    case UnaryOp::neg:
      result = -a;
      return true;
    case UnaryOp::abs:
      result = std::fabs(a);
      return true;
    case UnaryOp::sqrt:
      result = std::sqrt(a);
      return true;
    case UnaryOp::rsqrt:
      result = T(1) / std::sqrt(a);
      return true;
    case UnaryOp::exp:
      result = std::exp(a);
      return true;
    case UnaryOp::exp2:
      result = std::exp2(a);
      return true;
    case UnaryOp::log:
      result = std::log(a);
      return true;
    case UnaryOp::log2:
      result = std::log2(a);
      return true;
    case UnaryOp::sin:
      result = std::sin(a);
      return true;
    case UnaryOp::cos:
      result = std::cos(a);
      return true;
    case UnaryOp::tanh:
      result = std::tanh(a);
      return true;
    case UnaryOp::erf:
      result = std::erf(a);
      return true;
    case UnaryOp::floor:
      result = std::floor(a);
      return true;
    case UnaryOp::ceil:
      result = std::ceil(a);
      return true;
    case UnaryOp::trunc:
      result = std::trunc(a);
      return true;
    case UnaryOp::round_even:
      result = std::nearbyint(a);
      return true;
    default:
      return false;
  }
}

}  // namespace tilewright::floating
