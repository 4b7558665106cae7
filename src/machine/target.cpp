#include "machine/target.h"

namespace tilewright {

std::optional<std::string> Target::refuse(const ir::StmtNode&) const { return std::nullopt; }

ir::Stmt Target::lower(const ir::StmtNode&) const { return nullptr; }

}  // namespace tilewright
