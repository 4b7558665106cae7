#include "target/cuda/emulator_device.h"

#include <fmt/format.h>

#include "target/common/emulator/batch.h"
#include "target/common/emulator/refuse.h"
#include "target/common/emulator/simt/simt.h"
#include "target/common/host_compiler.h"

namespace tilewright::cuda {
namespace {

using Texts = Batch<simt::KernelText, simt::Kernel>;

Texts& waiting_texts() {
  static Texts texts([](const std::vector<simt::KernelText>& all) { return simt::compile_batch(all); });
  return texts;
}

char kind_of(DType type) { return type.is_bool() ? 'o' : type.is_float() ? 'f' : type.is_signed_int() ? 'i' : 'u'; }

/// The others are the compiler's: it guards accesses, aligns them and places barriers where all threads come.
bool is_users(const Fault& fault) {
  for (simt::FaultKind kind : {simt::FaultKind::out_of_bounds_read, simt::FaultKind::out_of_bounds_write,
                               simt::FaultKind::misaligned, simt::FaultKind::barrier_divergence})
    if (fault.kind == simt::to_string(kind)) return false;
  return true;
}

class EmulatedKernel : public LoadedKernel {
 public:
  EmulatedKernel(const Artifact& artifact, uint64_t seed) : artifact_(artifact), seed_(seed) {
    std::vector<simt::KernelText> texts;
    for (const Phase& phase : artifact.plan.phases) texts.push_back({phase.entry, artifact.text});
    code_ = waiting_texts().add(std::move(texts));
  }

  void launch(std::span<const Argument> arguments, Location at) override {
    const LaunchPlan& plan = artifact_.plan;
    const BoundArguments bound = bind_arguments(plan, arguments, at);
    std::vector<simt::Argument> values;
    for (size_t i = 0; i < plan.tensors.size(); ++i)
      values.push_back(simt::Argument::buffer(plan.tensors[i].name, bound.tensors[i], bound.tensor_bytes[i]));
    for (size_t i = 0; i < plan.scalars.size(); ++i) {
      const DType type = plan.scalars[i].dtype;
      values.push_back(simt::Argument::scalar(kind_of(type), &bound.scalars[i], static_cast<size_t>(type.bytes())));
    }
    const std::vector<simt::Kernel>& code = code_->code();
    for (size_t i = 0; i < plan.phases.size(); ++i) {
      const Phase& phase = plan.phases[i];
      const int64_t blocks = launch_size(plan, phase, bound, at);
      if (blocks == 0) continue;
      const simt::Report report =
          simt::launch(code[i], {blocks}, {phase.threads}, phase.fast_memory_bytes, values, {.seed = seed_});
      if (!report.clean()) refuse(report.common(plan.kernel), artifact_, is_users, at);
    }
  }

 private:
  Artifact artifact_;
  uint64_t seed_;
  std::shared_ptr<Texts::Member> code_;
};

}  // namespace

Availability probe_emulator() {
  try {
    return {true, "the SIMT emulator, compiled by " + host_compiler()};
  } catch (const DeviceError& e) {
    return {false, e.message()};
  }
}

std::unique_ptr<LoadedKernel> EmulatorDevice::load(const Artifact& artifact) {
  if (artifact.language != "CUDA C++")
    throw DeviceError("load", 0, fmt::format("the SIMT emulator runs CUDA C++, the artifact is {}", artifact.language));
  return std::make_unique<EmulatedKernel>(artifact, seed_);
}

}  // namespace tilewright::cuda
