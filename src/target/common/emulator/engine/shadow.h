#pragma once
// What the checker remembers of each byte of a memory: who read and wrote it last, and whether it has a value.
#include <cstdint>
#include <vector>

#include "target/common/emulator/engine/machine.h"

namespace tilewright::engine {

/// For each pipe the number of its last operation that is known to be complete. Operations of a pipe are numbered from
/// 1 and go on over the cores of a launch.
struct Clock {
  uint32_t at[tw_engine::kPipeCount] = {};

  void join(const Clock& other) {
    for (int p = 0; p < tw_engine::kPipeCount; ++p) at[p] = at[p] < other.at[p] ? other.at[p] : at[p];
  }
};

/// Two accesses without an order between them.
struct Conflict {
  const char* kind;       // "raw", "war", "waw"
  tw_engine::Pipe other;  // the earlier access
  uint32_t tick = 0;      // its operation
  int64_t offset = 0, bytes = 0;
};

class Shadow {
 public:
  Shadow(int64_t bytes, bool defined) : bytes_(bytes), defined_(bytes, defined) {}

  int64_t bytes() const { return bytes_; }

  /// Appends to `found` the conflicts of an access by `pipe`, which knows `known`, with earlier accesses: at most one
  /// for each earlier pipe and kind, with its first contiguous range. `same_pipe`: operations of one pipe may conflict.
  void check(tw_engine::Pipe pipe, const Clock& known, bool same_pipe, int64_t offset, int64_t bytes, bool write,
             std::vector<Conflict>& found) const;
  /// Remembers an access as operation `tick` of `pipe`.
  void stamp(tw_engine::Pipe pipe, uint32_t tick, int64_t offset, int64_t bytes, bool write);

  /// The first byte of the range without a value; -1 when all have one.
  int64_t first_undefined(int64_t offset, int64_t bytes) const;
  void define(int64_t offset, int64_t bytes, bool value);
  uint8_t* defined() { return defined_.data(); }

 private:
  int64_t bytes_;
  std::vector<uint32_t> reads_[tw_engine::kPipeCount];   // number of the last reading operation; empty: none yet
  std::vector<uint32_t> writes_[tw_engine::kPipeCount];  // the same of writes
  std::vector<uint8_t> defined_;
};

/// Finds bytes of global memory that two cores of a launch touch, one of them writing.
class CoreShadow {
 public:
  static constexpr int kLine = 64;  // bytes of a line of the scalar unit's data cache

  explicit CoreShadow(int64_t bytes) : bytes_(bytes) {}

  struct Clash {
    bool found = false;
    int64_t core = -1;  // the other core; -1: several
    int64_t offset = 0, bytes = 0;
    bool line = false;  // not the same bytes, but one cache line, which a scalar write writes back as a whole
  };
  /// `scalar`: the access goes through the data cache.
  Clash access(int64_t core, int64_t offset, int64_t bytes, bool write, bool scalar);

 private:
  int64_t bytes_;
  std::vector<uint32_t> writer_, reader_;  // core + 1; 0: none; kMany: several readers
  std::vector<uint32_t> line_writer_;      // of each line, the core + 1 of a scalar write
  static constexpr uint32_t kMany = 0xffffffffu;
};

}  // namespace tilewright::engine
