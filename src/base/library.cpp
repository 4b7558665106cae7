#include "base/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace tilewright {

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      name_ = name;
      problem_.clear();
      return;
    }
    problem_ += fmt::format("{}{}", problem_.empty() ? "" : "; ", dlerror());
  }
}

void* DynamicLibrary::address(const char* symbol) {
  void* found = handle_ ? dlsym(handle_, symbol) : nullptr;
  if (!found && handle_) problem_ = fmt::format("{} has no {}", name_, symbol);
  return found;
}

}  // namespace tilewright
