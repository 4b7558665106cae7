// A machine without a GPU says so.
#include "target/cuda/driver.h"

#include <gtest/gtest.h>

#include "tilewright/jit.h"

namespace tilewright::cuda {
namespace {

TEST(CudaDriver, WithoutAGpuTheMachineSaysWhatIsMissing) {
  const Availability gpu = probe_gpu();
  if (gpu.available) GTEST_SKIP() << "there is a GPU: " << gpu.reason;
  EXPECT_NE(gpu.reason, "");
  try {
    compile("nothing", [](Buffer x) { clear(x); }, signature(tensor("x", f32, {1}).contiguous()), "cuda");
    FAIL() << "compiled";
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), "machine cuda: not available here: " + gpu.reason);
  }
  if (!driver().problem.empty() && driver().version == 0) {
    EXPECT_NE(gpu.reason.find("driver"), std::string::npos) << gpu.reason;
  }
}

}  // namespace
}  // namespace tilewright::cuda
