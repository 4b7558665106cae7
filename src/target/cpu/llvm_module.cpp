// Finds and loads the module that holds LLVM.
#include "target/cpu/llvm_module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace tilewright::cpu {
namespace {

using CompileFunction = void (*)(const CompileRequest*, CompileResult*);
constexpr const char* kModule = "libtilewright_llvm.so";

/// $TILEWRIGHT_LLVM, next to the executable or library that holds this code, in lib/ beside its folder, and where the
/// loader looks: first in the run path of that executable or library, which CMake sets to the folder of the module.
std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  if (const char* given = std::getenv("TILEWRIGHT_LLVM")) paths.push_back(given);
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&candidates), &info) && info.dli_fname) {
    // A program that was found through PATH has no folder in its name.
    std::string here = std::strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
    if (char* real = realpath(here.c_str(), nullptr)) {
      here = real;
      std::free(real);
    }
    const std::string folder = here.substr(0, here.rfind('/'));
    paths.push_back(folder + "/" + kModule);
    paths.push_back(folder + "/../lib/" + kModule);
  }
  paths.push_back(kModule);
  return paths;
}

struct Loaded {
  CompileFunction compile = nullptr;
  std::string errors;
};

const Loaded& loaded() {
  static const Loaded value = [] {
    Loaded l;
    for (const std::string& path : candidates()) {
      void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (module) {
        l.compile = reinterpret_cast<CompileFunction>(dlsym(module, "tilewright_llvm_compile"));
        if (l.compile) break;
      }
      const char* why = dlerror();
      if (!l.errors.empty()) l.errors += "; ";
      l.errors += why ? why : path;
    }
    return l;
  }();
  return value;
}

}  // namespace

CompileResult compile(const CompileRequest& request) {
  const Loaded& module = loaded();
  if (!module.compile)
    throw DeviceError(
        "dlopen", 0,
        std::string("the CPU target cannot load ") + kModule + " (set TILEWRIGHT_LLVM to its path): " + module.errors);
  CompileResult result;
  module.compile(&request, &result);
  if (!result.error.empty()) throw InternalError(result.error);
  return result;
}

}  // namespace tilewright::cpu
