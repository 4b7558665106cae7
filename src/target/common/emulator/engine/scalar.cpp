// Accesses of the scalar unit. To global memory they go through the core's data cache (lines of 64 bytes), which
// nothing keeps coherent: documentation of GlobalTensor::SetValue and DataCacheCleanAndInvalid. A dirty line is assumed
// to reach global memory at the end of the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "target/common/emulator/engine/core.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

/// The bits of line `l` that the bytes [offset, offset + n) cover.
uint64_t bits_of_line(int64_t l, int64_t offset, int64_t n) {
  const int64_t begin = std::max(offset - l * 64, int64_t{0}), end = std::min(offset + n - l * 64, int64_t{64});
  const uint64_t upto = end == 64 ? ~0ull : (1ull << end) - 1;
  return upto & ~((1ull << begin) - 1);
}

}  // namespace

void Core::scalar_read(const Ref& at, uint32_t bytes, void* out, uint32_t line) {
  std::memset(out, 0xcd, bytes);
  Access a;
  if (!check_alignment(at, bytes, "GetValue", line) || !place(at, 0, bytes, false, "GetValue", line, a)) return;
  touch(kPipeS, {a}, "GetValue", line);
  require_defined(a, kPipeS, "GetValue", line);
  if (launch_.deferred) step_some();
  std::memcpy(out, bytes_at(at, 0), bytes);
}

void Core::scalar_write(const Ref& at, uint32_t bytes, const void* in, uint32_t line) {
  Access a;
  if (!check_alignment(at, bytes, "SetValue", line) || !place(at, 0, bytes, true, "SetValue", line, a)) return;
  touch(kPipeS, {a}, "SetValue", line);
  a.shadow->define(a.offset, a.bytes, true);
  if (launch_.deferred) step_some();
  std::memcpy(bytes_at(at, 0), in, bytes);
}

void Core::cache_scalar(const Access& a, uint32_t line) {
  for (int64_t l = a.offset / 64; l <= (a.offset + a.bytes - 1) / 64; ++l) {
    CacheLine& c = cache_[{a.region->argument, l}];
    const uint64_t bits = bits_of_line(l, a.offset, a.bytes);
    // A read of bytes that MTE3 overwrote behind the cache; or a write, which brings the line's old bytes back with it.
    if (a.write ? c.stale & ~bits : c.stale & bits) {
      Fault f = fault_at("stale-cache", a, kPipeS, line);
      f.other = kPipeNames[kPipeMTE3], f.other_line = c.line;
      f.sentence = fmt::format(
          "{} of bytes [{}, {}) of {}: their line is in the data cache as it was before MTE3 overwrote it "
          "(DataCacheCleanAndInvalid before it)",
          a.write ? "SetValue" : "GetValue", a.offset, a.offset + a.bytes, f.memory);
      launch_.report.add(std::move(f));
    }
    if (a.write) c.dirty |= bits, c.stale &= ~bits;
    c.line = line;
  }
}

void Core::cache_transfer(const Access& a, Pipe pipe, const char* what, uint32_t line) {
  if (cache_.empty() || a.bytes <= 0) return;
  auto begin = cache_.lower_bound({a.region->argument, a.offset / 64});
  auto end = cache_.upper_bound({a.region->argument, (a.offset + a.bytes - 1) / 64});
  for (auto it = begin; it != end; ++it) {
    CacheLine& c = it->second;
    const uint64_t bits = bits_of_line(it->first.second, a.offset, a.bytes);
    if (a.write ? c.dirty != 0 : (c.dirty & bits) != 0) {
      Fault f = fault_at("stale-cache", a, pipe, line);
      f.other = kPipeNames[kPipeS], f.other_line = c.line;
      f.sentence = fmt::format(
          "{} {} bytes [{}, {}) of {} while a SetValue of line {} is still in the data cache (DataCacheCleanAndInvalid "
          "after it)",
          what, a.write ? "writes a cache line of" : "reads", a.offset, a.offset + a.bytes, f.memory, c.line);
      launch_.report.add(std::move(f));
    }
    if (a.write) c.stale |= bits, c.line = line;
  }
}

void Core::clean_cache(const Ref& at, bool entire, uint32_t line) {
  if (entire) return cache_.clear();
  Region* r = at.memory == kGM ? region_of(at) : nullptr;
  if (!r) {
    fault("out-of-bounds", line, "DataCacheCleanAndInvalid of global memory that belongs to no argument");
    return;
  }
  cache_.erase({r->argument, static_cast<int64_t>(at.address - Region::base(r->argument)) / 64});
}

}  // namespace tilewright::engine
