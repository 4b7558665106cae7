#include "machine/target.h"

namespace tilewright {

std::optional<std::string> Target::refuse(const ir::StmtNode&) const { return std::nullopt; }

ir::Stmt Target::lower(const ir::StmtNode&) const { return nullptr; }

std::string Target::listing(const std::string& name, const ir::Ref<ir::Kernel>&, const LaunchPlan&) const {
  throw InternalError(caps().target + " has no listing named " + name);
}

}  // namespace tilewright
