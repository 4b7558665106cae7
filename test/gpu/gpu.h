#pragma once
// Tests that need a GPU: they say why when they are skipped.
#include <gtest/gtest.h>

#include <optional>

#include "target/cuda/cuda_target.h"
#include "target/cuda/gpu_device.h"

namespace tilewright::cuda {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Availability found = probe_gpu(); !found.available) GTEST_SKIP() << found.reason;
    target_.emplace(driver().arch);
    device_.emplace();
  }
  const Target& target() { return *target_; }
  GpuDevice& device() { return *device_; }

 private:
  std::optional<CudaTarget> target_;
  std::optional<GpuDevice> device_;
};

}  // namespace tilewright::cuda
