#pragma once
// Operators and functions of traced scalars.
//
// Types: int with float gives the float; two ints give the wider, signed if either is; two floats give the one that
// holds the other, f32 when neither does; a host number takes the other operand's type and must fit it. Narrow floats
// are computed in f32. Comparisons give bool; &&, ||, ! and select take bool.
#include "tilewright/dsl/value.h"

namespace tilewright {

/// What a float encode does with a value beyond the format's largest.
enum class Overflow : uint8_t;
namespace overflow {
inline constexpr Overflow saturate{0}, inf_nan{1};
}
namespace nan {
/// max(a, b, nan::propagate): NaN when either is NaN (the default rule gives the number).
struct Propagate {};
inline constexpr Propagate propagate{};
}  // namespace nan

Expr operator+(const Operand& a, const Operand& b);
Expr operator-(const Operand& a, const Operand& b);
Expr operator*(const Operand& a, const Operand& b);
Expr operator/(const Operand& a, const Operand& b);  // ints: floor division, x / 0 = 0
Expr operator%(const Operand& a, const Operand& b);  // ints: floor modulo, x % 0 = 0
Expr operator<(const Operand& a, const Operand& b);
Expr operator<=(const Operand& a, const Operand& b);
Expr operator>(const Operand& a, const Operand& b);
Expr operator>=(const Operand& a, const Operand& b);
Expr operator==(const Operand& a, const Operand& b);
Expr operator!=(const Operand& a, const Operand& b);
Expr operator&(const Operand& a, const Operand& b);
Expr operator|(const Operand& a, const Operand& b);
Expr operator^(const Operand& a, const Operand& b);
Expr operator<<(const Operand& a, const Operand& amount);  // a's type; by its width or more, or negative: 0
Expr operator>>(const Operand& a, const Operand& amount);  // signed: the sign instead of 0
Expr operator-(const Operand& a);
Expr operator~(const Operand& a);

namespace detail {
Expr logical_and(const Operand& a, const Operand& b);
Expr logical_or(const Operand& a, const Operand& b);
/// The variable's value now.
Value read(const Cell& c);
}  // namespace detail

// One exact type: with two Operands these would be ambiguous with the built-in operators and the refused conversion to
// bool. The second operand knows the line.
template <Traced A>
Expr operator&&(const A& a, const Operand& b) {
  return detail::logical_and(Operand(a, b.at), b);
}
template <Traced A>
Expr operator||(const A& a, const Operand& b) {
  return detail::logical_or(Operand(a, b.at), b);
}

namespace detail {
template <Traced A>
Truth truth(const A& a) {
  if constexpr (std::same_as<A, Truth>)
    return a;
  else if constexpr (std::same_as<A, Cell>)
    return Truth(read(a));
  else
    return Truth(a.value());
}
}  // namespace detail

template <Traced A>
Truth operator!(const A& a) {
  Truth t = detail::truth(a);
  return Truth(t.value(), t.negations() + 1);
}
template <Traced A, Arithmetic B>
Truth operator&&(const A& a, B b) {
  static_assert(std::same_as<B, bool>, "&& takes bool: write x && n != 0");
  return b ? detail::truth(a) : Truth(detail::literal(false));
}
template <Traced A, Arithmetic B>
Truth operator||(const A& a, B b) {
  static_assert(std::same_as<B, bool>, "|| takes bool: write x || n != 0");
  return b ? Truth(detail::literal(true)) : detail::truth(a);
}

template <Arithmetic A, Traced B>
Truth operator&&(A a, const B& b) {
  return b && a;
}
template <Arithmetic A, Traced B>
Truth operator||(A a, const B& b) {
  return b || a;
}

Expr floordiv(const Operand& a, const Operand& b);
Expr floormod(const Operand& a, const Operand& b);
Expr truncdiv(const Operand& a, const Operand& b);
Expr truncmod(const Operand& a, const Operand& b);
Expr ceildiv(const Operand& a, const Operand& b);

/// The same on host integers, so that tile sizes can be computed with them; x / 0 is 0 here too.
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> floordiv(A a, B b) {
  using T = std::common_type_t<A, B>;
  T x = static_cast<T>(a), y = static_cast<T>(b);
  if (y == 0) return 0;
  T q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> floormod(A a, B b) {
  using T = std::common_type_t<A, B>;
  return b == 0 ? T{0} : static_cast<T>(static_cast<T>(a) - floordiv(a, b) * static_cast<T>(b));
}
template <std::integral A, std::integral B>
constexpr std::common_type_t<A, B> ceildiv(A a, B b) {
  using T = std::common_type_t<A, B>;
  T x = static_cast<T>(a), y = static_cast<T>(b);
  if (y == 0) return 0;
  T q = x / y;
  return x % y != 0 && (x < 0) == (y < 0) ? q + 1 : q;
}

Expr min(const Operand& a, const Operand& b);
Expr max(const Operand& a, const Operand& b);
Expr min(const Operand& a, const Operand& b, nan::Propagate);
Expr max(const Operand& a, const Operand& b, nan::Propagate);
Expr abs(const Operand& a);
Expr exp(const Operand& a);
Expr exp2(const Operand& a);
Expr log(const Operand& a);
Expr log2(const Operand& a);
Expr sqrt(const Operand& a);
Expr rsqrt(const Operand& a);
Expr sin(const Operand& a);
Expr cos(const Operand& a);
Expr tanh(const Operand& a);
Expr erf(const Operand& a);
Expr floor(const Operand& a);
Expr ceil(const Operand& a);
Expr trunc(const Operand& a);
Expr round(const Operand& a);  // ties to even
Expr is_nan(const Operand& a);
/// a * b + c with one rounding; floats only.
Expr fma(const Operand& a, const Operand& b, const Operand& c);
/// cond ? a : b; the side not chosen reads no memory.
Expr select(const Operand& cond, const Operand& a, const Operand& b);
/// x as `type`: float to int truncates and saturates, int to int wraps, to bool is != 0.
Expr cast(DType type, const Operand& x, Overflow overflow = overflow::saturate);

namespace detail {
Value arithmetic(char op, const Operand& a, const Operand& b);
}

#define TW_DSL_COMPOUND(op)                                                            \
  template <int N>                                                                     \
  BasicExpr<N>& BasicExpr<N>::operator op##=(const Operand & o) {                      \
    return *this = Operand(detail::arithmetic(#op[0], Operand(*this, o.at), o), o.at); \
  }
TW_DSL_COMPOUND(+)
TW_DSL_COMPOUND(-)
TW_DSL_COMPOUND(*)
TW_DSL_COMPOUND(/)
#undef TW_DSL_COMPOUND

}  // namespace tilewright
