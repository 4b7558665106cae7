#include <gtest/gtest.h>

#include "numeric/format.h"
#include "types.h"

namespace tilewright::test {
namespace {

/// float to bf16 by integer arithmetic on the bits of the float, an independent statement of nearest even.
uint16_t bf16_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

TEST(Cast, SingleToBf16RoundsToNearestEvenEverywhere) {
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = std::bit_cast<float>(high << 16 | low);
      const Scalar got = cast(real(f32, value), bf16);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(got.as_double())) << std::hex << high << " " << low;
      } else {
        ASSERT_EQ(encode(bf16, got.as_double()), bf16_of(value)) << std::hex << high << " " << low;
      }
    }
  }
  EXPECT_EQ(cast(real(f32, 3.14), bf16).as_double(), 3.140625);
}

TEST(Cast, WideFormatsOverflowToInfinityWhateverIsAsked) {
  for (Overflow o : {Overflow::saturate, Overflow::inf_nan}) {
    EXPECT_EQ(cast(real(f32, 65519), f16, o).as_double(), 65504);
    EXPECT_EQ(cast(real(f32, 65520), f16, o).as_double(), kInf);
    EXPECT_EQ(cast(real(f32, -1e30), f16, o).as_double(), -kInf);
    EXPECT_EQ(cast(real(f32, -kInf), bf16, o).as_double(), -kInf);
    EXPECT_EQ(cast(real(f32, std::numeric_limits<float>::max()), bf16, o).as_double(), kInf);
    EXPECT_EQ(cast(real(f64, 1e300), f32, o).as_double(), kInf);
    EXPECT_EQ(cast(real(f32, kInf), e5m6, o).as_double(), kInf);
  }
}

TEST(Cast, SmallFormatsSaturateUnlessAsked) {
  EXPECT_EQ(cast(real(f32, 1e30), e4m3).as_double(), 448);
  EXPECT_EQ(cast(real(f32, -kInf), e5m2).as_double(), -57344);
  EXPECT_EQ(cast(real(f32, -kInf), e5m2, Overflow::inf_nan).as_double(), -kInf);
  EXPECT_TRUE(std::isnan(cast(real(f32, 1e30), e4m3, Overflow::inf_nan).as_double()));
  EXPECT_EQ(cast(real(f32, -100), e2m1, Overflow::inf_nan).as_double(), -6);
  EXPECT_EQ(cast(integer(i32, 1000), e4m3).as_double(), 448);
  EXPECT_TRUE(std::isnan(cast(integer(i32, 1000), e4m3fnuz, Overflow::inf_nan).as_double()));
  EXPECT_EQ(cast(real(f16, kInf), e4m3).as_double(), 448);
}

TEST(Cast, NanIsOneValueInEveryFormatThatHasIt) {
  const Scalar payload{f32, uint64_t{0xfff1234} << 36};
  ASSERT_TRUE(std::isnan(payload.as_double()));
  for (DType t : kFloats) {
    if (t == f32) continue;
    const Scalar got = cast(payload, t);
    if (t.nan == NanKind::none) {
      EXPECT_EQ(got.as_double(), largest(t)) << to_string(t);
    } else {
      EXPECT_EQ(got.bits, std::bit_cast<uint64_t>(kNan)) << to_string(t);
    }
  }
  EXPECT_EQ(cast(payload, f32), payload);
}

TEST(Cast, FloatToIntTruncatesSaturatesAndTakesNanAsZero) {
  for (DType t : kIntegers) {
    EXPECT_EQ(cast(real(f32, kNan), t), integer(t, 0)) << to_string(t);
    EXPECT_EQ(cast(real(f32, 2.75), t), integer(t, 2)) << to_string(t);
    EXPECT_EQ(cast(real(f64, -0.99), t), integer(t, 0)) << to_string(t);
    EXPECT_EQ(cast(real(f64, -2.75), t), integer(t, t.is_signed_int() ? -2 : 0)) << to_string(t);
    const uint64_t top = ~uint64_t{0} >> (64 - t.bits + (t.is_signed_int() ? 1 : 0));
    const uint64_t bottom = t.is_signed_int() ? ~top : 0;
    for (double v : {1e300, kInf, std::ldexp(1, 64)}) {
      EXPECT_EQ(cast(real(f64, v), t), (Scalar{t, top})) << to_string(t) << " " << v;
      EXPECT_EQ(cast(real(f64, -v), t), (Scalar{t, bottom})) << to_string(t) << " " << -v;
    }
    if (t.bits > 32) continue;
    const double high = static_cast<double>(top), low = t.is_signed_int() ? -high - 1 : 0;
    EXPECT_EQ(cast(real(f64, high + 0.99), t).bits, top) << to_string(t);
    EXPECT_EQ(cast(real(f64, high + 1), t).bits, top) << to_string(t);
    EXPECT_EQ(cast(real(f64, high - 0.01), t).bits, top - 1) << to_string(t);
    EXPECT_EQ(cast(real(f64, low - 0.99), t).bits, bottom) << to_string(t);
    EXPECT_EQ(cast(real(f64, low - 1), t).bits, bottom) << to_string(t);
    EXPECT_EQ(cast(real(f64, low + 1), t).bits, bottom + 1) << to_string(t);
  }
  EXPECT_EQ(cast(real(f64, std::ldexp(1, 63)), i64).as_int(), INT64_MAX);
  EXPECT_EQ(cast(real(f64, std::nextafter(std::ldexp(1, 63), 0.0)), i64).as_int(), INT64_MAX - 1023);
  EXPECT_EQ(cast(real(f64, -std::ldexp(1, 63)), i64).as_int(), INT64_MIN);
  EXPECT_EQ(cast(real(f64, std::nextafter(std::ldexp(1, 64), 0.0)), u64).bits, UINT64_MAX - 2047);
}

