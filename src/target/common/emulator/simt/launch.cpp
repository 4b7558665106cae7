// Launch of the SIMT emulator: arguments and limits; and the report's common form.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "target/common/emulator/simt/machine.h"

namespace tilewright::simt {
namespace {
void check_arguments(const std::string& kernel, const tw::emu::Entry& entry, std::span<const Argument> arguments) {
  auto words = [](char kind, unsigned bytes) {
    return kind == 'b'   ? std::string("a buffer")
           : kind == 'o' ? std::string("a bool")
                         : fmt::format("a {}-bit {}", 8 * bytes,
                                       kind == 'f'   ? "float"
                                       : kind == 'i' ? "signed integer"
                                                     : "unsigned integer");
  };
  if (static_cast<size_t>(entry.count) != arguments.size())
    throw UserError({}, fmt::format("{} takes {} arguments but got {}", kernel, entry.count, arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const tw::emu::Parameter& p = entry.parameters[i];
    const Argument& a = arguments[i];
    if (a.kind != p.kind || (a.kind != 'b' && a.bytes != p.bytes))
      throw UserError({}, fmt::format("{}: parameter {} is {} but the argument is {}", kernel, i,
                                      words(p.kind, p.bytes), words(a.kind, static_cast<unsigned>(a.bytes))));
  }
}

/// The first limit of the launch that is exceeded, as a sentence; empty when there is none.
std::string exceeded_limit(Dim3 grid, Dim3 block, int64_t shared_bytes, const LaunchOptions& options) {
  auto outside = [](int64_t v, int64_t most) { return v < 1 || v > most; };
  if (outside(block.x, 1024) || outside(block.y, 1024) || outside(block.z, 64) || block.volume() > 1024)
    return fmt::format(
        "a block of {} x {} x {} threads; a block has at least 1 and at most 1024 threads, at most 64 in z", block.x,
        block.y, block.z);
  if (outside(grid.x, 0x7fffffff) || outside(grid.y, 65535) || outside(grid.z, 65535))
    return fmt::format("a grid of {} x {} x {} blocks; at least 1, at most 2147483647 in x and 65535 in y and z",
                       grid.x, grid.y, grid.z);
  if (shared_bytes < 0 || shared_bytes > options.shared_limit)
    return fmt::format("{} bytes of shared memory; a block has at most {}", shared_bytes, options.shared_limit);
  return "";
}
}  // namespace

const char* to_string(FaultKind kind) {
  constexpr const char* kNames[] = {
      "read_after_write",    "write_after_read", "write_after_write",  "block_conflict",     "out_of_bounds_read",
      "out_of_bounds_write", "misaligned",       "uninitialised_read", "barrier_divergence", "limit_exceeded"};
  return kNames[static_cast<int>(kind)];
}

Argument Argument::buffer(std::string name, void* data, int64_t bytes) {
  Argument a;
  a.name = std::move(name);
  a.data = data;
  a.bytes = bytes;
  return a;
}

Argument Argument::buffer(std::string name, const void* data, int64_t bytes) {
  return buffer(std::move(name), const_cast<void*>(data), bytes);
}

Argument Argument::scalar(char kind, const void* value, size_t bytes) {
  Argument a;
  a.kind = kind;
  a.bytes = static_cast<int64_t>(bytes);
  std::memcpy(&a.value, value, std::min(bytes, sizeof a.value));
  return a;
}

Report launch(const Kernel& kernel, Dim3 grid, Dim3 block, int64_t dynamic_shared_bytes,
              std::span<const Argument> arguments, const LaunchOptions& options) {
  const Library& library = *kernel.library_;
  const tw::emu::Entry& entry = *library.entries[kernel.index_];
  check_arguments(kernel.name(), entry, arguments);
  if (std::string limit = exceeded_limit(grid, block, dynamic_shared_bytes, options); !limit.empty()) {
    Report report;
    report.total = 1;
    report.stopped = true;
    report.faults.push_back({FaultKind::limit_exceeded, fmt::format("{}: {}", kernel.name(), limit), "", 0, 0, {}, {}});
    return report;
  }
  return run_launch(library, entry, grid, block, dynamic_shared_bytes, arguments, options);
}

tilewright::Report Report::common(const std::string& kernel) const {
  auto actor = [](const Access& who) {
    if (who.block < 0) return std::string();
    return who.thread < 0 ? fmt::format("block {}", who.block)
                          : fmt::format("block {} thread {}", who.block, who.thread);
  };
  tilewright::Report report;
  for (const Fault& f : faults) {
    tilewright::Fault general;
    general.kind = to_string(f.kind);
    general.kernel = kernel;
    general.memory = f.buffer;
    general.offset = f.index * f.element_bytes;
    general.bytes = f.element_bytes;
    general.actor = actor(f.access);
    general.other = actor(f.earlier);
    general.line = static_cast<uint32_t>(f.access.line);
    general.other_line = static_cast<uint32_t>(f.earlier.line);
    general.block = std::max<int64_t>(0, f.access.block);
    general.sentence = f.text;
    report.add(std::move(general));
  }
  report.total = total;
  return report;
}

}  // namespace tilewright::simt
