// The scalar types of kernels and the language's rules for them, as device functions. The CUDA header and the
// emulator's both begin with this text, so that the rules exist once. TW_EMULATED is defined in the emulator.
#ifdef TW_EMULATED
#define TW_DEVICE inline
#define TW_F32(name) __builtin_##name##f
#define TW_F64(name) __builtin_##name
#else
#define TW_DEVICE __device__ __forceinline__
#define TW_F32(name) ::name##f
#define TW_F64(name) ::name
#endif

namespace tw {
using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long long;
using u64 = unsigned long long;

enum NanKind { no_nan, ieee_nan, all_ones_nan, negative_zero_nan };

/// Storage of a narrow float: its code, right-aligned. Values are computed in f32: to_f32(x), narrow<bf16>(x).
template <int Exponent, int Mantissa, int Bias, NanKind Nan, class Bits>
struct narrow_float {
  Bits bits;
};
using f16 = narrow_float<5, 10, 15, ieee_nan, u16>;
using bf16 = narrow_float<8, 7, 127, ieee_nan, u16>;
using e5m6 = narrow_float<5, 6, 15, ieee_nan, u16>;
using e4m3 = narrow_float<4, 3, 7, all_ones_nan, u8>;
using e4m3fnuz = narrow_float<4, 3, 8, negative_zero_nan, u8>;
using e5m2 = narrow_float<5, 2, 15, ieee_nan, u8>;
using e5m2fnuz = narrow_float<5, 2, 16, negative_zero_nan, u8>;
using e8m0 = narrow_float<8, 0, 127, all_ones_nan, u8>;
using e3m2 = narrow_float<3, 2, 3, no_nan, u8>;
using e2m3 = narrow_float<2, 3, 1, no_nan, u8>;
using e2m1 = narrow_float<2, 1, 1, no_nan, u8>;  // one code a byte; packed storage is two codes a byte, low half first

/// Bit casts, and what the hardware does in one instruction. encode and decode convert a narrow float when they can.
namespace hw {
template <class F>
TW_DEVICE bool encode(float, F&) {
  return false;
}
template <class F>
TW_DEVICE bool decode(F, float&) {
  return false;
}
#ifdef TW_EMULATED
TW_DEVICE u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
TW_DEVICE u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }
TW_DEVICE float f32_of(u32 bits) { return __builtin_bit_cast(float, bits); }
template <class F>
TW_DEVICE F min_number(F a, F b) {
  if (a != a) return b;
  if (b != b) return a;
  return a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b;
}
template <class F>
TW_DEVICE F max_number(F a, F b) {
  if (a != a) return b;
  if (b != b) return a;
  return a == b ? (__builtin_signbit(a) ? b : a) : a < b ? b : a;
}
TW_DEVICE float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
TW_DEVICE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
#else
TW_DEVICE u32 bits_of(float x) { return __float_as_uint(x); }
TW_DEVICE u64 bits_of(double x) { return u64(__double_as_longlong(x)); }
TW_DEVICE float f32_of(u32 bits) { return __uint_as_float(bits); }
TW_DEVICE float min_number(float a, float b) { return ::fminf(a, b); }
TW_DEVICE float max_number(float a, float b) { return ::fmaxf(a, b); }
TW_DEVICE double min_number(double a, double b) {
  return a == b ? (__double_as_longlong(a) < 0 ? a : b) : ::fmin(a, b);
}
TW_DEVICE double max_number(double a, double b) {
  return a == b ? (__double_as_longlong(a) < 0 ? b : a) : ::fmax(a, b);
}
TW_DEVICE float rsqrt(float x) { return ::rsqrtf(x); }
TW_DEVICE double rsqrt(double x) { return ::rsqrt(x); }

TW_DEVICE bool encode(float x, f16& r) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return true;
}
TW_DEVICE bool decode(f16 x, float& r) {
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return true;
}
#if __CUDA_ARCH__ >= 800
TW_DEVICE bool encode(float x, bf16& r) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return true;
}
#endif
TW_DEVICE bool decode(bf16 x, float& r) {
  r = __uint_as_float(u32(x.bits) << 16);
  return true;
}
#if __CUDA_ARCH__ >= 890
// One value takes the low half of a pair; these saturate.
TW_DEVICE bool encode(float x, e4m3& r) {
  u16 pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  r.bits = u8(pair);
  return true;
}
TW_DEVICE bool encode(float x, e5m2& r) {
  u16 pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  r.bits = u8(pair);
  return true;
}
TW_DEVICE bool decode(e4m3 x, float& r) {
  u32 pair;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(u16(x.bits)));
  return decode(f16{u16(pair)}, r);
}
TW_DEVICE bool decode(e5m2 x, float& r) {
  u32 pair;
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(pair) : "h"(u16(x.bits)));
  return decode(f16{u16(pair)}, r);
}
#endif
#endif
}  // namespace hw

