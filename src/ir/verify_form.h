#pragma once
// The rules of the three final forms, one phase at a time. Private to the verifier.
#include "ir/verify.h"

namespace tilewright::ir::detail {

/// Throws BrokenPromise: `rule` is broken by the statement or declaration `where`.
[[noreturn]] void broken(Stage stage, const StmtNode& where, const std::string& rule);
[[noreturn]] void broken(Stage stage, const DeclNode& where, const std::string& rule);

/// Checks a phase of a final form; phases of other stages pass. Names and nodes are known to be right.
void verify_form(Stage stage, const StmtNode& phase);

}  // namespace tilewright::ir::detail
