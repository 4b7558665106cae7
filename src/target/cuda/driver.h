#pragma once
// The CUDA driver, found while the program runs: declarations of the few calls that are used, and its errors as
// sentences.
#include <cstdint>
#include <string>

#include "machine/toolchain.h"

namespace tilewright::cuda {

using DeviceNumber = int;
using Context = struct ContextState*;
using Module = struct ModuleState*;
using Function = struct FunctionState*;
using Stream = struct StreamState*;
using DeviceAddress = unsigned long long;
using Result = int;

/// Calls of libcuda.so.1, by their names there. Each was made before CUDA 11 and is in every later driver.
struct Driver {
  Result (*cuInit)(unsigned flags) = nullptr;
  Result (*cuDriverGetVersion)(int* version) = nullptr;
  Result (*cuGetErrorName)(Result, const char** name) = nullptr;
  Result (*cuGetErrorString)(Result, const char** text) = nullptr;
  Result (*cuDeviceGetCount)(int* count) = nullptr;
  Result (*cuDeviceGet)(DeviceNumber*, int ordinal) = nullptr;
  Result (*cuDeviceGetName)(char* name, int length, DeviceNumber) = nullptr;
  Result (*cuDeviceGetAttribute)(int* value, int attribute, DeviceNumber) = nullptr;
  Result (*cuDevicePrimaryCtxRetain)(Context*, DeviceNumber) = nullptr;
  Result (*cuDevicePrimaryCtxRelease)(DeviceNumber) = nullptr;
  Result (*cuCtxSetCurrent)(Context) = nullptr;
  Result (*cuCtxSynchronize)() = nullptr;
  Result (*cuMemAlloc)(DeviceAddress*, size_t bytes) = nullptr;
  Result (*cuMemFree)(DeviceAddress) = nullptr;
  Result (*cuMemcpyHtoD)(DeviceAddress, const void* host, size_t bytes) = nullptr;
  Result (*cuMemcpyDtoH)(void* host, DeviceAddress, size_t bytes) = nullptr;
  Result (*cuModuleLoadData)(Module*, const void* image) = nullptr;
  Result (*cuModuleUnload)(Module) = nullptr;
  Result (*cuModuleGetFunction)(Function*, Module, const char* name) = nullptr;
  Result (*cuFuncSetAttribute)(Function, int attribute, int value) = nullptr;
  Result (*cuLaunchKernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream, void** parameters,
                           void** extra) = nullptr;

  std::string problem;  // why there is no driver or no device; empty when the calls may be used
  std::string device;   // "NVIDIA H200"
  std::string arch;     // of the device: "sm_90a"
  int version = 0;      // of the driver's CUDA: 13000 is 13.0

  /// DeviceError with the driver's name and text of the code, unless it is 0.
  void check(Result code, const char* call) const;
};

/// The driver, loaded and initialised at the first use, and device 0.
const Driver& driver();

/// Whether there is a GPU, which, and NVRTC to compile for it.
Availability probe_gpu();

}  // namespace tilewright::cuda
