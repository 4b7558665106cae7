#include "target/common/emulator/engine/convert.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "target/common/emulator/engine/abi.device.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

enum Mode : uint8_t { kNone, kRint, kFloor, kCeil, kRound, kTrunc, kOdd };
using Real = long double;  // holds every 64-bit integer exactly

/// `x` to an integer by a mode; kNone is kRint.
Real round_to_integer(Real x, uint8_t mode) {
  switch (mode) {
    case kFloor:
      return std::floor(x);
    case kCeil:
      return std::ceil(x);
    case kRound:
      return std::round(x);  // halves away from zero
    case kTrunc:
      return std::trunc(x);
    case kOdd: {
      Real t = std::trunc(x);
      if (t == x || std::fmod(t, Real(2)) != 0) return t;
      return t + (x < 0 ? -1 : 1);
    }
    default: {
      Real f = std::floor(x), d = x - f;
      if (d != Real(0.5)) return d < Real(0.5) ? f : f + 1;
      return std::fmod(f, Real(2)) == 0 ? f : f + 1;
    }
  }
}

/// The neighbour of `x` with `mantissa` explicit bits and smallest normal exponent `emin`; beyond `largest`: that.
Real round_to_format(Real x, int mantissa, int emin, Real largest, uint8_t mode) {
  if (x == 0 || x != x || std::isinf(x)) return x;
  int e = std::ilogb(x);
  if (e < emin) e = emin;
  Real r = std::ldexp(round_to_integer(std::ldexp(x, mantissa - e), mode), e - mantissa);
  return r > largest ? largest : r < -largest ? -largest : r;
}

template <class T>
T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <class T>
void store(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

Real load_real(uint8_t type, const uint8_t* p) {
  switch (type) {
    case k_f16:
      return half_to_float(load<uint16_t>(p));
    case k_bf16: {
      uint32_t u = static_cast<uint32_t>(load<uint16_t>(p)) << 16;
      float f;
      std::memcpy(&f, &u, 4);
      return f;
    }
    case k_f32:
      return load<float>(p);
    case k_f64:
      return load<double>(p);
    case k_i8:
      return load<int8_t>(p);
    case k_u8:
      return load<uint8_t>(p);
    case k_i16:
      return load<int16_t>(p);
    case k_u16:
      return load<uint16_t>(p);
    case k_i32:
      return load<int32_t>(p);
    case k_u32:
      return load<uint32_t>(p);
    case k_i64:
      return static_cast<Real>(load<int64_t>(p));
    default:
      return static_cast<Real>(load<uint64_t>(p));
  }
}

template <class T>
void store_integer(uint8_t* p, Real x) {
  using Limits = std::numeric_limits<T>;
  T v = 0;
  if (x != x) {
    v = 0;
  } else if (x >= static_cast<Real>(Limits::max())) {
    v = Limits::max();
  } else if (x <= static_cast<Real>(Limits::min())) {
    v = Limits::min();
  } else {
    v = static_cast<T>(x);
  }
  store(p, v);
}

constexpr uint32_t bit(Mode m) { return 1u << m; }
constexpr uint32_t kAll5 = bit(kRint) | bit(kFloor) | bit(kCeil) | bit(kRound) | bit(kTrunc);

/// The rounding modes of Cast on A2 and A3 for a pair of types; 0: no such Cast. (int4 and the dequantising i32 to f16
/// are left out.)
uint32_t modes_of(uint8_t to, uint8_t from) {
  switch (from << 8 | to) {
    case k_f16 << 8 | k_i32:
    case k_f16 << 8 | k_i16:
      return kAll5;
    case k_f16 << 8 | k_f32:
      return bit(kNone);
    case k_f16 << 8 | k_i8:
    case k_f16 << 8 | k_u8:
      return kAll5 | bit(kNone);
    case k_f32 << 8 | k_f32:
    case k_f32 << 8 | k_i32:
    case k_f32 << 8 | k_i64:
    case k_f32 << 8 | k_i16:
    case k_f32 << 8 | k_bf16:
      return kAll5;
    case k_f32 << 8 | k_f16:
      return kAll5 | bit(kOdd) | bit(kNone);
    case k_bf16 << 8 | k_f32:
      return bit(kNone);
    case k_bf16 << 8 | k_i32:
      return kAll5;
    case k_u8 << 8 | k_f16:
    case k_i8 << 8 | k_f16:
    case k_i16 << 8 | k_f32:
      return bit(kNone);
    case k_i16 << 8 | k_f16:
    case k_i32 << 8 | k_f32:
      return kAll5 | bit(kNone);
    case k_i32 << 8 | k_i16:
    case k_i32 << 8 | k_i64:
    case k_i64 << 8 | k_i32:
      return bit(kNone);
    case k_i64 << 8 | k_f32:
      return kAll5;
    default:
      return 0;
  }
}

}  // namespace

