// Conversions between types.
#include <cmath>

#include "base/check.h"
#include "numeric/codec.h"
#include "numeric/integer.h"
#include "numeric/scalar.h"

namespace tilewright {
namespace {

/// The value of float format `t` nearest to `value`; NaN is the one quiet NaN.
Scalar round_to(const DType& t, double value, Overflow overflow) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (value != value) bits = codec::kQuietNan;
  if (t.bits == 64) return {t, bits};
  if (t.bits == 32) {
    const double rounded = static_cast<float>(std::bit_cast<double>(bits));
    return {t, std::bit_cast<uint64_t>(rounded)};
  }
  const uint64_t code = encode(t, std::bit_cast<double>(bits), overflow);
  return {t, codec::decode_bits(t, code)};
}

/// Truncates; the ends of the range for values beyond it; 0 for NaN.
Scalar float_to_int(const DType& t, double value) {
  if (value != value) return {t, 0};
  const double whole = std::trunc(value);
  if (t.is_signed_int()) {
    const double end = codec::power_of_two(t.bits - 1);
    const int64_t least = -1 - static_cast<int64_t>((uint64_t{1} << (t.bits - 1)) - 1);
    if (whole >= end) return {t, static_cast<uint64_t>(-1 - least)};
    if (whole < -end) return {t, static_cast<uint64_t>(least)};
    return {t, static_cast<uint64_t>(static_cast<int64_t>(whole))};
  }
  if (whole <= 0) return {t, 0};
  if (whole >= codec::power_of_two(t.bits)) return {t, ~uint64_t{0} >> (64 - t.bits)};
  return {t, static_cast<uint64_t>(whole)};
}

/// One rounding, also to formats narrower than a double.
Scalar int_to_float(const DType& t, bool negative, uint64_t magnitude, Overflow overflow) {
  const double sign = negative ? -1.0 : 1.0;
  if (t.bits == 64) return {t, std::bit_cast<uint64_t>(sign * static_cast<double>(magnitude))};
  return round_to(t, sign * integer::round_to_odd(magnitude), overflow);
}

}  // namespace

Scalar Scalar::of_int(DType t, int64_t value) {
  if (t.is_int()) return {t, integer::wrap(t, static_cast<uint64_t>(value))};
  if (t.is_bool()) return {t, value != 0 ? uint64_t{1} : 0};
  const uint64_t bits = static_cast<uint64_t>(value);
  return int_to_float(t, value < 0, value < 0 ? 0 - bits : bits, Overflow::saturate);
}

Scalar Scalar::of_float(DType t, double value) {
  if (t.is_float()) return round_to(t, value, Overflow::saturate);
  if (t.is_int()) return float_to_int(t, value);
  return {t, value != 0 ? uint64_t{1} : 0};
}

double Scalar::to_double() const {
  if (type.is_float()) return as_double();
  return type.is_signed_int() ? static_cast<double>(as_int()) : static_cast<double>(bits);
}

Scalar cast(Scalar a, DType to, Overflow overflow) {
  TW_CHECK(a.type.lanes == to.lanes, "cast from " + to_string(a.type) + " to " + to_string(to));
  if (a.type == to) return a;
  if (a.type.is_float()) {
    if (to.is_float()) return round_to(to, a.as_double(), overflow);
    if (to.is_int()) return float_to_int(to, a.as_double());
    return {to, a.as_double() != 0 ? uint64_t{1} : 0};
  }
  if (to.is_int()) return {to, integer::wrap(to, a.bits)};
  if (to.is_bool()) return {to, a.bits != 0 ? uint64_t{1} : 0};
  const bool negative = a.type.is_signed_int() && a.as_int() < 0;
  return int_to_float(to, negative, negative ? 0 - a.bits : a.bits, overflow);
}

}  // namespace tilewright
