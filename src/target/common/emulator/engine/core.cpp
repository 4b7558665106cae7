#include "target/common/emulator/engine/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "target/common/emulator/engine/vector.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

constexpr uint8_t kPoison = 0xcd;

}  // namespace

Core::Core(LaunchState& launch, int64_t block)
    : launch_(launch), info_(*launch.info), block_(block), random_(launch.seed * 0x9e3779b97f4a7c15u + block) {
  for (int m = 0; m < kLocalMemories; ++m) {
    memory_[m].assign(info_.memories[m].bytes, kPoison);
    if (launch.locals.size() < kLocalMemories) launch.locals.emplace_back(info_.memories[m].bytes, false);
    launch.locals[m].define(0, info_.memories[m].bytes, false);
  }
  for (int p = 0; p < kPipeCount; ++p) {
    first_tick_[p] = launch.ticks[p] + 1;
    for (Clock& k : known_) k.at[p] = launch.ticks[p];
    static constexpr uint32_t kWeights[] = {0, 1, 4, 16};
    weight_[p] = kWeights[random(4)];
  }
}

void Core::fault(const char* kind, uint32_t line, std::string sentence) {
  Fault f;
  f.kind = kind;
  f.kernel = launch_.kernel;
  f.line = line;
  f.block = block_;
  f.sentence = std::move(sentence);
  launch_.report.add(std::move(f));
}

std::string Core::memory_name(const Access& a) const {
  return a.region ? fmt::format("GM argument {}", a.region->argument) : info_.memories[a.memory].name;
}

std::string Core::memory_name(const Ref& ref) const {
  return ref.memory == kGM ? "GM" : info_.memories[ref.memory].name;
}

Fault Core::fault_at(const char* kind, const Access& a, Pipe pipe, uint32_t line) const {
  Fault f;
  f.kind = kind;
  f.kernel = launch_.kernel;
  f.memory = memory_name(a);
  f.offset = a.offset;
  f.bytes = a.bytes;
  f.actor = kPipeNames[pipe];
  f.line = line;
  f.block = block_;
  return f;
}

Region* Core::region_of(const Ref& ref) {
  const uint64_t index = (ref.address >> 40) - 1;
  if (index >= launch_.regions.size() || launch_.regions[index].bytes < 0) return nullptr;
  return &launch_.regions[index];
}

uint8_t* Core::bytes_at(const Ref& ref, int64_t offset) {
  if (ref.memory != kGM) return memory_[ref.memory].data() + ref.address + offset;
  Region* r = region_of(ref);
  return r->data + static_cast<int64_t>(ref.address - Region::base(r->argument)) + offset;
}

