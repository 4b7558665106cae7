#include "target/interp/interp_target.h"

#include <fmt/format.h>

#include "ir/text.h"

namespace tilewright::interp {
namespace {

class InterpretedKernel : public LoadedKernel {
 public:
  InterpretedKernel(const Artifact& artifact, Options options)
      : kernel_(ir::parse_kernel(artifact.text, "interp")), plan_(artifact.plan), options_(options) {}

  void launch(std::span<const Argument> arguments, Location at) override {
    std::vector<Finding> findings = interpret(kernel_, plan_, bind_arguments(plan_, arguments, at), options_);
    if (findings.empty()) return;
    std::vector<Note> notes;
    for (size_t i = 1; i < findings.size(); ++i) notes.push_back({findings[i].at, findings[i].text});
    throw UserError(findings[0].at ? findings[0].at : at, fmt::format("{}: {}", plan_.kernel, findings[0].text), notes);
  }

 private:
  ir::Ref<ir::Kernel> kernel_;
  LaunchPlan plan_;
  Options options_;
};

}  // namespace

const Caps& InterpTarget::caps() const {
  static const Caps caps = [] {
    Caps c;
    c.target = c.arch = "interp";
    return c;
  }();
  return caps;
}

Artifact InterpTarget::emit(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan) const {
  ir::PrintOptions options;
  options.locations = true;
  return {"interp", "interp", "IR", ir::print(kernel, options), "", plan};
}

std::unique_ptr<LoadedKernel> InterpDevice::load(const Artifact& artifact) {
  return std::make_unique<InterpretedKernel>(artifact, options_);
}

}  // namespace tilewright::interp
