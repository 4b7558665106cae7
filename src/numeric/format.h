#pragma once
// What a format can hold, read from its bits: the ends of its range and its precision.
#include <cstdint>

#include "tilewright/dtype.h"

namespace tilewright {

/// Whether Overflow::saturate applies to the format. Formats of 8 bits and fewer saturate unless asked otherwise; wider
/// ones have infinities and overflow to them whatever is asked, as IEEE 754 says.
constexpr bool can_saturate(const DType& t) { return t.is_float() && t.bits <= 8; }

/// A format without mantissa bits (e8m0) holds powers of two only: its lowest code is a power of two, not zero.
constexpr bool has_zero(const DType& t) { return t.mantissa != 0; }

/// Bits of a code without its sign.
constexpr int magnitude_bits(const DType& t) { return t.exponent + t.mantissa; }

/// The magnitude code of the largest finite value; larger ones, if any, are infinity and NaN.
constexpr uint64_t largest_code(const DType& t) {
  const uint64_t all_ones = (uint64_t{1} << magnitude_bits(t)) - 1;
  if (t.has_infinity || t.nan == NanKind::ieee) return all_ones - (uint64_t{1} << t.mantissa);
  return t.nan == NanKind::all_ones ? all_ones - 1 : all_ones;
}

/// Exponent of the smallest normal value (which is 2^exponent).
constexpr int least_exponent(const DType& t) { return (has_zero(t) ? 1 : 0) - t.bias; }

/// The largest finite value of a float format or integer type: 65504 for f16, 448 for e4m3, 127 for i8. The double
/// nearest to it for i64 and u64.
double largest(const DType& t);

/// The most negative finite value: 0 for unsigned integers, 2^-127 for e8m0.
double lowest(const DType& t);

/// The smallest positive value of a float format, subnormal where the format has subnormals.
double smallest_positive(const DType& t);

/// The smallest positive normal value of a float format.
double smallest_normal(const DType& t);

/// u, the largest relative error of rounding to nearest: 2^-(mantissa + 1). 0 for integers and bool.
double unit_roundoff(const DType& t);

}  // namespace tilewright
