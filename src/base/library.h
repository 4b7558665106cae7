#pragma once
// A shared library that is looked for while the program runs.
#include <string>
#include <vector>

namespace tilewright {

/// Stays loaded: what a driver or compiler starts, outlives its users.
class DynamicLibrary {
 public:
  /// The first name or path that can be loaded; else nothing is.
  explicit DynamicLibrary(const std::vector<std::string>& names);

  bool is_loaded() const { return handle_ != nullptr; }
  /// The name that was loaded, or what the loader said of each name.
  const std::string& name() const { return name_; }
  const std::string& problem() const { return problem_; }
  /// Sets `function` to the address of the symbol. False, with problem(), when there is none.
  template <class F>
  bool find(const char* symbol, F*& function) {
    function = reinterpret_cast<F*>(address(symbol));
    return function != nullptr;
  }

 private:
  void* address(const char* symbol);

  void* handle_ = nullptr;
  std::string name_, problem_;
};

}  // namespace tilewright
