// The matrix unit of the hardware keeps its elements where the layouts of Caps, and so the emulator, say.
#include "gpu/gpu.h"
#include "unit/cuda/matrix_map.h"

namespace tilewright::cuda {
namespace {

using GpuMatrix = GpuTest;

TEST_F(GpuMatrix, EveryElementLiesWhereTheLayoutsSay) {
  for (DType type : {f16, bf16}) EXPECT_EQ(map_on(device(), type, driver().arch), wanted_map()) << to_string(type);
}

}  // namespace
}  // namespace tilewright::cuda
