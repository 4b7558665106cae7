#pragma once
// The emulated machine as tables: pipes, memories, events. Sizes are those that a kernel may use.
#include <cstdint>

#include "target/common/emulator/engine/abi.device.h"

namespace tilewright::engine {

struct MemoryInfo {
  const char* name;
  uint32_t bytes;      // usable bytes; 0: this core kind has no such memory
  uint32_t alignment;  // of the start of a tensor, bytes
};

struct EventInfo {
  const char* name;  // "MTE2_V"
  tw_engine::Pipe from, to;
  bool listed;  // in the public list of the documentation
};

inline constexpr int kEvents = 43;
inline constexpr int kEventIds = 8;

/// One kind of core of an architecture.
struct CoreInfo {
  const char* name;
  MemoryInfo memories[tw_engine::kLocalMemories];
  bool pipes[tw_engine::kPipeCount];  // the pipes that it has
  // Whether two operations of one pipe that touch the same bytes need a PipeBarrier of that pipe between them. On 2201:
  // S is kept in order by hardware; in every other pipe operations start in order but overlap, so V needs a barrier
  // between dependent operations (PipeBarrier's documentation) and MTE2 and MTE3 between copies with overlapping
  // destinations (DataCopy's constraints).
  bool overlaps[tw_engine::kPipeCount];
};

/// The vector core of A2/A3.
extern const CoreInfo kAiv2201;
extern const EventInfo kEventTable[kEvents];
extern const char* const kPipeNames[tw_engine::kPipeCount];

/// Bytes of one element.
int bytes_of(uint8_t type);
/// "f32".
const char* name_of_type(uint8_t type);
/// "Add", "DataCopyPad".
const char* name_of_op(const tw_engine::Op& op);
/// The pipe that runs an operation.
tw_engine::Pipe pipe_of(const tw_engine::Op& op);

}  // namespace tilewright::engine
