// Elements in memory: little endian, 4-bit types two to a byte.
#include <bit>
#include <cstring>

#include "base/check.h"
#include "numeric/codec.h"
#include "numeric/scalar.h"

namespace tilewright {
namespace {

static_assert(std::endian::native == std::endian::little, "element storage is little endian");

template <class T>
T read(const void* base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void write(void* base, int64_t index, T value) {
  std::memcpy(static_cast<char*>(base) + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// An integer read as T (whose width and sign are the type's), extended to 64 bits.
template <class T>
uint64_t read_extended(const void* base, int64_t index) {
  return static_cast<uint64_t>(static_cast<int64_t>(read<T>(base, index)));
}

uint64_t read_nibble(const void* base, int64_t index) {
  return (read<uint8_t>(base, index >> 1) >> ((index & 1) * 4)) & 0xf;
}

void write_nibble(void* base, int64_t index, uint64_t code) {
  const int shift = static_cast<int>(index & 1) * 4;
  const int old = read<uint8_t>(base, index >> 1) & ~(0xf << shift);
  write(base, index >> 1, static_cast<uint8_t>(old | static_cast<int>(code & 0xf) << shift));
}

[[noreturn, gnu::cold]] void no_storage(const DType& t) {
  check_failed("storage_bits", __FILE__, __LINE__, "no storage rule for elements of " + to_string(t));
}

uint64_t load_int(const DType& t, const void* base, int64_t index) {
  const bool is_signed = t.is_signed_int();
  switch (t.storage_bits) {
    case 64:
      return read<uint64_t>(base, index);
    case 32:
      return is_signed ? read_extended<int32_t>(base, index) : read<uint32_t>(base, index);
    case 16:
      return is_signed ? read_extended<int16_t>(base, index) : read<uint16_t>(base, index);
    case 8:
      return is_signed ? read_extended<int8_t>(base, index) : read<uint8_t>(base, index);
    case 4: {
      const uint64_t code = read_nibble(base, index);
      return is_signed && code >= 8 ? code | ~uint64_t{0xf} : code;
    }
    default:
      no_storage(t);
  }
}

void store_code(const DType& t, void* base, int64_t index, uint64_t code) {
  switch (t.storage_bits) {
    case 64:
      return write(base, index, code);
    case 32:
      return write(base, index, static_cast<uint32_t>(code));
    case 16:
      return write(base, index, static_cast<uint16_t>(code));
    case 8:
      return write(base, index, static_cast<uint8_t>(code));
    case 4:
      return write_nibble(base, index, code);
    default:
      no_storage(t);
  }
}

/// tf32 is kept as an f32; the low 13 mantissa bits are written as 0 and ignored when read.
uint64_t load_tf32(uint32_t word) {
  const uint64_t wide = codec::decode_bits(f32, word);
  return codec::is_nan_bits(wide) ? codec::decode_bits(tf32, codec::encode_nan(tf32, wide))
                                  : codec::decode_bits(tf32, word >> 13);
}

uint64_t load_float(const DType& t, const void* base, int64_t index) {
  switch (t.storage_bits) {
    case 64:
      return read<uint64_t>(base, index);
    case 32: {
      const uint32_t word = read<uint32_t>(base, index);
      if (t.bits != 32) return load_tf32(word);
      const float value = std::bit_cast<float>(word);
      if (value != value) return codec::decode_bits(f32, word);  // a conversion would change a signaling NaN
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    }
    case 16: {
      const uint16_t code = read<uint16_t>(base, index);
      if (t.bits != 16) return codec::decode_bits(t, code);
      return t.exponent == 5 ? codec::decode_bits(f16, code) : codec::decode_bits(bf16, code);
    }
    case 8:
      return codec::decode_bits(t, read<uint8_t>(base, index));
    case 4:
      return codec::decode_bits(t, read_nibble(base, index));
    default:
      no_storage(t);
  }
}

/// `value` is one of the format, so nothing is rounded and an infinity stays one.
void store_float(const DType& t, void* base, int64_t index, double value) {
  if (t.bits == 32 && value == value) return write(base, index, static_cast<float>(value));
  const uint64_t code = encode(t, value, Overflow::inf_nan);
  store_code(t, base, index, t.storage_bits == 32 ? code << (32 - t.bits) : code);
}

}  // namespace

Scalar load_element(DType type, const void* base, int64_t index) {
  if (type.is_float()) return {type, load_float(type, base, index)};
  if (type.is_int()) return {type, load_int(type, base, index)};
  return {type, read<uint8_t>(base, index) != 0 ? uint64_t{1} : 0};
}

void store_element(void* base, int64_t index, Scalar value) {
  if (value.type.is_float()) return store_float(value.type, base, index, value.as_double());
  store_code(value.type, base, index, value.type.is_bool() ? uint64_t{value.as_bool()} : value.bits);
}

}  // namespace tilewright
