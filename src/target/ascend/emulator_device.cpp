#include "target/ascend/emulator_device.h"

#include <fmt/format.h>

#include "target/common/emulator/batch.h"
#include "target/common/emulator/engine/engine.h"
#include "target/common/emulator/refuse.h"
#include "target/common/host_compiler.h"

namespace tilewright::ascend {
namespace {

/// One kernel function of a compiled batch.
struct Code {
  std::shared_ptr<const engine::Program> program;
  std::string entry;
};

using Texts = Batch<engine::Text, Code>;

std::vector<Code> compile(const std::vector<engine::Text>& texts) {
  std::vector<engine::Text> named = texts;
  std::vector<Code> codes;
  for (engine::Text& text : named) {
    text.entry = fmt::format("kernel{}", codes.size());
    codes.push_back({nullptr, text.entry});
  }
  auto program = std::make_shared<const engine::Program>(engine::Program::compile(named));
  for (Code& code : codes) code.program = program;
  return codes;
}

Texts& waiting_texts() {
  static Texts texts(compile);
  return texts;
}

/// Faults that a user's program can have; the others are the compiler's.
bool is_users(const Fault& fault) { return fault.kind == "uninitialised" || fault.kind == "cross-core"; }

class EmulatedKernel : public LoadedKernel {
 public:
  EmulatedKernel(const Artifact& artifact, uint64_t seed) : artifact_(artifact), seed_(seed) {
    std::vector<engine::Text> texts;
    for (const Phase& phase : artifact.plan.phases) texts.push_back({phase.entry, artifact.text});
    code_ = waiting_texts().add(std::move(texts));
  }

  void launch(std::span<const Argument> arguments, Location at) override {
    const LaunchPlan& plan = artifact_.plan;
    const BoundArguments bound = bind_arguments(plan, arguments, at);
    std::vector<engine::Argument> values;
    for (size_t i = 0; i < plan.tensors.size(); ++i)
      values.push_back(
          engine::Argument::global(bound.tensors[i], bound.tensor_bytes[i], plan.tensors[i].access != Access::out));
    for (size_t i = 0; i < plan.scalars.size(); ++i) {
      engine::Argument scalar = engine::Argument::scalar(bound.scalars[i]);
      scalar.size = static_cast<uint32_t>(plan.scalars[i].dtype.bytes());
      values.push_back(scalar);
    }
    const std::vector<Code>& code = code_->code();
    for (size_t i = 0; i < plan.phases.size(); ++i) {
      const int64_t cores = launch_size(plan, plan.phases[i], bound, at);
      if (cores == 0) continue;
      const Report report =
          code[i].program->launch(code[i].entry, cores, values, {.deferred = seed_ != 0, .seed = seed_});
      if (!report.clean()) refuse(with_names(report), artifact_, is_users, at);
      for (size_t t = 0; t < plan.tensors.size(); ++t)  // what a phase wrote, the next ones may read
        values[t].defined = values[t].defined || plan.tensors[t].access == Access::out;
    }
  }

 private:
  /// The report with the tensors' own names.
  Report with_names(Report report) const {
    for (Fault& fault : report.faults)
      for (size_t i = artifact_.plan.tensors.size(); i-- > 0;) {
        const std::string number = fmt::format("GM argument {}", i);
        for (size_t at = fault.sentence.find(number); at != std::string::npos; at = fault.sentence.find(number))
          fault.sentence.replace(at, number.size(), artifact_.plan.tensors[i].name);
      }
    return report;
  }

  Artifact artifact_;
  uint64_t seed_;
  std::shared_ptr<Texts::Member> code_;
};

}  // namespace

Availability probe_emulator() {
  try {
    return {true, "the engine emulator, compiled by " + host_compiler()};
  } catch (const DeviceError& e) {
    return {false, e.message()};
  }
}

std::unique_ptr<LoadedKernel> EmulatorDevice::load(const Artifact& artifact) {
  if (artifact.language != "Ascend C")
    throw DeviceError("load", 0,
                      fmt::format("the engine emulator runs Ascend C, the artifact is {}", artifact.language));
  return std::make_unique<EmulatedKernel>(artifact, seed_);
}

}  // namespace tilewright::ascend
