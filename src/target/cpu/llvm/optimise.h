#pragma once
// LLVM's optimiser on one emitted module.
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace tilewright::cpu {

/// Level 0: scalar clean-up, statements in program order. Levels above: loops vectorised, accumulators in registers.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level);

}  // namespace tilewright::cpu
