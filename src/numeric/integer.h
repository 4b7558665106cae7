#pragma once
// Integer arithmetic of any width up to 64, on values kept sign- or zero-extended to 64 bits. All arithmetic is
// unsigned inside, so that nothing overflows. Private to src/numeric.
#include <cstdint>

#include "numeric/ops.h"
#include "tilewright/dtype.h"

namespace tilewright::integer {

/// `value` modulo 2^bits, extended again.
constexpr uint64_t wrap(const DType& t, uint64_t value) {
  const int unused = 64 - t.bits;
  if (t.is_signed_int()) return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
  return value << unused >> unused;
}

constexpr int64_t as_signed(uint64_t v) { return static_cast<int64_t>(v); }

struct Division {
  uint64_t quotient;
  uint64_t remainder;
};

/// Truncated division of extended values, not yet wrapped; 0 and 0 for a zero divisor.
constexpr Division divide(bool is_signed, uint64_t a, uint64_t b) {
  if (b == 0) return {0, 0};
  if (!is_signed) return {a / b, a % b};
  if (as_signed(b) == -1) return {0 - a, 0};  // the least value has no positive counterpart
  return {static_cast<uint64_t>(as_signed(a) / as_signed(b)), static_cast<uint64_t>(as_signed(a) % as_signed(b))};
}

/// Whether the exact quotient lies below the truncated one (a negative quotient that is not whole).
constexpr bool truncated_up(bool is_signed, uint64_t remainder, uint64_t b) {
  return is_signed && remainder != 0 && (as_signed(remainder) < 0) != (as_signed(b) < 0);
}

constexpr uint64_t floordiv(bool is_signed, uint64_t a, uint64_t b) {
  const Division d = divide(is_signed, a, b);
  return d.quotient - (truncated_up(is_signed, d.remainder, b) ? 1 : 0);
}

constexpr uint64_t floormod(bool is_signed, uint64_t a, uint64_t b) {
  const Division d = divide(is_signed, a, b);
  return d.remainder + (truncated_up(is_signed, d.remainder, b) ? b : 0);
}

constexpr uint64_t ceildiv(bool is_signed, uint64_t a, uint64_t b) {
  const Division d = divide(is_signed, a, b);
  return d.quotient + (d.remainder != 0 && !truncated_up(is_signed, d.remainder, b) ? 1 : 0);
}

/// Shifts whose amount is not in [0, bits) move every bit out. A negative amount is a large one here.
constexpr uint64_t shl(const DType& t, uint64_t a, uint64_t amount) { return amount < t.bits ? a << amount : 0; }

constexpr uint64_t shr(const DType& t, uint64_t a, uint64_t amount) {
  if (!t.is_signed_int()) return amount < t.bits ? a >> amount : 0;
  return static_cast<uint64_t>(as_signed(a) >> (amount < t.bits ? amount : 63));
}

constexpr bool less(bool is_signed, uint64_t a, uint64_t b) { return is_signed ? as_signed(a) < as_signed(b) : a < b; }

/// The nearest double with a sticky last bit (round to odd): rounding it again to any format of at most 50 mantissa
/// bits equals rounding the integer once. `magnitude` is unsigned.
constexpr double round_to_odd(uint64_t magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const uint64_t low = magnitude & 0x7ff;  // the 53 bits of a double fit above the low 11
  return static_cast<double>((magnitude >> 11) | (low != 0 ? 1 : 0)) * 2048.0;
}

}  // namespace tilewright::integer
