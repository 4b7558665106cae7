#include "jit/machine_list.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "jit/capabilities.h"
#include "target/ascend/ascend_target.h"
#include "target/ascend/emulator_device.h"
#include "target/cuda/cuda_target.h"
#include "target/cuda/emulator_device.h"
#include "target/cuda/gpu_device.h"
#include "target/interp/interp_target.h"
#ifdef TW_HAVE_CPU
#include "target/cpu/cpu_device.h"
#include "target/cpu/cpu_target.h"
#endif

namespace tilewright {
namespace {

std::pair<bool, std::string> always(const char* what) { return {true, what}; }

const Target& interp_target() {
  static const interp::InterpTarget target;
  return target;
}

#ifdef TW_HAVE_CPU
const Target& cpu_target() {
  static const cpu::CpuTarget target;
  return target;
}

/// Kernels of one thread count share a device, so that their launches take turns on its threads.
std::shared_ptr<Device> cpu_device(int threads) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<cpu::CpuDevice>> devices;
  const std::lock_guard lock(mutex);
  std::weak_ptr<cpu::CpuDevice>& known = devices[threads];
  std::shared_ptr<cpu::CpuDevice> device = known.lock();
  if (!device) known = device = std::make_shared<cpu::CpuDevice>(threads);
  return device;
}
#endif

const Target& emulated_cuda_target() {
  static const cuda::CudaTarget target("sm_90a");
  return target;
}

/// For the GPU that is here; elsewhere its text can be looked at for the least architecture.
const Target& cuda_target() {
  static const cuda::CudaTarget target(cuda::driver().problem.empty() ? cuda::driver().arch : "sm_80");
  return target;
}

/// All kernels share the device.
std::shared_ptr<Device> gpu_device() {
  static std::mutex mutex;
  static std::weak_ptr<Device> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Device> device = known.lock();
  if (!device) known = device = std::make_shared<cuda::GpuDevice>();
  return device;
}

const Target& ascend_target() {
  static const ascend::AscendTarget target;
  return target;
}

std::pair<bool, std::string> answer(const Availability& a) { return {a.available, a.reason}; }

}  // namespace

const std::vector<Machine>& machine_list() {
  static const std::vector<Machine> list = {
      {"interp", "interpreter", interp_target, [] { return always("the interpreter on this host"); },
       [](const CompileOptions& options) -> std::shared_ptr<Device> {
         return std::make_shared<interp::InterpDevice>(interp::Options{.checked = options.checked});
       },
       true},
#ifdef TW_HAVE_CPU
      {"cpu", "host CPU", cpu_target, [] { return always("LLVM on this host"); },
       [](const CompileOptions& options) -> std::shared_ptr<Device> { return cpu_device(options.threads); }},
#endif
      {"cuda", "NVIDIA GPU", cuda_target, [] { return answer(cuda::probe_gpu()); },
       [](const CompileOptions&) { return gpu_device(); }},
      {"cuda-emulator", "SIMT emulator", emulated_cuda_target, [] { return answer(cuda::probe_emulator()); },
       [](const CompileOptions& options) -> std::shared_ptr<Device> {
         return std::make_shared<cuda::EmulatorDevice>(options.seed);
       }},
      {"ascend-emulator", "engine emulator", ascend_target, [] { return answer(ascend::probe_emulator()); },
       [](const CompileOptions& options) -> std::shared_ptr<Device> {
         return std::make_shared<ascend::EmulatorDevice>(options.seed);
       }},
  };
  return list;
}

const Machine& find_machine(const std::string& name, bool must_run, Location at) {
  std::string known;
  for (const Machine& m : machine_list()) {
    if (m.name == name) {
      auto [available, reason] = m.probe();
      if (must_run && !available) throw UserError(at, fmt::format("machine {}: not available here: {}", name, reason));
      return m;
    }
    known += (known.empty() ? "" : ", ") + m.name;
  }
  throw UserError(at, fmt::format("no machine named '{}'; this build has {}", name, known));
}

std::vector<MachineInfo> machines() {
  std::vector<MachineInfo> infos;
  for (const Machine& m : machine_list()) {
    auto [available, reason] = m.probe();
    const Caps& caps = m.target().caps();
    infos.push_back({m.name, caps.target, m.device, available, reason, capabilities(caps, m.traced)});
  }
  return infos;
}

}  // namespace tilewright
