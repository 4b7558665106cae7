#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "numeric/format.h"
#include "types.h"

namespace tilewright::test {
namespace {

/// A value of the type for each k, all codes in turn.
Scalar sample(DType t, uint64_t k) {
  const uint64_t code = k * 0x9e3779b97f4a7c15u >> (64 - t.bits);
  if (t.is_float()) return {t, std::bit_cast<uint64_t>(decode(t, code))};
  return integer(t, static_cast<int64_t>(code));
}

TEST(Element, ValuesOfEveryTypeComeBackFromOddPlaces) {
  constexpr int64_t kCount = 37;
  for (DType t : kTypes) {
    std::vector<unsigned char> memory(static_cast<size_t>(t.bytes(kCount)) + 2, 0xa5);
    unsigned char* const base = memory.data() + 1;  // not aligned
    for (int64_t i = kCount - 1; i >= 0; --i) store_element(base, i, sample(t, static_cast<uint64_t>(i)));
    for (int64_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(load_element(t, base, i), sample(t, static_cast<uint64_t>(i))) << to_string(t) << " " << i;
    }
    EXPECT_EQ(memory.front(), 0xa5) << to_string(t);
    EXPECT_EQ(memory.back(), 0xa5) << to_string(t);
  }
}

TEST(Element, StoringOneElementLeavesItsNeighboursAlone) {
  for (DType t : kTypes) {
    for (int64_t at : {0, 1, 2, 3, 4}) {
      std::vector<unsigned char> memory(static_cast<size_t>(t.bytes(5)));
      for (int64_t i = 0; i < 5; ++i) store_element(memory.data(), i, sample(t, static_cast<uint64_t>(i) + 1));
      store_element(memory.data(), at, sample(t, 77));
      for (int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(load_element(t, memory.data(), i), sample(t, i == at ? 77 : static_cast<uint64_t>(i) + 1))
            << to_string(t) << " " << i << " after a store at " << at;
      }
    }
  }
}

TEST(Element, StorageIsLittleEndianWithTheEvenElementLow) {
  unsigned char b[8] = {};
  store_element(b, 0, integer(i4, -3));
  store_element(b, 1, integer(i4, 5));
  EXPECT_EQ(b[0], 0x5d);
  store_element(b, 2, real(e2m1, 6));
  store_element(b, 3, real(e2m1, -0.5));
  EXPECT_EQ(b[1], 0x97);
  store_element(b, 1, integer(i16, 0x1234));
  EXPECT_EQ(b[2], 0x34);
  EXPECT_EQ(b[3], 0x12);
  store_element(b, 2, real(e5m6, -1));
  EXPECT_EQ(b[4], 0xc0);
  EXPECT_EQ(b[5], 0x0b);
  store_element(b, 6, integer(boolean, 1));
  EXPECT_EQ(b[6], 1);
  store_element(b, 7, real(e3m2, -28));
  EXPECT_EQ(b[7], 0x3f);
}

TEST(Element, UnusedBitsAreIgnored) {
  const unsigned char b[] = {0xff, 0xff, 0x02};
  EXPECT_EQ(load_element(e3m2, b, 0).as_double(), -28);
  EXPECT_EQ(load_element(e2m3, b, 0).as_double(), -7.5);
  EXPECT_EQ(load_element(boolean, b, 2), integer(boolean, 1));
  const uint16_t wide = 0xf3c0;
  EXPECT_EQ(load_element(e5m6, &wide, 0).as_double(), 1);
}

TEST(Element, ReducedSinglePrecisionIsStoredAsSingleWithZeroLowBits) {
  float f = 0;
  store_element(&f, 0, real(tf32, 1.0 / 3));
  EXPECT_EQ(std::bit_cast<uint32_t>(f) & 0x1fff, 0u);
  EXPECT_EQ(f, std::ldexp(1365.0f, -12));
  f = std::bit_cast<float>(0x3f801fffu);  // 1 with low bits that the format lacks
  EXPECT_EQ(load_element(tf32, &f, 0).as_double(), 1);
  f = std::bit_cast<float>(0x7f800001u);  // a NaN whose payload lies in those bits
  EXPECT_TRUE(std::isnan(load_element(tf32, &f, 0).as_double()));
  store_element(&f, 0, real(tf32, -kInf));
  EXPECT_EQ(f, -kInf);
}

TEST(Element, EveryCodeOfANarrowFormatSurvivesACopy) {
  for (DType t : kFloats) {
    if (t.bits > 16 || t.nan == NanKind::negative_zero) continue;
    for (uint32_t code = 0; code < 1u << t.bits; ++code) {
      uint16_t from = static_cast<uint16_t>(code), copy = 0;
      store_element(&copy, 0, load_element(t, &from, 0));
      ASSERT_EQ(copy, code) << to_string(t);
    }
  }
}

TEST(Element, NanBitsSurviveACopy) {
  for (uint32_t code : {0x7f800001u, 0xff812345u, 0x7fc00000u, 0xffffffffu}) {
    uint32_t copy = 0;
    store_element(&copy, 0, load_element(f32, &code, 0));
    EXPECT_EQ(copy, code);
  }
  for (uint16_t code : {uint16_t{0x7c01}, uint16_t{0xfe00}, uint16_t{0xffff}}) {
    uint16_t copy = 0;
    store_element(&copy, 0, load_element(f16, &code, 0));
    EXPECT_EQ(copy, code);
  }
}

}  // namespace
}  // namespace tilewright::test
