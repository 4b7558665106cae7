#pragma once
// Lists of element types and short makers of values, for the tests of this folder.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "numeric/scalar.h"

namespace tilewright::test {

inline constexpr DType kIntegers[] = {i4, i8, i16, i32, i64, u4, u8, u16, u32, u64};
inline constexpr DType kFloats[] = {f64,  f32,      tf32, f16,  bf16, e4m3, e4m3fnuz,
                                    e5m2, e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};
inline constexpr DType kTypes[] = {boolean, i4,  i8,   i16,  i32,      i64,  u4,       u8,   u16,  u32,  u64,  f64, f32,
                                   tf32,    f16, bf16, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline Scalar integer(DType t, int64_t v) { return Scalar::of_int(t, v); }
inline Scalar real(DType t, double v) { return Scalar::of_float(t, v); }

/// xorshift64*: the same numbers on every host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  /// In [-1, 1), of single precision.
  double unit() {
    return static_cast<double>(static_cast<float>(static_cast<int64_t>(next() >> 40) - (1 << 23)) / (1 << 23));
  }

 private:
  uint64_t state_;
};

}  // namespace tilewright::test