TEST(Cast, IntToFloatRoundsOnce) {
  // A tie of bf16 with a last bit that a double does not hold: rounding twice would give the lower neighbour.
  const int64_t tie = (int64_t{1} << 60) + (int64_t{1} << 52);
  EXPECT_EQ(cast(integer(i64, tie), bf16).as_double(), std::ldexp(1, 60));
  EXPECT_EQ(cast(integer(i64, tie + 1), bf16).as_double(), std::ldexp(129, 53));
  EXPECT_EQ(cast(integer(i64, -tie - 1), bf16).as_double(), -std::ldexp(129, 53));
  EXPECT_EQ(cast(integer(i64, tie - 1), bf16).as_double(), std::ldexp(1, 60));
  EXPECT_EQ(cast(integer(i32, 16777217), f32).as_double(), 16777216);
  EXPECT_EQ(cast(integer(i32, 16777219), f32).as_double(), 16777220);
  EXPECT_EQ(cast(integer(i32, 70000), f16).as_double(), kInf);
  EXPECT_EQ(cast(Scalar{u64, UINT64_MAX}, f32).as_double(), std::ldexp(1, 64));
  EXPECT_EQ(cast(Scalar{u64, UINT64_MAX}, f64).as_double(), std::ldexp(1, 64));
  EXPECT_EQ(cast(integer(i64, INT64_MIN), f32).as_double(), -std::ldexp(1, 63));
  Random random(3);
  for (int i = 0; i < 200000; ++i) {
    const int64_t v = static_cast<int64_t>(random.next()) >> (random.next() % 60);
    ASSERT_EQ(cast(integer(i64, v), f32).as_double(), static_cast<float>(v)) << v;
    ASSERT_EQ(cast(integer(i64, v), f64).as_double(), static_cast<double>(v)) << v;
    const uint64_t u = static_cast<uint64_t>(v);
    ASSERT_EQ(cast(Scalar{u64, u}, f32).as_double(), static_cast<float>(u)) << u;
    ASSERT_EQ(cast(Scalar{u64, u}, f64).as_double(), static_cast<double>(u)) << u;
  }
}

TEST(Cast, IntToIntWraps) {
  EXPECT_EQ(cast(integer(i32, 300), i8).as_int(), 44);
  EXPECT_EQ(cast(integer(i32, 200), i8).as_int(), -56);
  EXPECT_EQ(cast(integer(i32, -1), u16).bits, 65535u);
  EXPECT_EQ(cast(integer(i32, -1), u64).bits, UINT64_MAX);
  EXPECT_EQ(cast(Scalar{u32, UINT32_MAX}, i64).as_int(), 4294967295);
  EXPECT_EQ(cast(Scalar{u64, UINT64_MAX}, i64).as_int(), -1);
  EXPECT_EQ(cast(integer(i32, 13), i4).as_int(), -3);
  EXPECT_EQ(cast(integer(i32, -3), u4).bits, 13u);
}

TEST(Cast, BoolIsNotZero) {
  EXPECT_TRUE(cast(integer(i32, 256), boolean).as_bool());
  EXPECT_FALSE(cast(integer(u8, 256), boolean).as_bool());
  EXPECT_TRUE(cast(real(f32, 0.25), boolean).as_bool());
  EXPECT_FALSE(cast(real(f32, -0.0), boolean).as_bool());
  EXPECT_TRUE(cast(real(f32, kNan), boolean).as_bool());
  EXPECT_EQ(cast(integer(boolean, 7), i8).as_int(), 1);
  EXPECT_EQ(cast(integer(boolean, 7), bf16).as_double(), 1);
}

TEST(Cast, MakersRoundAsCastsDo) {
  EXPECT_EQ(integer(f16, 2049).as_double(), 2048);
  EXPECT_EQ(integer(u64, -1).bits, UINT64_MAX);
  EXPECT_EQ(real(f32, 0.1).as_double(), 0.1f);
  EXPECT_EQ(real(i8, -1e9).as_int(), -128);
  EXPECT_EQ(real(e2m1, 2.5).as_double(), 2);
  EXPECT_EQ((Scalar{u64, UINT64_MAX}).to_double(), std::ldexp(1, 64));
  EXPECT_EQ(integer(i64, -5).to_double(), -5);
  EXPECT_EQ(real(f16, -0.5).to_double(), -0.5);
}

}  // namespace
}  // namespace tilewright::test
