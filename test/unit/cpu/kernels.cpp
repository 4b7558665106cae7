#include "unit/cpu/kernels.h"

#include <fmt/format.h>

#include "ir/walk.h"
#include "machine/launch.h"

namespace tilewright::cpu {

LaunchPlan plan_of(const ir::Ref<ir::Kernel>& kernel) {
  LaunchPlan plan = plan_arguments(*kernel);
  ir::Stmts phases{kernel->body};
  if (const auto* seq = ir::as<ir::Seq>(kernel->body)) phases = seq->stmts;
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto& loop = static_cast<const ir::For&>(*phases[i]);
    Phase phase;
    phase.entry = phases.size() == 1 ? kernel->name : fmt::format("{}_{}", kernel->name, i);
    phase.blocks = formula_of(loop.extents[0], plan);
    ir::post_order(phases[i], [&](const ir::Node& node) {
      const auto* alloc = ir::as<ir::Alloc>(&node);
      if (!alloc) return;
      int64_t count = 1;
      for (const ir::Expr& e : alloc->buffer->shape) count *= static_cast<const ir::Const&>(*e).value.as_int();
      phase.fast_memory_bytes =
          std::max(phase.fast_memory_bytes, alloc->buffer->offset + alloc->buffer->dtype.bytes(count));
    });
    plan.phases.push_back(std::move(phase));
  }
  return plan;
}

TestKernel::TestKernel(const std::string& text, Options options, int threads) : device_(threads) {
  options.verify = true;
  ir::Ref<ir::Kernel> kernel = ir::parse_kernel(text, "test");
  texts_ = CpuTarget(options).compile(kernel, plan_of(kernel));
  if (options.cpu.empty()) loaded_ = device_.load(texts_.artifact);
}

}  // namespace tilewright::cpu