/// Resolves `bytes` bytes at ref + offset; false, with a report, when they do not lie inside the memory and the tensor.
bool Core::place(const Ref& ref, int64_t offset, int64_t bytes, bool write, const char* what, uint32_t line,
                 Access& out) {
  const char* verb = write ? "writes" : "reads";
  if (ref.memory == kGM) {
    Region* r = region_of(ref);
    if (!r) {
      fault("out-of-bounds", line, fmt::format("{} {} global memory that belongs to no argument", what, verb));
      return false;
    }
    int64_t at = static_cast<int64_t>(ref.address - Region::base(r->argument)) + offset;
    int64_t begin = 0, end = r->bytes;
    if (ref.begin < ref.end) {
      begin = std::max(begin, static_cast<int64_t>(ref.begin - Region::base(r->argument)));
      end = std::min(end, static_cast<int64_t>(ref.end - Region::base(r->argument)));
    }
    out = {&r->shadow, r, kGM, at, bytes, write};
    if (at >= begin && at + bytes <= end) return true;
    Fault f = fault_at("out-of-bounds", out, write ? kPipeMTE3 : kPipeMTE2, line);
    f.sentence = fmt::format("{} {} bytes [{}, {}) of GM argument {}, which has bytes [{}, {})", what, verb, at,
                             at + bytes, r->argument, begin, end);
    launch_.report.add(std::move(f));
    return false;
  }
  const MemoryInfo& m = info_.memories[ref.memory];
  int64_t at = static_cast<int64_t>(ref.address) + offset;
  out = {&launch_.locals[ref.memory], nullptr, ref.memory, at, bytes, write};
  // A tensor owns its memory in whole 32-byte units: rows of a padded copy end there.
  const int64_t begin = static_cast<int64_t>(ref.begin), end = static_cast<int64_t>((ref.end + 31) / 32 * 32);
  if (at + bytes > m.bytes || at < 0) {
    Fault f = fault_at("out-of-bounds", out, kPipeV, line);
    f.sentence =
        fmt::format("{} {} bytes [{}, {}) of {}, which has {} bytes", what, verb, at, at + bytes, m.name, m.bytes);
    launch_.report.add(std::move(f));
    return false;
  }
  if (at < begin || at + bytes > end) {
    Fault f = fault_at("out-of-bounds", out, kPipeV, line);
    f.sentence = fmt::format("{} {} bytes [{}, {}) of {} through a tensor that has bytes [{}, {})", what, verb, at,
                             at + bytes, m.name, begin, static_cast<int64_t>(ref.end));
    launch_.report.add(std::move(f));
    return false;
  }
  return true;
}

bool Core::check_alignment(const Ref& ref, int64_t alignment, const char* what, uint32_t line) {
  if (ref.address % static_cast<uint64_t>(alignment) == 0) return true;
  fault("misaligned", line,
        fmt::format("{}: address {} of an operand in {} is not a multiple of {} bytes", what,
                    ref.memory == kGM ? ref.address & 0xffffff : ref.address, memory_name(ref), alignment));
  return false;
}

/// Checks an operation's accesses against everything before it, then remembers them as the pipe's next operation.
void Core::touch(Pipe pipe, const std::vector<Access>& accesses, const char* what, uint32_t line) {
  learn_from_scalar(pipe);
  const uint32_t tick = ++launch_.ticks[pipe];
  lines_[pipe].push_back(line);
  struct Seen {
    const char* kind;
    Pipe other;
    uint32_t line;
  };
  std::vector<Seen> seen;  // one report for an operation, kind, other pipe and other line
  std::vector<Conflict> found;
  for (const Access& a : accesses) {
    found.clear();
    a.shadow->check(pipe, known_[pipe], info_.overlaps[pipe], a.offset, a.bytes, a.write, found);
    for (const Conflict& c : found) {
      const uint32_t other_line = lines_[c.other][c.tick - first_tick_[c.other]];
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const Seen& s) {
        return s.kind == c.kind && s.other == c.other && s.line == other_line;
      });
      if (known) continue;
      seen.push_back({c.kind, c.other, other_line});
      Fault f = fault_at(c.kind, a, pipe, line);
      f.offset = c.offset, f.bytes = c.bytes;
      f.other = kPipeNames[c.other];
      f.other_line = other_line;
      const char* before = std::strcmp(c.kind, "war") == 0 ? "read" : "written";
      const std::string missing = pipe == c.other ? fmt::format("PipeBarrier<PIPE_{}>", kPipeNames[pipe])
                                                  : fmt::format("{}_{} flag", kPipeNames[c.other], kPipeNames[pipe]);
      f.sentence = fmt::format(
          "{} on {} {} bytes [{}, {}) of {}, {} by {} at line {} without an order between them (a {} would give one)",
          what, kPipeNames[pipe], a.write ? "writes" : "reads", c.offset, c.offset + c.bytes, f.memory, before,
          kPipeNames[c.other], other_line, missing);
      launch_.report.add(std::move(f));
    }
    if (a.region) {
      CoreShadow::Clash clash = a.region->cores.access(block_, a.offset, a.bytes, a.write, pipe == kPipeS);
      if (clash.found) {
        Fault f = fault_at("cross-core", a, pipe, line);
        f.offset = clash.offset, f.bytes = clash.bytes;
        f.other = clash.core < 0 ? "several cores" : fmt::format("core {}", clash.core);
        f.sentence = fmt::format("core {} {} bytes [{}, {}) of {}, which {} touched in the same launch{}", block_,
                                 a.write ? "writes" : "reads", clash.offset, clash.offset + clash.bytes, f.memory,
                                 f.other, clash.line ? " (one 64-byte line of the data cache)" : "");
        launch_.report.add(std::move(f));
      }
      if (pipe == kPipeS) {
        cache_scalar(a, line);
      } else {
        cache_transfer(a, pipe, what, line);
      }
    }
  }
  for (const Access& a : accesses) a.shadow->stamp(pipe, tick, a.offset, a.bytes, a.write);
}

