// Elements that do not fill their bytes: two in one byte, and codes with bits that say nothing.
#include <gtest/gtest.h>

#include "tilewright/jit.h"

namespace tilewright::cpu {
namespace {

/// Copies x (N, width) to y, one row a block, through a tile.
Kernel copy_rows(DType type, int64_t width) {
  return compile("copy_rows",
                 [&](Buffer x, Buffer y) {
                   for (Var row : grid(x.extent(0))) {
                     auto t = shared(type, {width});
                     copy(x[{row, 0}], t);
                     copy(t, y[{row, 0}]);
                   }
                 },
                 signature(tensor("x", type, {"N", width}).contiguous(), tensor("y", type, {"N", width}).contiguous()),
                 "cpu", {.threads = 2});
}

/// Block b writes element b many times, and at last b.
TEST(CpuStorage, BlocksThatShareAByte) {
  constexpr int64_t kBlocks = 4;
  Kernel write = compile("write",
                         [&](Buffer y) {
                           for (Var b : grid(kBlocks))
                             for (Var k : serial(16000)) y(b) = cast(u4, (b + k + 1) % 16);
                         },
                         signature(tensor("y", u4, {kBlocks}).contiguous()), "cpu", {.threads = 2});
  for (int run = 0; run < 20; ++run) {
    std::vector<uint8_t> y(kBlocks / 2);
    write(Tensor{y.data(), u4, {kBlocks}});
    EXPECT_EQ(y, (std::vector<uint8_t>{0x10, 0x32}));
  }
}

TEST(CpuStorage, BitsThatSayNothingAreWrittenAsZero) {
  Kernel copy = copy_rows(tf32, 4);
  const std::vector<uint32_t> x{0x3f801fff, 0x12345678, 0xffffffff, 0x00001fff};
  std::vector<uint32_t> y(4, 1);
  copy(Tensor{const_cast<uint32_t*>(x.data()), tf32, {1, 4}}, Tensor{y.data(), tf32, {1, 4}});
  EXPECT_EQ(y[0], 0x3f800000u);
  EXPECT_EQ(y[1], 0x12344000u);
  EXPECT_EQ(y[2] & 0x7fc01fffu, 0x7fc00000u);  // a NaN
  EXPECT_EQ(y[3], 0u);
}

}  // namespace
}  // namespace tilewright::cpu
