// The one list of passes, and the loop that runs it. The pass `simplify` is the rewriter of src/ir.
#include <fmt/format.h>

#include "ir/simplify.h"
#include "ir/verify.h"
#include "machine/launch.h"
#include "pass/passes.h"

namespace tilewright {

using namespace ir;

KernelRef simplify(const KernelRef& kernel, PassContext&) { return ir::simplify(kernel); }

std::vector<Pass> pipeline(Model model) {
  static const Pass kAll[] = {
      // name, function; for the models loops, threads, engines; the stage it takes
      {"simplify", simplify, true, true, true, {}},
      {"check_machine", check_machine, true, true, true, Stage::traced},
      {"evaluate_once", evaluate_once, true, true, true, Stage::traced},
      {"plan_grid", plan_grid, true, true, true, Stage::traced},
      {"place", place, true, true, true, Stage::planned},
      {"infer_layouts", infer_layouts, false, true, false, Stage::placed},
      {"assign_engines", assign_engines, false, false, true, Stage::placed},
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

Compilation run_pipeline(const KernelRef& traced, const Target& target, PassObserver* observer, int opt_level) {
  PassContext context{target, {}, opt_level};
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
  Compilation result{kernel, plan_launch(*kernel, *traced, target.caps()), std::move(context.remarks)};
  return result;
}

}  // namespace tilewright
