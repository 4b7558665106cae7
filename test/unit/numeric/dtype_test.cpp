#include "tilewright/dtype.h"

#include <gtest/gtest.h>

#include "types.h"

namespace tilewright::test {
namespace {

TEST(DType, NamesAreTheOnesOfTheText) {
  const char* const names[] = {"bool", "i4",       "i8",   "i16",  "i32",  "i64",  "u4",   "u8",   "u16",
                               "u32",  "u64",      "f64",  "f32",  "tf32", "f16",  "bf16", "e4m3", "e4m3fnuz",
                               "e5m2", "e5m2fnuz", "e8m0", "e5m6", "e3m2", "e2m3", "e2m1"};
  size_t i = 0;
  for (DType t : kTypes) EXPECT_EQ(to_string(t), names[i++]);
}

TEST(DType, EveryNameParsesBackWithEveryLaneCount) {
  for (DType t : kTypes) {
    for (int lanes : {1, 2, 3, 4, 8, 16}) {
      DType parsed;
      ASSERT_TRUE(parse_dtype(to_string(t.with_lanes(lanes)), parsed)) << to_string(t.with_lanes(lanes));
      EXPECT_EQ(parsed, t.with_lanes(lanes));
    }
  }
  EXPECT_EQ(to_string(f32.with_lanes(4)), "f32x4");
}

TEST(DType, OtherNamesAreRefusedAndLeaveTheResultAlone) {
  for (const char* name :
       {"", "f", "f33", "F32", "f32 ", " f32", "f32x", "f32x1", "f32x5", "f32x04", "x4", "f32x4x4", "int32"}) {
    DType parsed = u16;
    EXPECT_FALSE(parse_dtype(name, parsed)) << name;
    EXPECT_EQ(parsed, u16) << name;
  }
}

TEST(DType, AFormatWithoutANameIsDescribed) {
  EXPECT_EQ(to_string(make_float(4, 3, 11, true, false, NanKind::negative_zero)), "custom_e4m3b11");
  EXPECT_EQ(to_string(make_int(true, 24)), "i24");
}

TEST(DType, BytesRoundPackedTypesUp) {
  EXPECT_EQ(i4.bytes(), 1);
  EXPECT_EQ(i4.bytes(2), 1);
  EXPECT_EQ(e2m1.bytes(7), 4);
  EXPECT_EQ(e5m6.bytes(3), 6);
  EXPECT_EQ(tf32.bytes(3), 12);
  EXPECT_EQ(boolean.bytes(3), 3);
  EXPECT_EQ(f16.with_lanes(3).bytes(5), 30);
}

}  // namespace
}  // namespace tilewright::test