void Core::require_defined(const Access& a, Pipe pipe, const char* what, uint32_t line) {
  const int64_t at = a.shadow->first_undefined(a.offset, a.bytes);
  if (at < 0) return;
  Fault f = fault_at("uninitialised", a, pipe, line);
  f.offset = at, f.bytes = a.offset + a.bytes - at;
  f.sentence = fmt::format("{} needs byte {} of {}, which has no value (never written, or padding without a value)",
                           what, at, f.memory);
  launch_.report.add(std::move(f));
}

bool Core::check_vector(const Op& op, std::vector<Access>& accesses) {
  const char* what = name_of_op(op);
  if (const char* why = refusal(op)) {
    const std::string types = op.code == kOpCast ? fmt::format("{} to {}", name_of_type(op.from), name_of_type(op.type))
                                                 : name_of_type(op.type);
    fault("unsupported-type", op.line, fmt::format("{} of {}: {} on this architecture", what, types, why));
    return false;
  }
  if (op.count < 0) {
    fault("count", op.line, fmt::format("{} of {} elements", what, op.count));
    return false;
  }
  if (op.count == 0) return false;  // nothing to do
  const int64_t size = bytes_of(op.type), n = op.count * size;
  const bool reduction = is_reduction(op.code);
  const int64_t dst_bytes = reduction ? reduction_result_bytes(op) : n;
  const int64_t src_bytes = op.code == kOpCast ? op.count * bytes_of(op.from) : n;
  bool ok = check_alignment(op.dst, reduction ? dst_bytes : 32, what, op.line);
  Access a;
  std::vector<Access> sources;
  if (op.code != kOpDuplicate) {
    ok &= check_alignment(op.src0, 32, what, op.line);
    ok &= place(op.src0, 0, src_bytes, false, what, op.line, a);
    sources.push_back(a);
  }
  if (is_binary(op.code)) {
    ok &= check_alignment(op.src1, 32, what, op.line);
    ok &= place(op.src1, 0, n, false, what, op.line, a);
    sources.push_back(a);
  }
  accesses = sources;
  if (reduction) {
    ok &= check_alignment(op.src1, 32, what, op.line);
    ok &= place(op.src1, 0, reduction_temporary_bytes(op), true, what, op.line, a);
    accesses.push_back(a);
  }
  ok &= place(op.dst, 0, dst_bytes, true, what, op.line, a);
  accesses.push_back(a);
  if (!ok || reduction) return ok;
  for (const Access& s : sources) {
    const bool apart = s.offset + s.bytes <= a.offset || a.offset + a.bytes <= s.offset;
    if (apart || (s.offset == a.offset && s.bytes == a.bytes)) continue;
    Fault f = fault_at("operand-overlap", a, kPipeV, op.line);
    f.sentence = fmt::format("{}: source bytes [{}, {}) and destination bytes [{}, {}) of UB overlap in part", what,
                             s.offset, s.offset + s.bytes, a.offset, a.offset + a.bytes);
    launch_.report.add(std::move(f));
  }
  return true;
}

