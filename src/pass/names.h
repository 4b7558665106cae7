#pragma once
// Fresh names for what a pass adds: names are unique in a kernel.
#include <set>
#include <string>

#include "ir/nodes.h"

namespace tilewright {

class Names {
 public:
  explicit Names(const ir::Ref<ir::Kernel>& kernel);
  /// `base` itself when it is free, else base_1, base_2, ...
  std::string fresh(const std::string& base);
  ir::Ref<ir::Var> var(const std::string& base, DType type = i64) { return ir::make<ir::Var>(fresh(base), type); }

 private:
  std::set<std::string> taken_;
};

}  // namespace tilewright
