#pragma once
// What one vector core cannot do with a statement of the traced program, as a sentence.
#include <optional>

#include "ir/nodes.h"

namespace tilewright::ascend {

std::optional<std::string> refuse_statement(const ir::StmtNode& statement);

}  // namespace tilewright::ascend
