// The exported functions of the module: emission, LLVM's optimiser, code generation.
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <chrono>
#include <mutex>

#include "target/cpu/llvm/emitter.h"
#include "target/cpu/llvm/optimise.h"
#include "target/cpu/llvm_module.h"

namespace tilewright::cpu {
namespace {

/// What is asked of the machine once.
struct Host {
  std::string triple, cpu, features;
  const llvm::Target* target = nullptr;
  std::string error;
};

const Host& host() {
  static const Host value = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    Host h;
    h.triple = llvm::sys::getProcessTriple();
    h.cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) features.AddFeature(feature.first(), feature.second);
    h.features = features.getString();
    h.target = llvm::TargetRegistry::lookupTarget(h.triple, h.error);
    return h;
  }();
  return value;
}

/// Keeps what LLVM says (by default it prints to stderr, and ends the process at an error).
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(CompileResult& r) : result(r) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    stream.flush();
    if (info.getSeverity() == llvm::DS_Error)
      result.error = "LLVM: " + text;
    else if (info.getSeverity() == llvm::DS_Warning)
      result.notes.push_back(text);
    return true;
  }
  CompileResult& result;
};

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

/// Object file or assembly text; empty when the machine cannot write it.
std::string generate(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) return {};
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

void compile_checked(const CompileRequest& request, CompileResult& result) {
  const Host& h = host();
  if (!h.target) {
    result.error = "LLVM has no target for this machine: " + h.error;
    return;
  }
  result.cpu = request.cpu.empty() ? h.cpu : request.cpu;
  const std::string& features = request.cpu.empty() ? h.features : std::string();
  std::unique_ptr<llvm::MCSubtargetInfo> known(h.target->createMCSubtargetInfo(h.triple, "", ""));
  if (known && !known->isCPUStringValid(result.cpu)) {
    result.error = "LLVM knows no CPU named " + result.cpu;
    return;
  }
  std::unique_ptr<llvm::TargetMachine> machine(h.target->createTargetMachine(
      h.triple, result.cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_, llvm::CodeModel::Small,
      request.opt_level > 0 ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::Less));
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(result));
  llvm::Module module(request.kernel->name, context);
  module.setTargetTriple(h.triple);
  module.setDataLayout(machine->createDataLayout());
  Emitter(module, *request.kernel, *request.plan, {{"target-cpu", result.cpu}, {"target-features", features}}).emit();
  if (request.plain_text) result.plain_text = text_of(module);
  if (request.verify) {
    llvm::raw_string_ostream stream(result.error);
    if (llvm::verifyModule(module, &stream)) {
      result.error = "the emitted LLVM IR is malformed: " + stream.str();
      return;
    }
  }
  optimise(module, *machine, request.opt_level);
  result.text = text_of(module);
  if (request.assembly)
    result.assembly = generate(*llvm::CloneModule(module), *machine, llvm::CodeGenFileType::AssemblyFile);
  result.object = generate(module, *machine, llvm::CodeGenFileType::ObjectFile);
  if (result.object.empty() && result.error.empty()) result.error = "LLVM writes no object files for this machine";
}

}  // namespace
}  // namespace tilewright::cpu

extern "C" [[gnu::visibility("default")]] void tilewright_llvm_compile(const tilewright::cpu::CompileRequest* request,
                                                                       tilewright::cpu::CompileResult* result) {
  try {
    tilewright::cpu::compile_checked(*request, *result);
  } catch (const tilewright::Error& e) {
    result->error = e.message();
  } catch (const std::exception& e) {
    result->error = e.what();
  }
}
