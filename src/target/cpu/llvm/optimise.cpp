// The passes that an emitted function needs, as a pipeline text of LLVM's pass builder. The standard pipelines spend
// two thirds of their time on what our functions do not have (calls, exceptions, globals) and unroll far more than
// pays.
#include "target/cpu/llvm/optimise.h"

#include <llvm/Passes/PassBuilder.h>

#include "base/check.h"

namespace tilewright::cpu {
namespace {

/// Level 0: stack slots to registers, common subexpressions, dead branches.
constexpr const char* kScalar =
    "function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)";

constexpr const char* kVector =
    "function("
    // Slots to registers, invariants out of loops, copy loops to memcpy.
    "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm<allowspeculation>),loop(indvars,loop-idiom,loop-deletion),"
    // Loops of up to 3 iterations, and those that ask for it, vanish before vectorisation: what is around them is then
    // innermost.
    "loop-unroll<O2;no-partial;no-runtime;full-unroll-max=3>,"
    "sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(licm<allowspeculation>),"
    "loop-vectorize<no-interleave-forced-only;no-vectorize-forced-only>,"
    "instcombine<no-verify-fixpoint>,slp-vectorizer,vector-combine,simplifycfg,"
    // A vector loop over the columns of a small tile vanishes, so that a row of accumulators stays in registers through
    // the loop around it.
    "loop-unroll<O2;no-partial;no-runtime;full-unroll-max=8>,transform-warning,"
    "sroa<modify-cfg>,instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),early-cse<memssa>,simplifycfg)";

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::Error error = builder.parsePassPipeline(passes, level > 0 ? kVector : kScalar);
  TW_CHECK(!error, "cpu: LLVM refuses the pipeline: " + llvm::toString(std::move(error)));
  passes.run(module, modules);
}

}  // namespace tilewright::cpu