// Integers wrap; x / 0 and x % 0 are 0; a shift by the width or more, or by a negative amount, gives 0 (the sign for a
// signed right shift). Narrower integers are widened to 32 bits before and cut after.
#define TW_SIGNED_RULES(S, U)                                                            \
  TW_DEVICE S add(S a, S b) { return S(U(a) + U(b)); }                                   \
  TW_DEVICE S sub(S a, S b) { return S(U(a) - U(b)); }                                   \
  TW_DEVICE S mul(S a, S b) { return S(U(a) * U(b)); }                                   \
  TW_DEVICE S neg(S a) { return S(U(0) - U(a)); }                                        \
  TW_DEVICE S abs(S a) { return a < 0 ? neg(a) : a; }                                    \
  TW_DEVICE S min(S a, S b) { return b < a ? b : a; }                                    \
  TW_DEVICE S max(S a, S b) { return a < b ? b : a; }                                    \
  TW_DEVICE S truncdiv(S a, S b) { return b == 0 ? S(0) : b == -1 ? neg(a) : S(a / b); } \
  TW_DEVICE S truncmod(S a, S b) { return b == 0 || b == -1 ? S(0) : S(a % b); }         \
  TW_DEVICE S floordiv(S a, S b) {                                                       \
    S r = truncmod(a, b);                                                                \
    return S(truncdiv(a, b) - S(r != 0 && (r < 0) != (b < 0)));                          \
  }                                                                                      \
  TW_DEVICE S floormod(S a, S b) {                                                       \
    S r = truncmod(a, b);                                                                \
    return r != 0 && (r < 0) != (b < 0) ? S(r + b) : r;                                  \
  }                                                                                      \
  TW_DEVICE S ceildiv(S a, S b) {                                                        \
    S r = truncmod(a, b);                                                                \
    return S(truncdiv(a, b) + S(r != 0 && (r < 0) == (b < 0)));                          \
  }                                                                                      \
  TW_DEVICE S shl(S a, S n) { return U(n) >= 8 * sizeof(S) ? S(0) : S(U(a) << U(n)); }   \
  TW_DEVICE S shr(S a, S n) { return U(n) >= 8 * sizeof(S) ? S(a < 0 ? -1 : 0) : S(a >> U(n)); }
#define TW_UNSIGNED_RULES(U)                                                        \
  TW_DEVICE U add(U a, U b) { return a + b; }                                       \
  TW_DEVICE U sub(U a, U b) { return a - b; }                                       \
  TW_DEVICE U mul(U a, U b) { return a * b; }                                       \
  TW_DEVICE U neg(U a) { return U(0) - a; }                                         \
  TW_DEVICE U abs(U a) { return a; }                                                \
  TW_DEVICE U min(U a, U b) { return b < a ? b : a; }                               \
  TW_DEVICE U max(U a, U b) { return a < b ? b : a; }                               \
  TW_DEVICE U truncdiv(U a, U b) { return b == 0 ? U(0) : a / b; }                  \
  TW_DEVICE U truncmod(U a, U b) { return b == 0 ? U(0) : a % b; }                  \
  TW_DEVICE U floordiv(U a, U b) { return truncdiv(a, b); }                         \
  TW_DEVICE U floormod(U a, U b) { return truncmod(a, b); }                         \
  TW_DEVICE U ceildiv(U a, U b) { return truncdiv(a, b) + U(truncmod(a, b) != 0); } \
  TW_DEVICE U shl(U a, U n) { return n >= 8 * sizeof(U) ? U(0) : a << n; }          \
  TW_DEVICE U shr(U a, U n) { return n >= 8 * sizeof(U) ? U(0) : a >> n; }
TW_SIGNED_RULES(i32, u32)
TW_SIGNED_RULES(i64, u64)
TW_UNSIGNED_RULES(u32)
TW_UNSIGNED_RULES(u64)
#undef TW_SIGNED_RULES
#undef TW_UNSIGNED_RULES