/// Which elements of the result have a value: an element-wise operation passes holes on, so that padding may be
/// computed on as long as nobody uses it; a reduction needs every element.
void Core::define_vector(const Op& op) {
  const int64_t size = bytes_of(op.type);
  Shadow& ub = launch_.locals[op.dst.memory];
  uint8_t* flags = ub.defined();
  const int64_t dst = static_cast<int64_t>(op.dst.address), a = static_cast<int64_t>(op.src0.address);
  if (is_reduction(op.code)) {
    require_defined({&ub, nullptr, op.src0.memory, a, op.count * size, false}, kPipeV, name_of_op(op), op.line);
    ub.define(static_cast<int64_t>(op.src1.address), reduction_temporary_bytes(op), false);
    ub.define(dst, reduction_result_bytes(op), false);
    ub.define(dst, op.code != kOpReduceSum && op.want_index ? 2 * size : size, true);
    return;
  }
  if (op.code == kOpDuplicate) return ub.define(dst, op.count * size, true);
  const int64_t from = op.code == kOpCast ? bytes_of(op.from) : size;
  const int64_t b = is_binary(op.code) ? static_cast<int64_t>(op.src1.address) : a;
  if (ub.first_undefined(a, op.count * from) < 0 && ub.first_undefined(b, op.count * from) < 0) {
    return ub.define(dst, op.count * size, true);
  }
  std::vector<uint8_t> whole(static_cast<size_t>(op.count));
  for (int64_t i = 0; i < op.count; ++i) {
    bool all = true;
    for (int64_t k = 0; k < from; ++k) all = all && flags[a + i * from + k] && flags[b + i * from + k];
    whole[static_cast<size_t>(i)] = all;
  }
  for (int64_t i = 0; i < op.count; ++i) ub.define(dst + i * size, size, whole[static_cast<size_t>(i)]);
}

void Core::local_tensor(const Ref& t, uint32_t line) {
  const char* what = "LocalTensor";
  if (t.memory == kGM || info_.memories[t.memory].bytes == 0) {
    fault("no-such-memory", line,
          fmt::format("LocalTensor in {}, which an {} core does not have", memory_name(t), info_.name));
    throw Stopped{};
  }
  const MemoryInfo& m = info_.memories[t.memory];
  check_alignment(t, m.alignment, what, line);
  if (t.end > m.bytes) {
    fault("out-of-bounds", line,
          fmt::format("LocalTensor has bytes [{}, {}) of {}, which has {} bytes", t.begin, t.end, m.name, m.bytes));
  }
}

void Core::issue(const Op& op) {
  std::vector<Access> accesses;
  const Pipe pipe = pipe_of(op);
  const bool ok = is_copy(op.code) ? check_copy(op, accesses) : check_vector(op, accesses);
  if (!ok) return;
  touch(pipe, accesses, name_of_op(op), op.line);
  if (is_copy(op.code)) {
    define_copy(op);
  } else {
    define_vector(op);
  }
  if (launch_.deferred) return enqueue(pipe, {Queued::op, 0, op});
  execute(op);
}

void Core::execute(const Op& op) {
  if (is_copy(op.code)) return copy(op);
  uint8_t* src0 = op.code == kOpDuplicate ? nullptr : bytes_at(op.src0, 0);
  uint8_t* src1 = is_binary(op.code) ? bytes_at(op.src1, 0) : nullptr;
  if (is_reduction(op.code)) {
    uint8_t result[16];
    compute(op, result, src0, nullptr);
    std::memset(bytes_at(op.src1, 0), kPoison, static_cast<size_t>(reduction_temporary_bytes(op)));
    if (!op.want_index && op.code != kOpReduceSum) std::memset(result + bytes_of(op.type), kPoison, bytes_of(op.type));
    std::memcpy(bytes_at(op.dst, 0), result, static_cast<size_t>(reduction_result_bytes(op)));
    return;
  }
  compute(op, bytes_at(op.dst, 0), src0, src1);
}

}  // namespace tilewright::engine
