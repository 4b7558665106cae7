// Every code of every format against a definition written from the documents of the formats with std::ldexp.
#include "numeric/format.h"

#include <gtest/gtest.h>

#include <vector>

#include "types.h"

namespace tilewright::test {
namespace {

/// The formats whose codes are all visited: up to 19 bits.
constexpr DType kSmall[] = {tf32, f16, bf16, e5m6, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e3m2, e2m3, e2m1};

uint64_t code_count(DType t) { return uint64_t{1} << t.bits; }
uint64_t sign_bit(DType t) { return t.has_sign ? uint64_t{1} << (t.bits - 1) : 0; }

/// The value of a code by name of the format; NaN where it has no value.
double defined_value(DType t, uint64_t code) {
  if (t == e8m0) return code == 255 ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
  const int fields[][2] = {{8, 10}, {5, 10}, {8, 7}, {5, 6}, {4, 3}, {4, 3},
                           {5, 2},  {5, 2},  {0, 0}, {3, 2}, {2, 3}, {2, 1}};
  const int biases[] = {127, 15, 127, 15, 7, 8, 15, 16, 0, 3, 1, 1};
  int i = 0;
  while (!(kSmall[i] == t)) ++i;
  const int e = fields[i][0], m = fields[i][1], bias = biases[i];
  const uint64_t magnitude = code & ((uint64_t{1} << (e + m)) - 1);
  const int field = static_cast<int>(magnitude >> m), fraction = static_cast<int>(magnitude & ((uint64_t{1} << m) - 1));
  const bool ieee = t == tf32 || t == f16 || t == bf16 || t == e5m6 || t == e5m2;
  const double sign = code != magnitude ? -1 : 1;
  if (ieee && field == (1 << e) - 1) return fraction != 0 ? kNan : sign * kInf;
  if (t == e4m3 && magnitude == 0x7f) return kNan;
  if ((t == e4m3fnuz || t == e5m2fnuz) && code == 0x80) return kNan;
  if (field == 0) return sign * std::ldexp(fraction, 1 - bias - m);
  return sign * std::ldexp((1 << m) + fraction, field - bias - m);
}

/// The finite values from the smallest magnitude up, as non-negative codes.
std::vector<uint64_t> finite_codes(DType t) {
  std::vector<uint64_t> codes;
  for (uint64_t c = 0; c < code_count(t); ++c) {
    if ((c & sign_bit(t)) == 0 && std::isfinite(defined_value(t, c))) codes.push_back(c);
  }
  return codes;
}

uint64_t negative(DType t, uint64_t code) {
  return code == 0 && t.nan == NanKind::negative_zero ? 0 : code | sign_bit(t);
}

TEST(Format, EveryCodeDecodesToItsDefinition) {
  for (DType t : kSmall) {
    for (uint64_t c = 0; c < code_count(t); ++c) {
      const double want = defined_value(t, c), got = decode(t, c);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << to_string(t) << " code " << c << " is " << got;
      } else {
        ASSERT_EQ(std::bit_cast<uint64_t>(got), std::bit_cast<uint64_t>(want)) << to_string(t) << " code " << c;
      }
    }
  }
}

TEST(Format, EveryCodeSurvivesDecodeAndEncode) {
  for (DType t : kSmall) {
    for (uint64_t c = 0; c < code_count(t); ++c) {
      for (Overflow o : {Overflow::saturate, Overflow::inf_nan}) {
        const double value = decode(t, c);
        if (std::isinf(value) && can_saturate(t) && o == Overflow::saturate) continue;  // becomes the largest value
        ASSERT_EQ(encode(t, value, o), c) << to_string(t) << " value " << value;
      }
    }
  }
}

TEST(Format, ValuesGrowWithTheCode) {
  for (DType t : kSmall) {
    const std::vector<uint64_t> codes = finite_codes(t);
    ASSERT_EQ(codes.size(), largest_code(t) + 1) << to_string(t);
    for (size_t i = 0; i + 1 < codes.size(); ++i) {
      ASSERT_EQ(codes[i], i) << to_string(t);
      ASSERT_LT(decode(t, codes[i]), decode(t, codes[i + 1])) << to_string(t) << " code " << codes[i];
    }
  }
}

TEST(Format, EncodeTakesTheNearestCodeAndTiesTheEvenOne) {
  for (DType t : kSmall) {
    const std::vector<uint64_t> codes = finite_codes(t);
    for (size_t i = 0; i + 1 < codes.size(); ++i) {
      const double low = defined_value(t, codes[i]), high = defined_value(t, codes[i + 1]);
      const double middle = low + (high - low) / 2;                                // exact: at most 12 significant bits
      const uint64_t even = t == e8m0 ? codes[i + 1] : codes[i + (codes[i] & 1)];  // powers of two: the larger one
      for (Overflow o : {Overflow::saturate, Overflow::inf_nan}) {
        ASSERT_EQ(encode(t, middle, o), even) << to_string(t) << " tie " << middle;
        ASSERT_EQ(encode(t, std::nextafter(middle, 0.0), o), codes[i]) << to_string(t) << " below " << middle;
        ASSERT_EQ(encode(t, std::nextafter(middle, kInf), o), codes[i + 1]) << to_string(t) << " above " << middle;
        ASSERT_EQ(encode(t, low + (high - low) / 1024, o), codes[i]) << to_string(t) << " above " << low;
        if (!t.has_sign) continue;
        ASSERT_EQ(encode(t, -middle, o), negative(t, even)) << to_string(t) << " tie " << -middle;
        ASSERT_EQ(encode(t, -std::nextafter(middle, 0.0), o), negative(t, codes[i])) << to_string(t);
        ASSERT_EQ(encode(t, -std::nextafter(middle, kInf), o), negative(t, codes[i + 1])) << to_string(t);
      }
    }
  }
}

/// Code of a value beyond the range, by documents: {saturating, inf_nan}.
struct Beyond {
  DType type;
  uint64_t saturated, overflowed;
};

constexpr Beyond kBeyond[] = {
    {tf32, 0x3fc00, 0x3fc00}, {f16, 0x7c00, 0x7c00},  {bf16, 0x7f80, 0x7f80}, {e5m6, 0x7c0, 0x7c0},
    {e4m3, 0x7e, 0x7f},       {e4m3fnuz, 0x7f, 0x80}, {e5m2, 0x7b, 0x7c},     {e5m2fnuz, 0x7f, 0x80},
    {e8m0, 0xfe, 0xff},       {e3m2, 0x1f, 0x1f},     {e2m3, 0x1f, 0x1f},     {e2m1, 0x7, 0x7},
};

TEST(Format, ValuesBeyondTheRangeSaturateOrOverflow) {
  for (const Beyond& b : kBeyond) {
    const DType t = b.type;
    const uint64_t last = largest_code(t);
    const double step = largest(t) - decode(t, last - 1);
    // Where the next code would have been: a tie goes to the even one of the two, upwards for powers of two.
    const double middle = t == e8m0 ? largest(t) * 1.5 : largest(t) + step / 2;
    const bool tie_stays = t != e8m0 && last % 2 == 0;
    EXPECT_EQ(encode(t, std::nextafter(middle, 0.0), Overflow::inf_nan), last) << to_string(t);
    EXPECT_EQ(encode(t, middle, Overflow::inf_nan), tie_stays ? last : b.overflowed) << to_string(t);
    for (double v : {std::nextafter(middle, kInf), 1e300, kInf}) {
      EXPECT_EQ(encode(t, v, Overflow::saturate), b.saturated) << to_string(t) << " " << v;
      EXPECT_EQ(encode(t, v, Overflow::inf_nan), b.overflowed) << to_string(t) << " " << v;
      if (!t.has_sign) continue;
      EXPECT_EQ(encode(t, -v, Overflow::saturate), b.saturated | sign_bit(t)) << to_string(t) << " " << -v;
      EXPECT_EQ(encode(t, -v, Overflow::inf_nan), b.overflowed | sign_bit(t)) << to_string(t) << " " << -v;
    }
  }
}

TEST(Format, NanIsKeptOrBecomesTheLargestValue) {
  const uint64_t codes[] = {0x3fe00, 0x7e00, 0x7fc0, 0x7e0, 0x7f, 0x80, 0x7e, 0x80, 0xff, 0x1f, 0x1f, 0x7};
  size_t i = 0;
  for (DType t : kSmall) {
    EXPECT_EQ(encode(t, kNan), codes[i]) << to_string(t);
    EXPECT_EQ(encode(t, kNan, Overflow::inf_nan), codes[i++]) << to_string(t);
  }
}

TEST(Format, NanPayloadsThatDoNotFitStayNan) {
  for (DType t : {f32, tf32, f16, bf16, e5m6, e5m2}) {
    for (int bit = 0; bit < 52; ++bit) {
      for (uint64_t sign : {uint64_t{0}, uint64_t{1} << 63}) {
        const double nan = std::bit_cast<double>(sign | (uint64_t{0x7ff} << 52) | (uint64_t{1} << bit));
        const double back = decode(t, encode(t, nan));
        EXPECT_TRUE(std::isnan(back)) << to_string(t) << " payload bit " << bit;
        EXPECT_EQ(std::signbit(back), sign != 0) << to_string(t) << " payload bit " << bit;
      }
    }
  }
}

TEST(Format, ZeroesKeepTheirSignExceptInFnuz) {
  for (DType t : kSmall) {
    if (t == e8m0) continue;
    EXPECT_EQ(encode(t, 0.0), 0u) << to_string(t);
    const bool fnuz = t == e4m3fnuz || t == e5m2fnuz;
    EXPECT_EQ(encode(t, -0.0), fnuz ? 0 : sign_bit(t)) << to_string(t);
    EXPECT_EQ(encode(t, -1e-300), fnuz ? 0 : sign_bit(t)) << to_string(t);
    EXPECT_EQ(encode(t, 5e-324), 0u) << to_string(t);
  }
}

TEST(Format, PowerOfTwoScalesHaveNoZeroAndNoSign) {
  for (Overflow o : {Overflow::saturate, Overflow::inf_nan}) {
    EXPECT_EQ(encode(e8m0, 0.0, o), 0u);
    EXPECT_EQ(encode(e8m0, -0.0, o), 0u);
    EXPECT_EQ(encode(e8m0, 1e-300, o), 0u);
    EXPECT_EQ(encode(e8m0, 1.0, o), 127u);
    EXPECT_EQ(encode(e8m0, 1.4999, o), 127u);
    EXPECT_EQ(encode(e8m0, 1.5, o), 128u);
    EXPECT_EQ(encode(e8m0, 3.0, o), 129u);
  }
  EXPECT_EQ(encode(e8m0, -2.0, Overflow::saturate), 0u);
  EXPECT_EQ(encode(e8m0, -2.0, Overflow::inf_nan), 255u);
  EXPECT_EQ(encode(e8m0, -kInf, Overflow::inf_nan), 255u);
}

TEST(Format, RangesAreThePublishedOnes) {
  EXPECT_EQ(largest(f64), std::numeric_limits<double>::max());
  EXPECT_EQ(largest(f32), std::numeric_limits<float>::max());
  EXPECT_EQ(largest(f16), 65504);
  EXPECT_EQ(largest(bf16), std::ldexp(255, 120));
  EXPECT_EQ(largest(e5m6), 65024);
  EXPECT_EQ(largest(e4m3), 448);
  EXPECT_EQ(largest(e4m3fnuz), 240);
  EXPECT_EQ(largest(e5m2), 57344);
  EXPECT_EQ(largest(e5m2fnuz), 57344);
  EXPECT_EQ(largest(e8m0), std::ldexp(1, 127));
  EXPECT_EQ(largest(e3m2), 28);
  EXPECT_EQ(largest(e2m3), 7.5);
  EXPECT_EQ(largest(e2m1), 6);
  EXPECT_EQ(smallest_positive(f64), 5e-324);
  EXPECT_EQ(smallest_positive(f32), std::ldexp(1, -149));
  EXPECT_EQ(smallest_positive(f16), std::ldexp(1, -24));
  EXPECT_EQ(smallest_positive(e4m3), std::ldexp(1, -9));
  EXPECT_EQ(smallest_positive(e4m3fnuz), std::ldexp(1, -10));
  EXPECT_EQ(smallest_positive(e8m0), std::ldexp(1, -127));
  EXPECT_EQ(smallest_positive(e2m1), 0.5);
  EXPECT_EQ(smallest_normal(f16), std::ldexp(1, -14));
  EXPECT_EQ(smallest_normal(f64), std::numeric_limits<double>::min());
  EXPECT_EQ(smallest_normal(e8m0), std::ldexp(1, -127));
  EXPECT_EQ(lowest(e4m3), -448);
  EXPECT_EQ(lowest(e8m0), std::ldexp(1, -127));
  EXPECT_EQ(largest(i8), 127);
  EXPECT_EQ(lowest(i8), -128);
  EXPECT_EQ(largest(u4), 15);
  EXPECT_EQ(lowest(u64), 0);
  EXPECT_EQ(lowest(i64), -std::ldexp(1, 63));
  EXPECT_EQ(largest(boolean), 1);
}

TEST(Format, SinglePrecisionAgreesWithTheHost) {
  Random random(7);
  for (int i = 0; i < 300000; ++i) {
    // Exponents from below the subnormals of f32 to beyond its range; every fourth value lies on or near a tie.
    uint64_t bits = (random.next() & ~(uint64_t{0x7ff} << 52)) | ((uint64_t{860} + random.next() % 310) << 52);
    if (i % 4 == 0) bits = (bits & ~uint64_t{0x1fffffff}) | 0x10000000 | (random.next() % 3);
    const double value = std::bit_cast<double>(bits);
    ASSERT_EQ(encode(f32, value), std::bit_cast<uint32_t>(static_cast<float>(value))) << value;
    const uint32_t code = static_cast<uint32_t>(random.next());
    const float single = std::bit_cast<float>(code);
    if (!std::isnan(single)) {
      ASSERT_EQ(decode(f32, code), static_cast<double>(single)) << code;
    }
    ASSERT_EQ(encode(f32, decode(f32, code)), code);
  }
}

TEST(Format, DoubleCodesAreItsBits) {
  for (double v : {0.0, -0.0, 1.5, -5e-324, kInf}) {
    EXPECT_EQ(encode(f64, v), std::bit_cast<uint64_t>(v));
    EXPECT_EQ(std::bit_cast<uint64_t>(decode(f64, std::bit_cast<uint64_t>(v))), std::bit_cast<uint64_t>(v));
  }
}

}  // namespace
}  // namespace tilewright::test
