#include "target/cpu/cpu_target.h"

#include "target/cpu/llvm_module.h"

namespace tilewright::cpu {

CpuTarget::CpuTarget(Options options)
    : options_(std::move(options)), caps_(make_caps(options_.cpu.empty() ? host_arch() : options_.cpu)) {}

std::optional<std::string> CpuTarget::refuse(const ir::StmtNode& statement) const {
  if (const auto* alloc = ir::as<ir::Alloc>(&statement); alloc && alloc->buffer->dtype.lanes != 1)
    return "the CPU target has no tiles of vector types such as " + to_string(alloc->buffer->dtype) + "; use " +
           to_string(alloc->buffer->dtype.scalar()) + " with one more dimension";
  return std::nullopt;
}

CodeTexts CpuTarget::run(const ir::Ref<ir::Kernel>& kernel, const LaunchPlan& plan, bool all_texts) const {
  CompileRequest request;
  request.kernel = kernel;
  request.plan = &plan;
  request.cpu = options_.cpu;
  request.opt_level = options_.opt_level;
  request.verify = options_.verify;
#ifndef NDEBUG
  request.verify = true;
#endif
  request.plain_text = request.assembly = all_texts;
  CompileResult result = cpu::compile(request);
  CodeTexts all;
  all.artifact = {"cpu", result.cpu, "LLVM IR", std::move(result.text), std::move(result.object), plan};
  all.plain_text = std::move(result.plain_text);
  all.assembly = std::move(result.assembly);
  all.notes = std::move(result.notes);
  return all;
}

Artifact CpuTarget::emit(const ir::Ref<ir::Kernel>& final_stage, const LaunchPlan& plan) const {
  return run(final_stage, plan, false).artifact;
}

CodeTexts CpuTarget::compile(const ir::Ref<ir::Kernel>& final_stage, const LaunchPlan& plan) const {
  return run(final_stage, plan, true);
}

std::vector<std::string> CpuTarget::listings() const { return {"plain", "assembly", "notes"}; }

std::string CpuTarget::listing(const std::string& name, const ir::Ref<ir::Kernel>& final_stage,
                               const LaunchPlan& plan) const {
  CodeTexts texts = compile(final_stage, plan);
  if (name == "plain") return texts.plain_text;
  if (name == "assembly") return texts.assembly;
  if (name != "notes") return Target::listing(name, final_stage, plan);
  std::string all;
  for (const std::string& note : texts.notes) all += note + "\n";
  return all;
}

}  // namespace tilewright::cpu
