#pragma once
// Shadow memory: what each byte's last accesses were, and whether a new one is ordered after them.
//
// Time is a counter of barrier intervals that grows over the whole launch, so that an interval also tells the block: a
// block owns the intervals from its first on. An earlier access is ordered before a new one when it was made by the
// same thread, or by the same block in an earlier interval. This is the one question asked (Clock::orders), and the
// place to extend: warp barriers, named barriers, mbarriers and asynchronous copies give each thread (and each copy, as
// a thread of its own) a vector clock that grows at release operations and joins at waits; `interval` becomes the
// accessor's own clock, and orders() compares it with the joined clock of the accessor instead of the block's interval.
// A cell then needs all readers since the last ordered write, not two; they go to a side table.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace tilewright::simt {

inline constexpr uint16_t kNobody = 0xffff;

struct Clock {
  uint32_t interval = 1;  // the current barrier interval
  uint32_t first = 1;     // the current block's first one
};

/// An access as cells remember it. Interval 0: none.
struct Stamp {
  uint32_t interval = 0;
  uint16_t thread = kNobody;
  uint32_t line = 0;
};

enum class Conflict : uint8_t {
  none,
  read_after_write,
  write_after_read,
  write_after_write,
  blocks,
  uninitialised,
  no_memory
};

/// The accesses to one granule of a region, this launch.
struct Cell {
  uint32_t write_interval, read_interval;
  uint32_t foreign_interval;  // of a read by a block before the one of read_interval
  uint16_t write_thread, read_thread;
  uint16_t other_reader;  // another thread that read in read_interval
  uint16_t foreign_thread;
  uint32_t write_line, read_line;
};

/// One piece of memory with its cells. Cells cover granules of 1 to 16 bytes: as big as all accesses so far allow,
/// split when a finer access comes, so that the check is exact for every byte.
class Region {
 public:
  Region(char* data, int64_t bytes, bool shared) : data_(data), bytes_(bytes), shared_(shared) {}

  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  bool shared() const { return shared_; }

  /// Records the access to [offset, offset + bytes) and gives its first conflict, with the byte and the earlier access.
  /// no_memory: there are no cells for this region.
  Conflict read(const Clock& clock, int64_t offset, unsigned bytes, uint16_t thread, uint32_t line, Stamp& earlier,
                int64_t& where);
  Conflict write(const Clock& clock, int64_t offset, unsigned bytes, uint16_t thread, uint32_t line, Stamp& earlier,
                 int64_t& where);

 private:
  struct Free {
    void operator()(Cell* p) const { std::free(p); }
  };
  bool fit(int64_t offset, unsigned bytes);

  char* data_;
  int64_t bytes_;
  bool shared_;
  int log2_granule_ = -1;  // -1: no access yet
  std::unique_ptr<Cell[], Free> cells_;
};

}  // namespace tilewright::simt
