#include "pass/names.h"

#include <fmt/format.h>

#include "ir/walk.h"

namespace tilewright {

Names::Names(const ir::Ref<ir::Kernel>& kernel) {
  taken_.insert(kernel->name);
  ir::post_order(kernel, [&](const ir::Node& node) {
    if (const auto* v = ir::as<ir::Var>(&node)) taken_.insert(v->name);
    if (const auto* b = ir::as<ir::Buffer>(&node)) taken_.insert(b->name);
  });
}

std::string Names::fresh(const std::string& base) {
  std::string name = base;
  for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

}  // namespace tilewright
