// The happens-before check of the SIMT emulator.
#include "target/common/emulator/simt/shadow.h"

#include <bit>

namespace tilewright::simt {
namespace {
Stamp write_of(const Cell& c) { return {c.write_interval, c.write_thread, c.write_line}; }
Stamp read_of(const Cell& c) { return {c.read_interval, c.read_thread, c.read_line}; }

/// Whether an access by the current block in `interval` may be unordered with one by `thread`: the only such accesses
/// are those of other threads in this same interval.
bool orders(const Clock& clock, uint32_t interval, uint16_t by, uint16_t thread) {
  return interval != clock.interval || by == thread;
}

Conflict check_read(const Cell& c, const Clock& clock, bool shared, uint16_t thread, Stamp& earlier) {
  earlier = write_of(c);
  if (c.write_interval < clock.first) {
    if (shared) return Conflict::uninitialised;
    return c.write_interval != 0 ? Conflict::blocks : Conflict::none;
  }
  if (!orders(clock, c.write_interval, c.write_thread, thread)) return Conflict::read_after_write;
  return Conflict::none;
}

/// Against earlier writes, for a write.
Conflict check_writes(const Cell& c, const Clock& clock, bool shared, uint16_t thread, Stamp& earlier) {
  earlier = write_of(c);
  if (c.write_interval < clock.first) return c.write_interval != 0 && !shared ? Conflict::blocks : Conflict::none;
  if (!orders(clock, c.write_interval, c.write_thread, thread)) return Conflict::write_after_write;
  return Conflict::none;
}

/// Against earlier reads, for a write.
Conflict check_reads(const Cell& c, const Clock& clock, bool shared, uint16_t thread, Stamp& earlier) {
  if (c.read_interval >= clock.first) {
    earlier = read_of(c);
    if (!orders(clock, c.read_interval, c.read_thread, thread)) return Conflict::write_after_read;
    if (c.other_reader != kNobody && !orders(clock, c.read_interval, c.other_reader, thread)) {
      earlier.thread = c.other_reader;
      return Conflict::write_after_read;
    }
  } else if (!shared && c.read_interval != 0) {
    earlier = read_of(c);
    return Conflict::blocks;
  }
  if (!shared && c.foreign_interval != 0) {
    earlier = {c.foreign_interval, c.foreign_thread, 0};
    return Conflict::blocks;
  }
  return Conflict::none;
}

void record_read(Cell& c, const Clock& clock, bool shared, uint16_t thread, uint32_t line) {
  if (c.read_interval == clock.interval) {
    if (c.read_thread != thread) c.other_reader = thread;
    return;
  }
  if (!shared && c.read_interval != 0 && c.read_interval < clock.first) {
    c.foreign_interval = c.read_interval;
    c.foreign_thread = c.read_thread;
  }
  c.read_interval = clock.interval;
  c.read_thread = thread;
  c.other_reader = kNobody;
  c.read_line = line;
}

void record_write(Cell& c, const Clock& clock, uint16_t thread, uint32_t line) {
  c.write_interval = clock.interval;
  c.write_thread = thread;
  c.write_line = line;
}
}  // namespace

bool Region::fit(int64_t offset, unsigned bytes) {
  int wanted = std::countr_zero(static_cast<uint64_t>(offset) | bytes | 16);
  if (log2_granule_ >= 0 && wanted >= log2_granule_) return true;
  size_t count = static_cast<size_t>(bytes_ >> wanted) + 1;
  auto* cells = static_cast<Cell*>(std::calloc(count, sizeof(Cell)));
  if (cells == nullptr) return false;
  if (log2_granule_ >= 0) {
    int shift = log2_granule_ - wanted;
    for (size_t i = 0; i < count; ++i) {
      const Cell& old = cells_[i >> shift];
      if ((old.write_interval | old.read_interval) != 0) cells[i] = old;
    }
  }
  cells_.reset(cells);
  log2_granule_ = wanted;
  return true;
}

Conflict Region::read(const Clock& clock, int64_t offset, unsigned bytes, uint16_t thread, uint32_t line,
                      Stamp& earlier, int64_t& where) {
  if (!fit(offset, bytes)) return Conflict::no_memory;
  Conflict first = Conflict::none;
  for (int64_t i = offset >> log2_granule_, end = (offset + bytes) >> log2_granule_; i < end; ++i) {
    Cell& cell = cells_[i];
    Stamp stamp;
    Conflict found = check_read(cell, clock, shared_, thread, stamp);
    if (found != Conflict::none && first == Conflict::none) {
      first = found;
      earlier = stamp;
      where = i << log2_granule_;
    }
    record_read(cell, clock, shared_, thread, line);
  }
  return first;
}

Conflict Region::write(const Clock& clock, int64_t offset, unsigned bytes, uint16_t thread, uint32_t line,
                       Stamp& earlier, int64_t& where) {
  if (!fit(offset, bytes)) return Conflict::no_memory;
  Conflict first = Conflict::none;
  for (int64_t i = offset >> log2_granule_, end = (offset + bytes) >> log2_granule_; i < end; ++i) {
    Cell& cell = cells_[i];
    Stamp stamp;
    Conflict found = check_writes(cell, clock, shared_, thread, stamp);
    if (found == Conflict::none) found = check_reads(cell, clock, shared_, thread, stamp);
    if (found != Conflict::none && first == Conflict::none) {
      first = found;
      earlier = stamp;
      where = i << log2_granule_;
    }
    record_write(cell, clock, thread, line);
  }
  return first;
}

}  // namespace tilewright::simt
