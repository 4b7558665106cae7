#pragma once
// Tile copies between global memory and UB as DataCopyPad: one call for each row.
//
// What DataCopyPad asks: an address in UB is a multiple of 32 bytes, a block is contiguous on both sides, both sides
// have one element type. Into UB it writes whole units of 32 bytes: what a unit has before and after the block gets the
// copy's fill. The rows of a tile begin at multiples of 32 bytes (Memory::row_alignment).
#include <optional>

#include "target/common/c_text.h"

namespace tilewright::ascend {

inline constexpr int64_t kUnit = 32;  // bytes

/// Why a copy of the traced program cannot be such calls, and what can; nothing when it can, or when it stays in UB.
std::optional<std::string> refuse_copy(const ir::Copy& copy);

/// Prints a copy of the final form. UserError where the first element in UB is not known to be aligned.
void print_copy(const ir::Copy& copy, CText& out);

}  // namespace tilewright::ascend
