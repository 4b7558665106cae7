#pragma once
// A faulty launch as an error at the user's line.
#include "runtime/artifact.h"
#include "target/common/emulator/report.h"

namespace tilewright {

/// Throws the report's first fault, at the line that its line of the artifact's text comes from (`at` when unknown);
/// the other faults are notes. A UserError when `is_users` says that a program of the user's can have such a fault,
/// else an InternalError. The report has a fault.
[[noreturn]] void refuse(const Report& report, const Artifact& artifact, bool (*is_users)(const Fault&), Location at);

}  // namespace tilewright
