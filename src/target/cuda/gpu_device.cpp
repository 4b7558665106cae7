#include "target/cuda/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "runtime/artifact.h"
#include "target/cuda/nvrtc.h"

namespace tilewright::cuda {
namespace {

// Numbers of the driver's interface.
constexpr int kMaxDynamicSharedBytes = 8;

DeviceAddress address_of(const void* p) { return reinterpret_cast<uintptr_t>(p); }

/// A loaded module. It waits for its launches before it goes.
struct Code {
  Module module = nullptr;
  Code() = default;
  Code(const Code&) = delete;
  ~Code() {
    driver().cuCtxSynchronize();
    if (module) driver().cuModuleUnload(module);
  }
};

class GpuKernel : public LoadedKernel {
 public:
  GpuKernel(GpuDevice& device, const Artifact& artifact) : device_(device), plan_(artifact.plan) {
    const std::string cubin = Nvrtc().compile(artifact, driver().arch).binary;
    device_.use();
    driver().check(driver().cuModuleLoadData(&code_.module, cubin.data()), "cuModuleLoadData");
    for (const Phase& phase : plan_.phases) {
      Function function = nullptr;
      driver().check(driver().cuModuleGetFunction(&function, code_.module, phase.entry.c_str()), "cuModuleGetFunction");
      driver().check(
          driver().cuFuncSetAttribute(function, kMaxDynamicSharedBytes, static_cast<int>(phase.fast_memory_bytes)),
          "cuFuncSetAttribute");
      functions_.push_back(function);
    }
  }

  void launch(std::span<const Argument> arguments, Location at) override {
    BoundArguments bound = bind_arguments(plan_, arguments, at);
    std::vector<void*> parameters;
    for (void*& tensor : bound.tensors) parameters.push_back(&tensor);
    for (uint64_t& scalar : bound.scalars) parameters.push_back(&scalar);
    device_.use();
    for (size_t i = 0; i < plan_.phases.size(); ++i) {
      const Phase& phase = plan_.phases[i];
      const int64_t blocks = launch_size(plan_, phase, bound, at);
      if (blocks == 0) continue;
      driver().check(driver().cuLaunchKernel(
                         functions_[i], static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(phase.threads), 1, 1,
                         static_cast<unsigned>(phase.fast_memory_bytes), nullptr, parameters.data(), nullptr),
                     "cuLaunchKernel");
    }
  }

 private:
  GpuDevice& device_;
  LaunchPlan plan_;
  Code code_;
  std::vector<Function> functions_;  // of each phase
};

}  // namespace

GpuDevice::GpuDevice() {
  if (!driver().problem.empty()) throw DeviceError("libcuda", 0, driver().problem);
  driver().check(driver().cuDeviceGet(&number_, 0), "cuDeviceGet");
  driver().check(driver().cuDevicePrimaryCtxRetain(&context_, number_), "cuDevicePrimaryCtxRetain");
}

GpuDevice::~GpuDevice() { driver().cuDevicePrimaryCtxRelease(number_); }

std::string GpuDevice::name() const { return driver().device; }

void GpuDevice::use() const { driver().check(driver().cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

void* GpuDevice::allocate(int64_t bytes) {
  use();
  DeviceAddress address = 0;
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));  // the driver refuses 0
  driver().check(driver().cuMemAlloc(&address, size), "cuMemAlloc");
  return reinterpret_cast<void*>(address);
}

void GpuDevice::release(void* address) {
  use();
  driver().cuMemFree(address_of(address));  // an error that it gives is an earlier launch's: synchronize() says so
}

void GpuDevice::copy_in(void* device, const void* host, int64_t bytes) {
  if (bytes == 0) return;
  use();
  driver().check(driver().cuMemcpyHtoD(address_of(device), host, static_cast<size_t>(bytes)), "cuMemcpyHtoD");
}

void GpuDevice::copy_out(void* host, const void* device, int64_t bytes) {
  if (bytes == 0) return;
  use();
  driver().check(driver().cuMemcpyDtoH(host, address_of(device), static_cast<size_t>(bytes)), "cuMemcpyDtoH");
}

void GpuDevice::synchronize() {
  use();
  driver().check(driver().cuCtxSynchronize(), "cuCtxSynchronize");
}

std::unique_ptr<LoadedKernel> GpuDevice::load(const Artifact& artifact) {
  if (artifact.language != "CUDA C++")
    throw DeviceError("load", 0, fmt::format("a GPU runs CUDA C++, the artifact is {}", artifact.language));
  return std::make_unique<GpuKernel>(*this, artifact);
}

}  // namespace tilewright::cuda
