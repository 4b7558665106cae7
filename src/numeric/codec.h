#pragma once
// Encoding and decoding of any float format, from the bits of a double to a code and back. Inlined so that a caller
// that passes a constant format gets code for that format alone; private to src/numeric.
#include <bit>
#include <cstdint>

#include "numeric/format.h"
#include "numeric/ops.h"

namespace tilewright::codec {

inline constexpr uint64_t kExponentMask = uint64_t{0x7ff} << 52;
inline constexpr uint64_t kMantissaMask = (uint64_t{1} << 52) - 1;
inline constexpr uint64_t kSignMask = uint64_t{1} << 63;
inline constexpr uint64_t kQuietNan = uint64_t{0x7ff8} << 48;  // the one NaN that operators produce

constexpr bool is_nan_bits(uint64_t bits) { return (bits & ~kSignMask) > kExponentMask; }

/// 2^exponent, for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// The code of NaN: sign and leading payload bits are kept where the format has them. A format without NaN takes its
/// largest value.
[[gnu::always_inline]] constexpr uint64_t encode_nan(const DType& t, uint64_t bits) {
  const uint64_t sign = t.has_sign ? (bits >> 63) << magnitude_bits(t) : 0;
  switch (t.nan) {
    case NanKind::ieee: {
      uint64_t payload = (bits & kMantissaMask) >> (52 - t.mantissa);
      if (payload == 0) payload = uint64_t{1} << (t.mantissa - 1);
      return sign | (((uint64_t{1} << t.exponent) - 1) << t.mantissa) | payload;
    }
    case NanKind::all_ones:
      return sign | ((uint64_t{1} << magnitude_bits(t)) - 1);
    case NanKind::negative_zero:
      return uint64_t{1} << magnitude_bits(t);
    case NanKind::none:
      break;
  }
  return largest_code(t);
}

/// The code of a value beyond the largest finite one.
[[gnu::always_inline]] constexpr uint64_t encode_overflow(const DType& t, uint64_t bits, Overflow overflow) {
  const uint64_t sign = t.has_sign ? (bits >> 63) << magnitude_bits(t) : 0;
  if ((can_saturate(t) && overflow == Overflow::saturate) || (!t.has_infinity && t.nan == NanKind::none)) {
    return sign | largest_code(t);
  }
  if (t.has_infinity) return sign | (largest_code(t) + 1);
  return encode_nan(t, (bits & kSignMask) | kQuietNan);
}

/// The code of a power-of-two format: nearest, a tie (1.5 * 2^k) goes up. Zero and what lies below the range give the
/// lowest code; so do negative values when saturating, else they are NaN.
constexpr uint64_t encode_scale(const DType& t, uint64_t bits, Overflow overflow) {
  const uint64_t magnitude = bits & ~kSignMask;
  if (bits != magnitude && magnitude != 0) {
    return overflow == Overflow::saturate ? 0 : encode_nan(t, kQuietNan);
  }
  const int64_t code =
      static_cast<int64_t>(magnitude >> 52) - 1023 + t.bias + static_cast<int64_t>((magnitude >> 51) & 1);
  if (code < 0) return 0;
  return code > static_cast<int64_t>(largest_code(t)) ? encode_overflow(t, magnitude, overflow)
                                                      : static_cast<uint64_t>(code);
}

/// The code nearest to the double with these bits, ties to the even code. Formats up to f32.
[[gnu::always_inline]] constexpr uint64_t encode_bits(const DType& t, uint64_t bits, Overflow overflow) {
  if (is_nan_bits(bits)) return encode_nan(t, bits);
  if (!has_zero(t)) return encode_scale(t, bits, overflow);
  const int exponent = static_cast<int>((bits & kExponentMask) >> 52) - 1023;
  const int least = least_exponent(t);
  const uint64_t significand = (bits & kMantissaMask) | (uint64_t{1} << 52);  // below 2^-1022 everything rounds to 0
  const int steps = exponent > least ? exponent - least : 0;                  // binades above the subnormal spacing
  const int drop = 52 - t.mantissa + (exponent < least ? least - exponent : 0);
  uint64_t code = 0;
  if (drop <= 53) {
    const uint64_t kept = significand >> drop;
    const uint64_t half = uint64_t{1} << (drop - 1);
    code = (static_cast<uint64_t>(steps) << t.mantissa) + ((significand + (half - 1) + (kept & 1)) >> drop);
  }
  if (code > largest_code(t)) return encode_overflow(t, bits, overflow);
  if (code == 0 && t.nan == NanKind::negative_zero) return 0;  // these formats have one zero
  return code | (t.has_sign ? (bits >> 63) << magnitude_bits(t) : 0);
}

/// The bits of the double that a code stands for. Formats up to f32.
[[gnu::always_inline]] constexpr uint64_t decode_bits(const DType& t, uint64_t code) {
  const uint64_t magnitude = code & ((uint64_t{1} << magnitude_bits(t)) - 1);
  const uint64_t sign = t.has_sign ? ((code >> magnitude_bits(t)) & 1) << 63 : 0;
  if (t.nan == NanKind::negative_zero && sign != 0 && magnitude == 0) return kQuietNan;
  const uint64_t mantissa = magnitude & ((uint64_t{1} << t.mantissa) - 1);
  if (magnitude > largest_code(t)) {
    if (t.has_infinity && mantissa == 0) return sign | kExponentMask;
    return sign | (t.nan == NanKind::ieee ? kExponentMask | (mantissa << (52 - t.mantissa)) : kQuietNan);
  }
  const uint64_t field = magnitude >> t.mantissa;
  if (field == 0 && has_zero(t)) {
    const double value =
        static_cast<double>(static_cast<int64_t>(mantissa)) * power_of_two(least_exponent(t) - t.mantissa);
    return sign | std::bit_cast<uint64_t>(value);
  }
  return sign | ((field + 1023 - static_cast<uint64_t>(static_cast<int64_t>(t.bias))) << 52) |
         (mantissa << (52 - t.mantissa));
}

}  // namespace tilewright::codec
