#pragma once
// Element types as data: a format is described by its bits, never by a switch over names.
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

enum class TypeClass : uint8_t { boolean, signed_int, unsigned_int, floating };

/// How a floating format encodes NaN.
enum class NanKind : uint8_t {
  none,           // no NaN: e3m2, e2m3, e2m1
  ieee,           // all exponent bits set, mantissa not zero
  all_ones,       // all exponent and mantissa bits set (e4m3); for e8m0 the code 0xff
  negative_zero,  // the code of -0 (the "fnuz" formats)
};

/// A scalar or short-vector element type. Two types are equal when every field is.
struct DType {
  TypeClass cls = TypeClass::boolean;
  uint8_t bits = 8;  // bits of one code: 19 for tf32, 12 for e5m6, 4 for e2m1
  uint8_t storage_bits =
      8;                 // bits that one element takes in memory: 32 for tf32, 16 for e5m6, 4 for packed int4 and e2m1
  uint8_t exponent = 0;  // floating only
  uint8_t mantissa = 0;  // floating only, without the hidden bit
  int16_t bias = 0;      // floating only
  bool has_sign = false;
  bool has_infinity = false;
  NanKind nan = NanKind::none;
  uint8_t lanes = 1;  // 1, 2, 3, 4, 8 or 16

  constexpr bool operator==(const DType&) const = default;
  constexpr bool is_float() const { return cls == TypeClass::floating; }
  constexpr bool is_int() const { return cls == TypeClass::signed_int || cls == TypeClass::unsigned_int; }
  constexpr bool is_signed_int() const { return cls == TypeClass::signed_int; }
  constexpr bool is_bool() const { return cls == TypeClass::boolean; }
  /// Floats that are computed in f32 and rounded when stored: every floating format below 32 bits, and tf32.
  constexpr bool is_narrow_float() const { return is_float() && bits < 32; }
  constexpr DType with_lanes(int n) const {
    DType t = *this;
    t.lanes = static_cast<uint8_t>(n);
    return t;
  }
  constexpr DType scalar() const { return with_lanes(1); }
  /// Bytes of `count` elements of this type, packed types rounded up to whole bytes.
  constexpr int64_t bytes(int64_t count = 1) const { return (count * lanes * storage_bits + 7) / 8; }
};

constexpr DType make_int(bool is_signed, int bits) {
  return {.cls = is_signed ? TypeClass::signed_int : TypeClass::unsigned_int,
          .bits = static_cast<uint8_t>(bits),
          .storage_bits = static_cast<uint8_t>(bits),
          .has_sign = is_signed};
}
constexpr DType make_float(int exponent, int mantissa, int bias, bool sign, bool infinity, NanKind nan,
                           int storage = 0) {
  int bits = exponent + mantissa + (sign ? 1 : 0);
  return {.cls = TypeClass::floating,
          .bits = static_cast<uint8_t>(bits),
          .storage_bits = static_cast<uint8_t>(storage ? storage : bits),
          .exponent = static_cast<uint8_t>(exponent),
          .mantissa = static_cast<uint8_t>(mantissa),
          .bias = static_cast<int16_t>(bias),
          .has_sign = sign,
          .has_infinity = infinity,
          .nan = nan};
}

inline constexpr DType boolean{.cls = TypeClass::boolean, .bits = 1, .storage_bits = 8};
inline constexpr DType i8 = make_int(true, 8), i16 = make_int(true, 16), i32 = make_int(true, 32),
                       i64 = make_int(true, 64);
inline constexpr DType u8 = make_int(false, 8), u16 = make_int(false, 16), u32 = make_int(false, 32),
                       u64 = make_int(false, 64);
inline constexpr DType i4 = make_int(true, 4), u4 = make_int(false, 4);
inline constexpr DType f64 = make_float(11, 52, 1023, true, true, NanKind::ieee);
inline constexpr DType f32 = make_float(8, 23, 127, true, true, NanKind::ieee);
inline constexpr DType tf32 = make_float(8, 10, 127, true, true, NanKind::ieee, 32);
inline constexpr DType f16 = make_float(5, 10, 15, true, true, NanKind::ieee);
inline constexpr DType bf16 = make_float(8, 7, 127, true, true, NanKind::ieee);
inline constexpr DType e4m3 = make_float(4, 3, 7, true, false, NanKind::all_ones);
inline constexpr DType e4m3fnuz = make_float(4, 3, 8, true, false, NanKind::negative_zero);
inline constexpr DType e5m2 = make_float(5, 2, 15, true, true, NanKind::ieee);
inline constexpr DType e5m2fnuz = make_float(5, 2, 16, true, false, NanKind::negative_zero);
inline constexpr DType e8m0 = make_float(8, 0, 127, false, false, NanKind::all_ones);
inline constexpr DType e5m6 = make_float(5, 6, 15, true, true, NanKind::ieee, 16);
inline constexpr DType e3m2 = make_float(3, 2, 3, true, false, NanKind::none, 8);
inline constexpr DType e2m3 = make_float(2, 3, 1, true, false, NanKind::none, 8);
inline constexpr DType e2m1 = make_float(2, 1, 1, true, false, NanKind::none);

/// The name that the IR text uses: "f32", "bf16", "e4m3", "i64", "bool", "f32x4".
std::string to_string(DType type);

/// The type of that name; false when there is none.
bool parse_dtype(std::string_view name, DType& type);

}  // namespace tilewright
