#include "target/cuda/driver.h"

#include <fmt/format.h>

#include "base/library.h"
#include "target/cuda/nvrtc.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

// Numbers of the driver's interface.
constexpr int kComputeCapabilityMajor = 75, kComputeCapabilityMinor = 76;

bool find_all(DynamicLibrary& library, Driver& d) {
  // Calls whose meaning changed have a suffix since then.
  return library.find("cuInit", d.cuInit) && library.find("cuDriverGetVersion", d.cuDriverGetVersion) &&
         library.find("cuGetErrorName", d.cuGetErrorName) && library.find("cuGetErrorString", d.cuGetErrorString) &&
         library.find("cuDeviceGetCount", d.cuDeviceGetCount) && library.find("cuDeviceGet", d.cuDeviceGet) &&
         library.find("cuDeviceGetName", d.cuDeviceGetName) &&
         library.find("cuDeviceGetAttribute", d.cuDeviceGetAttribute) &&
         library.find("cuDevicePrimaryCtxRetain", d.cuDevicePrimaryCtxRetain) &&
         library.find("cuDevicePrimaryCtxRelease_v2", d.cuDevicePrimaryCtxRelease) &&
         library.find("cuCtxSetCurrent", d.cuCtxSetCurrent) && library.find("cuCtxSynchronize", d.cuCtxSynchronize) &&
         library.find("cuMemAlloc_v2", d.cuMemAlloc) && library.find("cuMemFree_v2", d.cuMemFree) &&
         library.find("cuMemcpyHtoD_v2", d.cuMemcpyHtoD) && library.find("cuMemcpyDtoH_v2", d.cuMemcpyDtoH) &&
         library.find("cuModuleLoadData", d.cuModuleLoadData) && library.find("cuModuleUnload", d.cuModuleUnload) &&
         library.find("cuModuleGetFunction", d.cuModuleGetFunction) &&
         library.find("cuFuncSetAttribute", d.cuFuncSetAttribute) && library.find("cuLaunchKernel", d.cuLaunchKernel);
}

/// "sm_90a" for capability 9.0: code for this chip alone, with all that it has.
std::string arch_of(int major, int minor) { return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : ""); }

/// Finds device 0.
void find_device(Driver& d) {
  int count = 0;
  DeviceNumber device = 0;
  d.check(d.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) {
    d.problem = "the NVIDIA driver is here, but it has no GPU";
    return;
  }
  d.check(d.cuDeviceGet(&device, 0), "cuDeviceGet");
  char name[256] = "";
  int major = 0, minor = 0;
  d.check(d.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  d.check(d.cuDeviceGetAttribute(&major, kComputeCapabilityMajor, device), "cuDeviceGetAttribute");
  d.check(d.cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, device), "cuDeviceGetAttribute");
  d.check(d.cuDriverGetVersion(&d.version), "cuDriverGetVersion");
  d.device = name;
  d.arch = arch_of(major, minor);
  if (major < 8) d.problem = fmt::format("{} is of architecture {}; sm_80 is the least", d.device, d.arch);
}

Driver load() {
  Driver d;
  DynamicLibrary library({"libcuda.so.1"});
  if (!library.is_loaded() || !find_all(library, d)) {
    d.problem =
        fmt::format("no NVIDIA driver can be loaded ({}): install the driver of an NVIDIA GPU", library.problem());
    return d;
  }
  try {
    d.check(d.cuInit(0), "cuInit");
    find_device(d);
  } catch (const DeviceError& e) {
    d.problem = e.message();
  }
  return d;
}

}  // namespace

void Driver::check(Result code, const char* call) const {
  if (code == 0) return;
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(code, &name);
  cuGetErrorString(code, &text);
  throw DeviceError(call, code, fmt::format("{}: {}", name ? name : "unknown error", text ? text : "no text"));
}

const Driver& driver() {
  static const Driver loaded = load();
  return loaded;
}

Availability probe_gpu() {
  const Driver& d = driver();
  if (!d.problem.empty()) return {false, d.problem};
  const Availability compiler = Nvrtc().probe();
  if (!compiler.available) return {false, fmt::format("{} is here, but {}", d.device, compiler.reason)};
  return {true, fmt::format("{} ({}), driver for CUDA {}.{}, {}", d.device, d.arch, d.version / 1000,
                            d.version % 1000 / 10, compiler.reason)};
}

}  // namespace tilewright::cuda