// Floats. min and max return the number when one operand is NaN and order -0 below +0; min_nan and max_nan return NaN.
// No function contracts; fma is the only fused operation.
#define TW_FLOAT_RULES(F, M)                                                     \
  TW_DEVICE F min(F a, F b) { return hw::min_number(a, b); }                     \
  TW_DEVICE F max(F a, F b) { return hw::max_number(a, b); }                     \
  TW_DEVICE F min_nan(F a, F b) { return a != a || b != b ? a + b : min(a, b); } \
  TW_DEVICE F max_nan(F a, F b) { return a != a || b != b ? a + b : max(a, b); } \
  TW_DEVICE bool is_nan(F a) { return a != a; }                                  \
  TW_DEVICE F abs(F a) { return M(fabs)(a); }                                    \
  TW_DEVICE F sqrt(F a) { return M(sqrt)(a); }                                   \
  TW_DEVICE F rsqrt(F a) { return hw::rsqrt(a); }                                \
  TW_DEVICE F exp(F a) { return M(exp)(a); }                                     \
  TW_DEVICE F exp2(F a) { return M(exp2)(a); }                                   \
  TW_DEVICE F log(F a) { return M(log)(a); }                                     \
  TW_DEVICE F log2(F a) { return M(log2)(a); }                                   \
  TW_DEVICE F sin(F a) { return M(sin)(a); }                                     \
  TW_DEVICE F cos(F a) { return M(cos)(a); }                                     \
  TW_DEVICE F tanh(F a) { return M(tanh)(a); }                                   \
  TW_DEVICE F erf(F a) { return M(erf)(a); }                                     \
  TW_DEVICE F floor(F a) { return M(floor)(a); }                                 \
  TW_DEVICE F ceil(F a) { return M(ceil)(a); }                                   \
  TW_DEVICE F trunc(F a) { return M(trunc)(a); }                                 \
  TW_DEVICE F round_even(F a) { return M(rint)(a); }                             \
  TW_DEVICE F fma(F a, F b, F c) { return M(fma)(a, b, c); }
TW_FLOAT_RULES(float, TW_F32)
TW_FLOAT_RULES(double, TW_F64)
#undef TW_FLOAT_RULES

/// Float to integer: truncated, saturated, NaN gives 0. I is one of i8 .. u64.
template <class I>
TW_DEVICE I to_int(double x) {
  constexpr bool is_signed = I(-1) < I(0);
  constexpr int magnitude = int(8 * sizeof(I)) - (is_signed ? 1 : 0);
  constexpr I largest = I(~u64(0) >> (64 - magnitude));
  constexpr double limit = 2.0 * double(u64(1) << (magnitude - 1));
  if (x != x) return I(0);
  if (x >= limit) return largest;
  if (is_signed) return x < -limit ? I(-largest - 1) : I(x);
  return x <= 0.0 ? I(0) : I(x);
}
template <class I>
TW_DEVICE I to_int(float x) {
  constexpr bool is_signed = I(-1) < I(0);
  constexpr int magnitude = int(8 * sizeof(I)) - (is_signed ? 1 : 0);
  constexpr I largest = I(~u64(0) >> (64 - magnitude));
  constexpr float limit = 2.0f * float(u64(1) << (magnitude - 1));
  if (x != x) return I(0);
  if (x >= limit) return largest;
  if (is_signed) return x < -limit ? I(-largest - 1) : I(x);
  return x <= 0.0f ? I(0) : I(x);
}

