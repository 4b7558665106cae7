// The one list of passes, and the loop that runs it.
#include <fmt/format.h>

#include "base/check.h"
#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "machine/launch.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

LaunchPlan finish_launch_plan(const KernelRef& kernel, const KernelRef& traced, const Caps& caps) {
  LaunchPlan plan = plan_arguments(*kernel);
  // Accesses are facts of the program that the user wrote, not of how it was lowered.
  std::vector<Access> access = infer_access(*traced);
  for (size_t i = 0; i < plan.tensors.size(); ++i) plan.tensors[i].access = access[i];
  Stmts phases;
  Stmt all = sequence({kernel->body});
  if (const auto* seq = as<Seq>(all))
    phases = seq->stmts;
  else
    phases.push_back(all);
  for (size_t i = 0; i < phases.size(); ++i) {
    const auto* loop = as<For>(phases[i]);
    TW_CHECK(loop && loop->extents.size() == 1, "a phase is not one loop over blocks or cores");
    Phase phase;
    phase.entry = phases.size() == 1 ? kernel->name : fmt::format("{}_{}", kernel->name, i);
    phase.blocks = formula_of(loop->extents[0], plan);
    post_order(phases[i], [&](const Node& node) {
      if (const auto* inner = as<For>(&node); inner && inner->how == LoopKind::threads)
        is_constant(inner->extents[0], &phase.threads);
      const auto* alloc = as<Alloc>(&node);
      if (!alloc || alloc->buffer->memory == caps.iteration_memory) return;
      const Memory* memory = caps.memory(alloc->buffer->memory);
      TW_CHECK(memory, "an alloc has no memory");
      int64_t count = 1, extent = 1;
      for (const Expr& e : alloc->buffer->shape) count *= is_constant(e, &extent) ? extent : 1;
      phase.fast_memory_bytes =
          std::max(phase.fast_memory_bytes, alloc->buffer->offset + alloc->buffer->dtype.bytes(count));
    });
    plan.phases.push_back(std::move(phase));
  }
  return plan;
}

}  // namespace

KernelRef simplify(const KernelRef& kernel, PassContext&) { return ir::simplify(kernel); }

std::vector<Pass> pipeline(Model model) {
  static const Pass kAll[] = {
      // name, function; for the models loops, threads, engines; the stage it takes
      {"simplify", simplify, true, true, true, {}},
      {"check_machine", check_machine, true, true, true, Stage::traced},
      {"evaluate_once", evaluate_once, true, true, true, Stage::traced},
      {"plan_grid", plan_grid, true, true, true, Stage::traced},
      {"place", place, true, true, true, Stage::planned},
      {"guard_accesses", guard_accesses, true, true, true, Stage::placed},
      {"lower_tiles", lower_tiles, true, true, true, Stage::placed},
      {"simplify", simplify, true, true, true, {}},
      {"plan_memory", plan_memory, true, true, true, Stage::lowered},
      {"synchronise_threads", synchronise_threads, false, true, false, Stage::lowered},
      {"synchronise_engines", synchronise_engines, false, false, true, Stage::lowered},
      {"finish_form", finish_form, true, true, true, Stage::lowered},
      {"simplify", simplify, true, true, true, {}},
  };
  std::vector<Pass> chosen;
  for (const Pass& pass : kAll)
    if ((model == Model::loops && pass.loops) || (model == Model::threads && pass.threads) ||
        (model == Model::engines && pass.engines))
      chosen.push_back(pass);
  return chosen;
}

Compilation run_pipeline(const KernelRef& traced, const Target& target, PassObserver* observer) {
  PassContext context{target, {}};
  KernelRef kernel = traced;
  for (const Pass& pass : pipeline(target.caps().model)) {
    try {
      kernel = pass.run(kernel, context);
#ifndef NDEBUG
      ir::verify(kernel);
#endif
    } catch (const InternalError& e) {
      throw InternalError(fmt::format("pass {}: {}", pass.name, e.message()), e.location());
    }
    if (observer) observer->after(pass.name, kernel);
  }
  ir::verify(kernel);
  Compilation result{kernel, finish_launch_plan(kernel, traced, target.caps()), std::move(context.remarks)};
  return result;
}

}  // namespace tilewright
