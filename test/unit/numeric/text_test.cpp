#include <gtest/gtest.h>

#include "numeric/format.h"
#include "types.h"

namespace tilewright::test {
namespace {

void expect_round_trip(Scalar value) {
  Scalar parsed;
  ASSERT_TRUE(parse_scalar(to_string(value), parsed)) << to_string(value);
  ASSERT_EQ(parsed, value) << to_string(value) << " came back as " << to_string(parsed);
}

TEST(ScalarText, SpecialValuesOfEveryTypeComeBack) {
  for (DType t : kTypes) {
    expect_round_trip(integer(t, 0));
    expect_round_trip(integer(t, 1));
    if (t.is_int()) {
      expect_round_trip(integer(t, INT64_MIN >> (64 - t.bits)));
      expect_round_trip(integer(t, -1));
      expect_round_trip(integer(t, static_cast<int64_t>(~uint64_t{0} >> (65 - t.bits))));
    }
    if (!t.is_float()) continue;
    for (double v : {largest(t), lowest(t), smallest_positive(t), smallest_normal(t), 1.0 / 3})
      expect_round_trip(real(t, v));
    if (has_zero(t)) expect_round_trip(real(t, -0.0));
    if (t.nan != NanKind::none) expect_round_trip(real(t, kNan));
    if (t.has_infinity) expect_round_trip({t, std::bit_cast<uint64_t>(kInf)});
    if (t.has_infinity) expect_round_trip({t, std::bit_cast<uint64_t>(-kInf)});
  }
}

TEST(ScalarText, EveryCodeOfNarrowFormatsComesBack) {
  for (DType t : {f16, bf16, e5m6, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e3m2, e2m3, e2m1}) {
    for (uint64_t code = 0; code < (uint64_t{1} << t.bits); ++code) {
      const double value = decode(t, code);
      if (!std::isnan(value)) expect_round_trip({t, std::bit_cast<uint64_t>(value)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ScalarText, RandomBitsOfWideFormatsComeBack) {
  Random random(9);
  for (int i = 0; i < 50000; ++i) {
    for (DType t : {f32, f64, tf32}) {
      const double value = decode(t, random.next() >> (64 - t.bits));
      if (!std::isnan(value)) expect_round_trip({t, std::bit_cast<uint64_t>(value)});
    }
    for (DType t : kIntegers) expect_round_trip(integer(t, static_cast<int64_t>(random.next())));
    if (HasFatalFailure()) return;
  }
}

TEST(ScalarText, IsTheShortest) {
  EXPECT_EQ(to_string(integer(i64, 5)), "5");
  EXPECT_EQ(to_string(integer(i64, INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(to_string(integer(i32, -3)), "-3:i32");
  EXPECT_EQ(to_string(Scalar{u64, UINT64_MAX}), "18446744073709551615:u64");
  EXPECT_EQ(to_string(integer(boolean, 1)), "true");
  EXPECT_EQ(to_string(integer(boolean, 0)), "false");
  EXPECT_EQ(to_string(real(f32, 0.5)), "0.5:f32");
  EXPECT_EQ(to_string(real(f32, 0.1)), "0.1:f32");
  EXPECT_EQ(to_string(real(f64, 0.1)), "0.1:f64");
  EXPECT_EQ(to_string(real(f16, 0.1)), "0.1:f16");
  EXPECT_EQ(to_string(real(f16, 1.0 / 3)), "0.3333:f16");
  EXPECT_EQ(to_string(real(f16, 65504)), "65500:f16");
  EXPECT_EQ(to_string(real(bf16, 3.14)), "3.14:bf16");
  EXPECT_EQ(to_string(real(e4m3, 0.3)), "0.3:e4m3");
  EXPECT_EQ(to_string(real(f32, -2)), "-2:f32");
  EXPECT_EQ(to_string(real(f32, -0.0)), "-0:f32");
  EXPECT_EQ(to_string(real(f32, 1e30)), "1e30:f32");
  EXPECT_EQ(to_string(real(f64, 2e-7)), "2e-7:f64");
  EXPECT_EQ(to_string(real(f64, 5e-324)), "5e-324:f64");
  EXPECT_EQ(to_string(real(f32, kNan)), "nan:f32");
  EXPECT_EQ(to_string(real(f16, kInf)), "inf:f16");
  EXPECT_EQ(to_string(real(f64, -kInf)), "-inf:f64");
  EXPECT_EQ(to_string(real(e8m0, std::ldexp(1, 127))), "1.7e38:e8m0");
}

TEST(ScalarText, DecimalsAreRoundedToTheFormat) {
  Scalar s;
  ASSERT_TRUE(parse_scalar("0.1:f16", s));
  EXPECT_EQ(s, real(f16, 0.1));
  ASSERT_TRUE(parse_scalar("7:i8", s));
  EXPECT_EQ(s, integer(i8, 7));
  ASSERT_TRUE(parse_scalar("7:i64", s));
  EXPECT_EQ(s, integer(i64, 7));
  ASSERT_TRUE(parse_scalar("1e3:f32", s));
  EXPECT_EQ(s, real(f32, 1000));
  ASSERT_TRUE(parse_scalar("1e+03:f32", s));
  EXPECT_EQ(s, real(f32, 1000));
  // Halfway between two f32 values plus a bit that a double loses.
  ASSERT_TRUE(parse_scalar("1.000000059604644775390625000000001:f32", s));
  EXPECT_EQ(s.as_double(), 1 + std::ldexp(1, -23));
}

TEST(ScalarText, GarbageIsRefusedAndLeavesTheResultAlone) {
  for (const char* text : {"",
                           " ",
                           "-",
                           "+5",
                           "5 ",
                           " 5",
                           "5x",
                           "0x10",
                           "5:",
                           ":i32",
                           "5:i33",
                           "5:i32x2",
                           "5:bool",
                           "true:bool",
                           "True",
                           "0.5",
                           "1e3",
                           "5.0:i32",
                           "1e3:i32",
                           ".:f32",
                           "e5:f32",
                           "1e:f32",
                           "--1:f32",
                           "1.2.3:f32",
                           "1,5:f32",
                           "0x1p3:f32",
                           "infinity:f32",
                           "INF:f32",
                           "+inf:f32",
                           "nan(1):f32",
                           "-nan:f32",
                           "NaN:f32",
                           "nan",
                           "inf",
                           "nan:i32",
                           "5:i32:i32",
                           "5\n",
                           "inf:e4m3",
                           "nan:e2m1",
                           "-inf:e5m2fnuz",
                           "f32",
                           "1:f32 "}) {
    Scalar s = integer(u16, 99);
    EXPECT_FALSE(parse_scalar(text, s)) << "'" << text << "' gave " << to_string(s);
    EXPECT_EQ(s, integer(u16, 99)) << text;
  }
}

TEST(ScalarText, ValuesOutOfRangeAreRefused) {
  for (const char* text : {"9223372036854775808",
                           "-9223372036854775809",
                           "2147483648:i32",
                           "-2147483649:i32",
                           "128:i8",
                           "-129:i8",
                           "8:i4",
                           "-9:i4",
                           "16:u4",
                           "256:u8",
                           "-1:u8",
                           "18446744073709551616:u64",
                           "-1:u64",
                           "1e39:f32",
                           "-1e39:f32",
                           "1e309:f64",
                           "1e-60:f32",
                           "1e-400:f64",
                           "65505:f16",
                           "1e-9:f16",
                           "449:e4m3",
                           "-449:e4m3",
                           "241:e4m3fnuz",
                           "6.1:e2m1",
                           "0:e8m0",
                           "-1:e8m0",
                           "1e39:e8m0"}) {
    Scalar s = integer(u16, 99);
    EXPECT_FALSE(parse_scalar(text, s)) << "'" << text << "' gave " << to_string(s);
  }
}

}  // namespace
}  // namespace tilewright::test
