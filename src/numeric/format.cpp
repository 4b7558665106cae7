// Ends of each format's range, and the general encode and decode.
#include "numeric/format.h"

#include "base/check.h"
#include "numeric/codec.h"
#include "numeric/scalar.h"

namespace tilewright {

double largest(const DType& t) {
  if (t.is_float()) return decode(t, largest_code(t));
  if (t.is_bool()) return 1;
  const int magnitude = t.is_signed_int() ? t.bits - 1 : t.bits;
  return magnitude == 0 ? 0 : static_cast<double>(~uint64_t{0} >> (64 - magnitude));
}

double lowest(const DType& t) {
  if (t.is_float()) return t.has_sign ? -largest(t) : smallest_positive(t);
  return t.is_signed_int() ? -codec::power_of_two(t.bits - 1) : 0;
}

double smallest_positive(const DType& t) {
  TW_CHECK(t.is_float(), "smallest_positive of " + to_string(t));
  return decode(t, has_zero(t) ? 1 : 0);
}

double smallest_normal(const DType& t) {
  TW_CHECK(t.is_float(), "smallest_normal of " + to_string(t));
  return codec::power_of_two(least_exponent(t));
}

double unit_roundoff(const DType& t) { return t.is_float() ? codec::power_of_two(-t.mantissa - 1) : 0; }

uint64_t encode(DType type, double value, Overflow overflow) {
  TW_CHECK(type.is_float(), "encode of " + to_string(type));
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  if (type.bits == 64) return bits;
  if (type.bits == 32) return codec::encode_bits(f32, bits, overflow);
  if (type.bits == 16) {
    return type.exponent == 5 ? codec::encode_bits(f16, bits, overflow) : codec::encode_bits(bf16, bits, overflow);
  }
  return codec::encode_bits(type, bits, overflow);
}

double decode(DType type, uint64_t code) {
  TW_CHECK(type.is_float(), "decode of " + to_string(type));
  if (type.bits == 64) return std::bit_cast<double>(code);
  return std::bit_cast<double>(codec::decode_bits(type, code));
}

}  // namespace tilewright
