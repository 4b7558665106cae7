#include "target/cuda/emulator_device.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "base/check.h"
#include "runtime/artifact.h"
#include "target/common/host_compiler.h"

namespace tilewright::cuda {
namespace {

/// A text on its way to being code; the kernels of all its phases.
struct Waiting {
  const Artifact* artifact;
  std::vector<simt::Kernel> phases;
};

/// The texts that were loaded and never launched, of the whole process: one run of the host's compiler costs much more
/// than one kernel does.
class Batch {
 public:
  static Batch& instance() {
    static Batch batch;
    return batch;
  }

  void add(const std::shared_ptr<Waiting>& text) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(text);
  }

  /// Compiles what waits, unless `text` is compiled.
  void compile(const std::shared_ptr<Waiting>& text) {
    const std::lock_guard lock(mutex_);
    if (!text->phases.empty()) return;
    std::vector<std::shared_ptr<Waiting>> batch;
    std::vector<simt::KernelText> texts;
    for (const std::weak_ptr<Waiting>& w : waiting_) {
      std::shared_ptr<Waiting> member = w.lock();
      if (!member) continue;
      for (const Phase& phase : member->artifact->plan.phases) texts.push_back({phase.entry, member->artifact->text});
      batch.push_back(std::move(member));
    }
    waiting_.clear();
    std::vector<simt::Kernel> kernels = simt::compile_batch(texts);
    auto next = kernels.begin();
    for (const std::shared_ptr<Waiting>& member : batch)
      for (size_t i = 0; i < member->artifact->plan.phases.size(); ++i) member->phases.push_back(*next++);
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Waiting>> waiting_;
};

char kind_of(DType type) { return type.is_bool() ? 'o' : type.is_float() ? 'f' : type.is_signed_int() ? 'i' : 'u'; }

class EmulatedKernel : public LoadedKernel {
 public:
  EmulatedKernel(const Artifact& artifact, uint64_t seed)
      : artifact_(artifact), seed_(seed), code_(std::make_shared<Waiting>(Waiting{&artifact_, {}})) {
    Batch::instance().add(code_);
  }

  void launch(std::span<const Argument> arguments, Location at) override {
    const LaunchPlan& plan = artifact_.plan;
    BoundArguments bound = bind_arguments(plan, arguments, at);
    Batch::instance().compile(code_);
    std::vector<simt::Argument> values;
    for (size_t i = 0; i < plan.tensors.size(); ++i)
      values.push_back(simt::Argument::buffer(plan.tensors[i].name, bound.tensors[i], bound.tensor_bytes[i]));
    for (size_t i = 0; i < plan.scalars.size(); ++i) {
      DType type = plan.scalars[i].dtype;
      values.push_back(simt::Argument::scalar(kind_of(type), &bound.scalars[i], static_cast<size_t>(type.bytes())));
    }
    for (size_t i = 0; i < plan.phases.size(); ++i) {
      const Phase& phase = plan.phases[i];
      int64_t blocks = phase.blocks.evaluate(bound.formula_scalars);
      if (blocks <= 0) continue;
      simt::Report report =
          simt::launch(code_->phases[i], {blocks}, {phase.threads}, phase.fast_memory_bytes, values, {.seed = seed_});
      if (!report.clean()) refuse(report, at);
    }
  }

 private:
  /// The user's line of a line of the text.
  Location user_line(int line, Location otherwise) const {
    const auto n = static_cast<size_t>(line);
    return line > 0 && n <= artifact_.lines.size() && artifact_.lines[n - 1] ? artifact_.lines[n - 1] : otherwise;
  }

  [[noreturn]] void refuse(const simt::Report& report, Location at) const {
    std::vector<Note> notes;
    const simt::Fault& first = report.faults.at(0);
    if (first.earlier.line > 0) notes.push_back({user_line(first.earlier.line, at), "the other access is here"});
    for (size_t i = 1; i < report.faults.size(); ++i)
      notes.push_back({user_line(report.faults[i].access.line, at), report.faults[i].text});
    if (static_cast<size_t>(report.total) > report.faults.size())
      notes.push_back({at, fmt::format("and {} more", report.total - static_cast<int64_t>(report.faults.size()))});
    throw UserError(user_line(first.access.line ? first.access.line : first.earlier.line, at),
                    fmt::format("{}: {}: {}", artifact_.plan.kernel, simt::to_string(first.kind), first.text), notes);
  }

  Artifact artifact_;
  uint64_t seed_;
  std::shared_ptr<Waiting> code_;
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
