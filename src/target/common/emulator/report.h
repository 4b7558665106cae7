#pragma once
// What an emulator says of one launch. Shared by all emulators; each emulator's header lists the kinds that it reports.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// One fault of a kernel. Occurrences with the same kind, memory, actors and lines are one fault with a count.
struct Fault {
  std::string kind;    // "raw", "out-of-bounds", ...
  std::string kernel;  // name of the kernel
  std::string memory;  // "UB", "GM argument 0", "shared"; empty when the fault is not about memory
  int64_t offset = 0;  // first byte, from the start of that memory
  int64_t bytes = 0;   // length of the range; 0 when the fault is not about memory
  std::string actor;   // the pipe or thread that found it
  std::string other;   // the pipe or thread that it conflicts with, or empty
  uint32_t line = 0;   // 1-based line of the kernel's text; 0 unknown
  uint32_t other_line = 0;
  int64_t block = 0;  // the block (core) that saw it first
  int64_t count = 1;
  std::string sentence;  // all of it, readable
};

/// The faults of one launch.
struct Report {
  static constexpr size_t kMaxFaults = 64;  // distinct faults that are kept; `total` goes on counting

  std::vector<Fault> faults;
  int64_t total = 0;

  bool clean() const { return total == 0; }
  bool has(std::string_view kind) const;
  /// Counts `f`, merged with an equal fault when there is one.
  void add(Fault f);
  /// One line a fault, then how many more there were; "no faults" when there are none.
  std::string to_string() const;
};

}  // namespace tilewright
