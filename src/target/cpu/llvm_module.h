#pragma once
// The boundary between the CPU target and the module that holds LLVM. Plain data and three functions; nothing throws
// across it. Both sides are built together, so C++ types may cross.
#include <string>
#include <vector>

#include "ir/nodes.h"
#include "runtime/launch_plan.h"

namespace tilewright::cpu {

struct CompileRequest {
  ir::Ref<ir::Kernel> kernel;  // stage loops
  const LaunchPlan* plan = nullptr;
  std::string cpu;          // an LLVM CPU name ("znver4", "x86-64-v3"); empty = this machine
  int opt_level = 3;        // 0: scalar code; 1 and more: vectorised
  bool verify = false;      // run LLVM's verifier on what was emitted
  bool plain_text = false;  // fill CompileResult::plain_text
  bool assembly = false;    // fill CompileResult::assembly
};

struct CompileResult {
  std::string error;             // empty = success; otherwise a fault of ours: what the emitter did not expect
  std::string cpu;               // the CPU that the code is for
  std::string plain_text, text;  // LLVM IR before and after optimisation
  std::string assembly;
  std::string object;              // an object file of this machine's format
  std::vector<std::string> notes;  // what LLVM was asked for and did not do: "loop not vectorized: ..."
};

}  // namespace tilewright::cpu

extern "C" {
/// Compiles; safe to call from several threads.
void tilewright_llvm_compile(const tilewright::cpu::CompileRequest* request, tilewright::cpu::CompileResult* result);
}

namespace tilewright::cpu {

/// The symbol of a phase's entry in the object file.
inline std::string symbol_of(const std::string& entry) { return "tilewright_" + entry; }

/// tilewright_llvm_compile of the module, which is loaded at the first call. DeviceError when the module cannot be
/// loaded; InternalError with CompileResult::error.
CompileResult compile(const CompileRequest& request);

}  // namespace tilewright::cpu
