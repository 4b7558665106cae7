#pragma once
// The part of a launch that follows the checks of its arguments and limits.
#include <span>

#include "target/common/emulator/simt/library.h"

namespace tilewright::simt {

/// Runs all blocks. Arguments fit the entry and the sizes are within the limits.
Report run_launch(const Library& library, const tw::emu::Entry& entry, Dim3 grid, Dim3 block, int64_t shared_bytes,
                  std::span<const Argument> arguments, const LaunchOptions& options);

}  // namespace tilewright::simt