float half_to_float(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16, exponent = h >> 10 & 31, mantissa = h & 1023;
  if (exponent == 0) {
    float f = static_cast<float>(mantissa) * 5.9604644775390625e-8f;
    return sign ? -f : f;
  }
  uint32_t u = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}

uint16_t float_to_half(float value) {
  uint32_t u;
  std::memcpy(&u, &value, 4);
  const uint32_t sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
  uint32_t h;
  if (a > 0x7f800000u) {
    h = 0x7e00u;
  } else if (a == 0x7f800000u) {
    h = 0x7c00u;
  } else if (a >= 0x477fe000u) {  // 65504 and more
    h = 0x7bffu;
  } else if (a < 0x38800000u) {  // subnormal: a multiple of 2^-24
    float x;
    std::memcpy(&x, &a, 4);
    h = static_cast<uint32_t>(std::nearbyint(x * 16777216.0f));
  } else {
    h = (a - 0x38000000u + 0xfffu + (a >> 13 & 1u)) >> 13;
  }
  return static_cast<uint16_t>(sign | h);
}

void convert(uint8_t to, uint8_t* dst, uint8_t from, const uint8_t* src, uint8_t mode) {
  const bool nearest = mode == kNone || mode == kRint;
  if (from == k_f16 && to == k_f32) return store(dst, half_to_float(load<uint16_t>(src)));
  if (from == k_f32 && to == k_f16 && nearest) return store(dst, float_to_half(load<float>(src)));
  const Real x = load_real(from, src);
  switch (to) {
    case k_f32: {
      const float most = std::numeric_limits<float>::max();
      return store(dst, static_cast<float>(from == k_f32 ? round_to_integer(x, mode)
                                                         : round_to_format(x, 23, -126, most, mode)));
    }
    case k_f16:
      return store(dst, float_to_half(static_cast<float>(round_to_format(x, 10, -14, 65504, mode))));
    case k_bf16: {
      const Real most = std::ldexp(Real(255), 120);  // 2^128 - 2^120
      float f = static_cast<float>(round_to_format(x, 7, -126, most, mode));
      uint32_t u;
      std::memcpy(&u, &f, 4);
      return store(dst, static_cast<uint16_t>(u >> 16));
    }
    case k_i8:
      return store_integer<int8_t>(dst, round_to_integer(x, mode));
    case k_u8:
      return store_integer<uint8_t>(dst, round_to_integer(x, mode));
    case k_i16:
      return store_integer<int16_t>(dst, round_to_integer(x, mode));
    case k_i32:
      return store_integer<int32_t>(dst, round_to_integer(x, mode));
    case k_i64:
      return store_integer<int64_t>(dst, round_to_integer(x, mode));
  }
}

const char* cast_refusal(uint8_t to, uint8_t from, uint8_t mode) {
  const uint32_t modes = modes_of(to, from);
  if (modes == 0) return "there is no Cast between these types";
  if (!(modes >> mode & 1u)) return "this Cast lacks the rounding mode";
  return nullptr;
}

}  // namespace tilewright::engine