namespace detail {
template <class F>
struct format;
template <int E, int M, int B, NanKind N, class Bits>
struct format<narrow_float<E, M, B, N, Bits>> {
  using bits_type = Bits;
  static constexpr int exponent = E, mantissa = M, bias = B, magnitude = E + M;
  static constexpr NanKind nan = N;
  static constexpr bool has_infinity = N == ieee_nan, has_sign = M != 0;
  static constexpr u32 all_ones = (1u << magnitude) - 1;
  static constexpr u32 largest = N == ieee_nan ? all_ones - (1u << M) : N == all_ones_nan ? all_ones - 1 : all_ones;
  static constexpr u32 sign_bit = has_sign ? 1u << magnitude : 0u;
  static constexpr u32 nan_code = N == ieee_nan            ? (all_ones - (1u << M) + 1) | (1u << (M > 0 ? M - 1 : 0))
                                  : N == all_ones_nan      ? all_ones
                                  : N == negative_zero_nan ? 1u << magnitude
                                                           : largest;
};

/// The code nearest to x, ties to even. Formats of 8 bits and fewer saturate when asked; else infinity, or NaN in
/// formats without infinity.
template <class F>
TW_DEVICE u32 encode(double x, bool saturate) {
  using T = format<F>;
  const u64 raw = hw::bits_of(x);
  const u32 sign = raw >> 63 ? T::sign_bit : 0u;
  const u64 magnitude = raw & ~(u64(1) << 63);
  if (x != x) return T::nan == no_nan || T::nan == negative_zero_nan ? T::nan_code : sign | T::nan_code;
  const bool saturates = (saturate && sizeof(typename T::bits_type) == 1) || T::nan == no_nan;
  const u32 beyond = saturates                     ? sign | T::largest
                     : T::has_infinity             ? sign | (T::largest + 1)
                     : T::nan == negative_zero_nan ? T::nan_code
                                                   : sign | T::nan_code;
  if (T::mantissa == 0) {  // powers of two only: a tie goes up; zero and below give the lowest code
    if (raw != magnitude && magnitude != 0) return saturate ? 0u : T::nan_code;
    const i64 code = i64(magnitude >> 52) - 1023 + T::bias + i64((magnitude >> 51) & 1);
    return code < 0 ? 0u : code > i64(T::largest) ? beyond : u32(code);
  }
  const int power = int(magnitude >> 52) - 1023;
  constexpr int least = 1 - T::bias;
  const u64 significand = (magnitude & ((u64(1) << 52) - 1)) | (u64(1) << 52);
  const int drop = 52 - T::mantissa + (power < least ? least - power : 0);
  u64 code = 0;
  if (drop <= 53) {
    const u64 kept = significand >> drop;
    code = (u64(power > least ? power - least : 0) << T::mantissa) +
           ((significand + ((u64(1) << (drop - 1)) - 1) + (kept & 1)) >> drop);
  }
  if (code > T::largest) return beyond;
  return code == 0 && T::nan == negative_zero_nan ? 0u : sign | u32(code);
}

template <class F>
TW_DEVICE float decode(u32 code) {
  using T = format<F>;
  const u32 magnitude = code & T::all_ones;
  const u32 sign = T::has_sign && (code >> T::magnitude & 1) ? 0x80000000u : 0u;
  if (T::nan == negative_zero_nan && sign != 0 && magnitude == 0) return hw::f32_of(0x7fc00000u);
  if (magnitude > T::largest)
    return hw::f32_of(sign | (T::has_infinity && magnitude == T::largest + 1 ? 0x7f800000u : 0x7fc00000u));
  const u32 field = magnitude >> T::mantissa;
  const u32 fraction = magnitude & ((1u << T::mantissa) - 1);
  if (field == 0) {
    if (T::mantissa == 0) return hw::f32_of(0x00400000u);  // 2^-127
    const float unit = T::bias + T::mantissa <= 127 ? hw::f32_of(u32(128 - T::bias - T::mantissa) << 23)
                                                    : hw::f32_of(1u << (150 - T::bias - T::mantissa));
    return hw::f32_of(sign | hw::bits_of(float(fraction) * unit));
  }
  return hw::f32_of(sign | ((field + 127 - T::bias) << 23) | (fraction << (23 - T::mantissa)));
}

/// x as a double whose rounding to 10 bits or fewer equals that of x: bits below the 53rd are kept as one sticky bit.
TW_DEVICE double sticky(u64 x) { return double(x >> 53 == 0 ? x : (x >> 11 | u64((x & 2047) != 0)) << 11); }
}  // namespace detail

/// The narrow float nearest to x. `saturate` = false asks for infinity or NaN beyond the range of an 8-bit format.
template <class F, bool saturate = true>
TW_DEVICE F narrow(double x) {
  return F{typename detail::format<F>::bits_type(detail::encode<F>(x, saturate))};
}
template <class F, bool saturate = true>
TW_DEVICE F narrow(float x) {
  F r;
  if (!(saturate || sizeof(F) > 1) || !hw::encode(x, r)) r = narrow<F, saturate>(double(x));
  return r;
}
template <class F, bool saturate = true>
TW_DEVICE F narrow(int x) {
  return narrow<F, saturate>(double(x));
}
template <class F, bool saturate = true>
TW_DEVICE F narrow(unsigned x) {
  return narrow<F, saturate>(double(x));
}
template <class F, bool saturate = true>
TW_DEVICE F narrow(u64 x) {
  return narrow<F, saturate>(detail::sticky(x));
}
template <class F, bool saturate = true>
TW_DEVICE F narrow(i64 x) {
  return narrow<F, saturate>(x < 0 ? -detail::sticky(u64(0) - u64(x)) : detail::sticky(u64(x)));
}

/// The exact value of a narrow float.
#define TW_TO_F32(F)                                         \
  TW_DEVICE float to_f32(F x) {                              \
    float r;                                                 \
    return hw::decode(x, r) ? r : detail::decode<F>(x.bits); \
  }
TW_TO_F32(f16)
TW_TO_F32(bf16)
TW_TO_F32(e5m6)
TW_TO_F32(e4m3) TW_TO_F32(e4m3fnuz) TW_TO_F32(e5m2) TW_TO_F32(e5m2fnuz) TW_TO_F32(e8m0) TW_TO_F32(e3m2) TW_TO_F32(e2m3)
    TW_TO_F32(e2m1)
#undef TW_TO_F32
        TW_DEVICE float to_f32(float x) {
  return x;
}

}  // namespace tw
