#pragma once
// An NVIDIA GPU as a device: CUDA C++ artifacts, compiled by NVRTC and run through the driver.
#include <memory>

#include "target/cuda/driver.h"
#include "tilewright/runtime.h"

namespace tilewright::cuda {

/// GPU 0, in its primary context, which other libraries of the process share. Launches go to the default stream.
class GpuDevice : public Device {
 public:
  /// DeviceError when there is no GPU.
  GpuDevice();
  ~GpuDevice() override;
  GpuDevice(const GpuDevice&) = delete;

  std::string name() const override;
  void* allocate(int64_t bytes) override;
  void release(void* address) override;
  void copy_in(void* device, const void* host, int64_t bytes) override;
  void copy_out(void* host, const void* device, int64_t bytes) override;
  void synchronize() override;
  /// The device must outlive the kernel.
  std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override;

  /// Makes the context current on this thread: before each call of the driver.
  void use() const;

 private:
  DeviceNumber number_ = 0;
  Context context_ = nullptr;
};

}  // namespace tilewright::cuda
