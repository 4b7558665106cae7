#pragma once
// What the vector operations compute, from the documentation's formulas. Narrow floats are computed in f32 and rounded
// to nearest even; a finite result beyond f16 becomes +-65504 (the documented default). Integers wrap.
#include <cstdint>

#include "target/common/emulator/engine/abi.device.h"

namespace tilewright::engine {

/// Why A2/A3 has no such operation for these element types (and rounding), or nullptr.
const char* refusal(const tw_engine::Op& op);

/// Computes `op.count` elements. A reduction writes its result (ReduceMax and ReduceMin: value and index) to dst.
void compute(const tw_engine::Op& op, uint8_t* dst, const uint8_t* src0, const uint8_t* src1);

/// Bytes that a reduction writes to dst and to its temporary.
int64_t reduction_result_bytes(const tw_engine::Op& op);
int64_t reduction_temporary_bytes(const tw_engine::Op& op);

constexpr bool is_reduction(uint8_t code) { return code >= tw_engine::kOpReduceMax && code <= tw_engine::kOpReduceSum; }
constexpr bool is_copy(uint8_t code) { return code >= tw_engine::kOpCopyIn; }
constexpr bool is_binary(uint8_t code) { return code <= tw_engine::kOpMin; }
constexpr bool is_scalar(uint8_t code) { return code >= tw_engine::kOpAdds && code <= tw_engine::kOpMins; }

}  // namespace tilewright::engine
