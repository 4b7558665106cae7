#include "target/common/emulator/engine/shadow.h"

#include <algorithm>
#include <cstring>

namespace tilewright::engine {
using namespace tw_engine;

namespace {

uint32_t largest(const uint32_t* ticks, int64_t n) {
  uint32_t most = 0;
  for (int64_t i = 0; i < n; ++i) most = most < ticks[i] ? ticks[i] : most;
  return most;
}

}  // namespace

void Shadow::check(Pipe pipe, const Clock& known, bool same_pipe, int64_t offset, int64_t bytes, bool write,
                   std::vector<Conflict>& found) const {
  auto look = [&](const std::vector<uint32_t>* ticks, const char* kind) {
    for (int p = 0; p < kPipeCount; ++p) {
      if (ticks[p].empty() || (p == pipe && !same_pipe)) continue;
      const uint32_t* t = ticks[p].data() + offset;
      uint32_t limit = known.at[p];
      if (largest(t, bytes) <= limit) continue;
      int64_t first = 0;
      while (t[first] <= limit) ++first;
      int64_t last = first;
      while (last < bytes && t[last] == t[first]) ++last;
      for (const Conflict& c : found) {
        if (c.other == p && c.kind == kind) return;
      }
      found.push_back({kind, static_cast<Pipe>(p), t[first], offset + first, last - first});
    }
  };
  static const char* const kRaw = "raw";
  static const char* const kWar = "war";
  static const char* const kWaw = "waw";
  look(writes_, write ? kWaw : kRaw);
  if (write) look(reads_, kWar);
}

void Shadow::stamp(Pipe pipe, uint32_t tick, int64_t offset, int64_t bytes, bool write) {
  std::vector<uint32_t>& ticks = (write ? writes_ : reads_)[pipe];
  if (ticks.empty()) ticks.resize(static_cast<size_t>(bytes_));
  std::fill_n(ticks.begin() + offset, bytes, tick);
}

int64_t Shadow::first_undefined(int64_t offset, int64_t bytes) const {
  if (bytes == 0) return -1;
  const void* p = std::memchr(defined_.data() + offset, 0, static_cast<size_t>(bytes));
  return p ? static_cast<const uint8_t*>(p) - defined_.data() : -1;
}

void Shadow::define(int64_t offset, int64_t bytes, bool value) {
  std::fill_n(defined_.begin() + offset, bytes, static_cast<uint8_t>(value));
}

CoreShadow::Clash CoreShadow::access(int64_t core, int64_t offset, int64_t bytes, bool write, bool scalar) {
  if (writer_.empty()) {
    writer_.resize(static_cast<size_t>(bytes_));
    reader_.resize(static_cast<size_t>(bytes_));
    line_writer_.resize(static_cast<size_t>(bytes_ / kLine + 1));
  }
  const uint32_t me = static_cast<uint32_t>(core) + 1;
  Clash clash;
  auto meet = [&](uint32_t who, int64_t at, int64_t n, bool line) {
    if (!clash.found) clash = {true, who == kMany ? -1 : static_cast<int64_t>(who) - 1, at, n, line};
  };
  for (int64_t i = offset; i < offset + bytes; ++i) {
    const size_t k = static_cast<size_t>(i);
    uint32_t other = writer_[k] && writer_[k] != me ? writer_[k] : 0;
    if (write && !other && reader_[k] && reader_[k] != me) other = reader_[k];
    if (other && !clash.found) {
      int64_t end = i + 1;  // the contiguous range with the same history
      while (end < offset + bytes && writer_[end] == writer_[k] && reader_[end] == reader_[k]) ++end;
      meet(other, i, end - i, false);
    }
    if (write) {
      writer_[k] = me;
    } else if (reader_[k] != me) {
      reader_[k] = reader_[k] ? kMany : me;
    }
  }
  if (write) {
    for (int64_t l = offset / kLine; bytes > 0 && l <= (offset + bytes - 1) / kLine; ++l) {
      uint32_t& owner = line_writer_[static_cast<size_t>(l)];
      if (owner && owner != me) meet(owner, l * kLine, kLine, true);
      if (!scalar) continue;
      for (int64_t i = l * kLine; i < std::min((l + 1) * kLine, bytes_); ++i) {
        uint32_t w = writer_[static_cast<size_t>(i)];
        if (w && w != me) meet(w, l * kLine, kLine, true);
      }
      owner = me;
    }
  }
  return clash;
}

}  // namespace tilewright::engine
