#pragma once
// One core of a launch: its memories, pipes and flags, and the checks on each call of the API.
//
// What is taken as ordered, and the documentation's word for it:
// - A core decodes one instruction stream in order; scalar instructions run at once, others go to the queue of their
//   pipe ("control units"). So an operation starts after every WaitFlag of its own pipe and of S that precedes it in
//   the program. It does NOT start after the memory accesses of S that precede it: a GetValue or SetValue needs S_V,
//   S_MTE2 or S_MTE3 ("synchronisation of scalar accesses").
// - SetFlag runs when all earlier operations of its source pipe are complete; WaitFlag blocks later operations of its
//   destination pipe. A flag is one bit: set twice before a wait, one set is lost.
// - Inside S accesses are ordered; inside every other pipe two operations overlap unless PipeBarrier<pipe> or PIPE_ALL
//   stands between them.
// - Nothing orders two cores.
// A scalar that a GetValue returned and that becomes an operand of a vector operation is not followed: C++ keeps it.
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "target/common/emulator/engine/machine.h"
#include "target/common/emulator/engine/shadow.h"
#include "target/common/emulator/report.h"

namespace tilewright::engine {

/// Global memory of one argument. Kernels see the address base(argument) .. base + bytes, far from the others'.
struct Region {
  int argument = 0;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  Shadow shadow;
  CoreShadow cores;

  Region(int arg, void* d, int64_t n, bool defined)
      : argument(arg), data(static_cast<uint8_t*>(d)), bytes(n), shadow(n, defined), cores(n) {}
  static uint64_t base(int argument) { return (static_cast<uint64_t>(argument) + 1) << 40 | 1ull << 39; }
};

/// What all cores of a launch share.
struct LaunchState {
  const CoreInfo* info = &kAiv2201;
  std::string kernel;
  std::vector<Region> regions;  // by argument; scalars have an empty region
  std::vector<Shadow>
      locals;  // of the local memories; operations are numbered over all cores, so they serve each in turn
  Report report;
  bool deferred = false;
  uint64_t seed = 0;
  bool strict_scalar = false;
  uint32_t ticks[tw_engine::kPipeCount] = {};  // operations so far, over all cores
};

/// Leaves a kernel that cannot go on.
struct Stopped {};

class Core {
 public:
  Core(LaunchState& launch, int64_t block);

  void issue(const tw_engine::Op& op);
  void scalar_read(const tw_engine::Ref& at, uint32_t bytes, void* out, uint32_t line);
  void scalar_write(const tw_engine::Ref& at, uint32_t bytes, const void* in, uint32_t line);
  void set_flag(int event, int64_t id, uint32_t line);
  void wait_flag(int event, int64_t id, uint32_t line);
  void barrier(int pipe, uint32_t line);
  void local_tensor(const tw_engine::Ref& tensor, uint32_t line);
  void clean_cache(const tw_engine::Ref& at, bool entire, uint32_t line);
  /// After the kernel returned: drains the pipes, looks for flags that nobody waits for.
  void finish();

 private:
  // A range of bytes that an operation touches.
  struct Access {
    Shadow* shadow;
    Region* region;  // nullptr: local
    int memory;
    int64_t offset, bytes;
    bool write;
  };
  struct Flag {
    bool set = false;  // in program order
    bool bit = false;  // of the deferred execution
    Clock at_set;
    uint32_t set_line = 0, wait_line = 0, wait_tick = 0;
  };
  struct Queued {
    enum Kind : uint8_t { op, set, wait } kind;
    int flag = 0;
    tw_engine::Op call;
  };
  struct CacheLine {
    uint64_t dirty = 0, stale = 0;  // a bit for each byte
    uint32_t line = 0;              // of the last scalar access
  };

  // core.cpp: checks
  bool place(const tw_engine::Ref& ref, int64_t offset, int64_t bytes, bool write, const char* what, uint32_t line,
             Access& out);
  bool check_alignment(const tw_engine::Ref& ref, int64_t alignment, const char* what, uint32_t line);
  void touch(tw_engine::Pipe pipe, const std::vector<Access>& accesses, const char* what, uint32_t line);
  bool check_vector(const tw_engine::Op& op, std::vector<Access>& accesses);
  void define_vector(const tw_engine::Op& op);
  void require_defined(const Access& access, tw_engine::Pipe pipe, const char* what, uint32_t line);
  void fault(const char* kind, uint32_t line, std::string sentence);
  Fault fault_at(const char* kind, const Access& access, tw_engine::Pipe pipe, uint32_t line) const;
  std::string memory_name(const Access& access) const;
  std::string memory_name(const tw_engine::Ref& ref) const;
  Region* region_of(const tw_engine::Ref& ref);
  uint8_t* bytes_at(const tw_engine::Ref& ref, int64_t offset);

  // transfer.cpp: copies
  bool check_copy(const tw_engine::Op& op, std::vector<Access>& accesses);
  void define_copy(const tw_engine::Op& op);
  void copy(const tw_engine::Op& op);
  void execute(const tw_engine::Op& op);

  // sync.cpp: flags and the deferred execution
  Flag* flag_of(int event, int64_t id, const char* what, uint32_t line);
  void learn_from_scalar(tw_engine::Pipe pipe);
  void enqueue(tw_engine::Pipe pipe, Queued entry);
  bool step(tw_engine::Pipe pipe);
  bool step_any();
  void step_some();
  void drain(uint32_t line);
  uint32_t random(uint32_t below);

  // scalar.cpp: scalar accesses to global memory
  void cache_scalar(const Access& access, uint32_t line);
  void cache_transfer(const Access& access, tw_engine::Pipe pipe, const char* what, uint32_t line);

  LaunchState& launch_;
  const CoreInfo& info_;
  int64_t block_;
  std::vector<uint8_t> memory_[tw_engine::kLocalMemories];
  Clock known_[tw_engine::kPipeCount];
  uint32_t first_tick_[tw_engine::kPipeCount];
  std::vector<uint32_t> lines_[tw_engine::kPipeCount];  // of operation first_tick_ + i
  Flag flags_[kEvents][kEventIds];
  std::map<std::pair<int, int64_t>, CacheLine> cache_;  // by argument and line number
  std::deque<Queued> queues_[tw_engine::kPipeCount];
  uint32_t weight_[tw_engine::kPipeCount];  // how eagerly the deferred execution runs a pipe
  uint64_t random_;
};

}  // namespace tilewright::engine
