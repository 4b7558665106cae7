// One launch of the SIMT emulator: the threads of a block, and what their accesses and barriers report.
//
// The scheduler runs each ready thread until it waits or ends, then asks whether the waiting threads may go on
// (pass_exchanges, then pass_barrier). Named barriers and mbarriers extend that question alone: a thread waits for an
// object (a set of threads, or a phase with an arrival count), the objects that are complete release their threads, and
// divergence is that no thread is ready while some wait. An exchange is a meeting of the threads of a warp to which
// each brings a value; it orders no memory.
#include "target/common/emulator/simt/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/hash.h"
#include "target/common/emulator/simt/fiber.h"
#include "target/common/emulator/simt/shadow.h"

namespace tilewright::simt {
namespace {
using tw::emu::AccessKind;
using tw::emu::Context;
using tw::emu::View;

constexpr int kPoison = 0xff;  // NaN in every float format, -1 in integers

enum class ThreadState : uint8_t { ready, waiting, exchanging, finished };

/// A seeded permutation of 0 .. n-1 (Fisher-Yates); ascending for seed 0.
template <class T>
void permute(std::vector<T>& order, uint64_t seed, uint64_t step) {
  std::iota(order.begin(), order.end(), T(0));
  if (seed == 0) return;
  uint64_t state = hash_combine(seed, step);
  for (size_t i = order.size(); i > 1; --i) {
    state = hash_mix(state + 0x9e3779b97f4a7c15u);
    std::swap(order[i - 1], order[state % i]);
  }
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

tw::emu::Index3 unravel(int64_t i, const Dim3& d) {
  return {static_cast<unsigned>(i % d.x), static_cast<unsigned>(i / d.x % d.y), static_cast<unsigned>(i / d.x / d.y)};
}

/// An access that a thread makes now, for its fault.
struct Attempt {
  const View& view;
  int64_t element;  // of the buffer
  unsigned element_bytes;
  int line;
  AccessKind kind;
};

/// One launch.
class Machine {
 public:
  Machine(const tw::emu::Entry& entry, Dim3 grid, Dim3 block, int64_t shared_bytes, std::span<const Argument> arguments,
          const LaunchOptions& options)
      : options_(options),
        entry_(entry),
        grid_(grid),
        block_(block),
        shared_memory_(static_cast<size_t>(shared_bytes) + 1024),
        states_(static_cast<size_t>(block.volume())),
        lines_(states_.size()),
        exchanged_(2 * (states_.size() + tw::emu::warp_size) * tw::emu::largest_exchange),
        exchanges_(states_.size()),
        fibers_(static_cast<int>(block.volume()), options.stack_bytes, options.portable_fibers, &run_thread, this) {
    auto address = reinterpret_cast<uintptr_t>(shared_memory_.data());
    arena_ = std::make_unique<Region>(shared_memory_.data() + (-address & 1023), shared_bytes, true);
    bind(arguments);
    context_.block_dim = {static_cast<unsigned>(block.x), static_cast<unsigned>(block.y),
                          static_cast<unsigned>(block.z)};
    context_.grid_dim = {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), static_cast<unsigned>(grid.z)};
    context_.runtime = this;
    context_.access = [](Context* c, const View* view, long long index, unsigned element_bytes, unsigned bytes,
                         int line,
                         AccessKind kind) { return of(c)->access(*view, index, element_bytes, bytes, line, kind); };
    context_.barrier = [](Context* c, int line) { of(c)->barrier(line); };
    context_.exchange = [](Context* c, const void* value, int bytes, int line) {
      return of(c)->exchange(value, bytes, line);
    };
    context_.shared_view = [](Context* c, long long offset, long long bytes, const char* name) {
      return View{of(c)->arena_.get(), offset, offset + bytes, offset, name};
    };
  }

  Context* context() { return &context_; }

  Report run() {
    std::vector<int64_t> order(static_cast<size_t>(grid_.volume()));
    permute(order, options_.seed, 0x626c6f636bu);
    for (int64_t block : order) {
      run_block(block);
      if (report_.stopped) break;
    }
    report_.matrix_calls = context_.matrix_calls;
    return std::move(report_);
  }

 private:
  static Machine* of(Context* c) { return static_cast<Machine*>(c->runtime); }
  static void run_thread(void* machine) {
    auto* m = static_cast<Machine*>(machine);
    m->entry_.run(m->slots_.data());
    m->states_[m->thread_] = ThreadState::finished;
  }

  void bind(std::span<const Argument> arguments);
  void run_block(int64_t block);
  bool pass_exchanges();
  bool pass_barrier();
  char* access(const View& view, int64_t index, unsigned element_bytes, unsigned bytes, int line, AccessKind kind);
  void barrier(int line);
  const char* exchange(const void* value, int bytes, int line);
  void stop();
  void report(FaultKind kind, int line, const Access& earlier, const std::string& text);
  void report(FaultKind kind, const Attempt& attempt, const Access& earlier, const std::string& why);
  void report_conflict(Conflict conflict, const Attempt& attempt, const Stamp& earlier);
  Access accessor(const Stamp& stamp) const;
  std::string name_of(const Access& who) const;

  const LaunchOptions& options_;
  const tw::emu::Entry& entry_;
  Dim3 grid_, block_;
  Context context_{};
  std::vector<std::unique_ptr<Region>> regions_;  // of buffers
  std::vector<View> views_;                       // of buffer arguments
  std::vector<uint64_t> values_;                  // of scalar arguments
  std::vector<std::string> names_;
  std::vector<const void*> slots_;  // what the kernel's parameters are read from
  std::vector<char> shared_memory_;
  std::unique_ptr<Region> arena_;

  Clock clock_{0, 0};
  std::vector<uint32_t> first_intervals_;  // of the blocks run so far, ascending
  std::vector<int64_t> blocks_;            // their numbers
  int thread_ = 0;
  std::vector<ThreadState> states_;
  std::vector<int> lines_;           // of the barriers and exchanges where threads wait
  std::vector<char> exchanged_;      // two rounds of values: a lane may bring its next one while others read
  std::vector<uint32_t> exchanges_;  // of each thread, so far
  Report report_;
  Fibers fibers_;
};

/// Buffers that overlap in memory share a region, so that accesses through either meet in the same cells.
void Machine::bind(std::span<const Argument> arguments) {
  size_t n = arguments.size();
  views_.resize(n);
  values_.resize(n);
  names_.resize(n);
  slots_.resize(n);
  std::vector<size_t> buffers;
  for (size_t i = 0; i < n; ++i) {
    const Argument& a = arguments[i];
    if (a.kind == 'b') {
      buffers.push_back(i);
      names_[i] = a.name;
      slots_[i] = &views_[i];
    } else {
      values_[i] = a.value;
      slots_[i] = &values_[i];
    }
  }
  auto start = [&](size_t i) { return reinterpret_cast<uintptr_t>(arguments[i].data); };
  std::sort(buffers.begin(), buffers.end(), [&](size_t a, size_t b) { return start(a) < start(b); });
  for (size_t k = 0; k < buffers.size();) {
    uintptr_t begin = start(buffers[k]), end = begin;
    size_t last = k;
    for (; last < buffers.size() && (last == k || start(buffers[last]) < end); ++last)
      end = std::max(end, start(buffers[last]) + static_cast<uintptr_t>(arguments[buffers[last]].bytes));
    regions_.push_back(
        std::make_unique<Region>(reinterpret_cast<char*>(begin), static_cast<int64_t>(end - begin), false));
    for (; k < last; ++k) {
      size_t i = buffers[k];
      auto offset = static_cast<int64_t>(start(i) - begin);
      views_[i] = View{regions_.back().get(), offset, offset + arguments[i].bytes, offset, names_[i].c_str()};
    }
  }
}

void Machine::run_block(int64_t block) {
  clock_.first = ++clock_.interval;
  first_intervals_.push_back(clock_.first);
  blocks_.push_back(block);
  context_.block = unravel(block, grid_);
  std::memset(arena_->data(), kPoison, static_cast<size_t>(arena_->bytes()));
  std::fill(states_.begin(), states_.end(), ThreadState::ready);
  for (size_t t = 0; t < states_.size(); ++t) fibers_.restart(static_cast<int>(t));
  std::vector<int> order(states_.size());
  do {
    permute(order, options_.seed, clock_.interval);
    for (int t : order) {
      if (states_[t] != ThreadState::ready) continue;
      thread_ = t;
      context_.thread = unravel(t, block_);
      fibers_.resume(t);
      if (report_.stopped) return;
    }
  } while (pass_exchanges() || (!report_.stopped && pass_barrier()));
}

/// After each thread has run as far as it can: whether the threads of a warp have all come to one exchange.
bool Machine::pass_exchanges() {
  bool passed = false;
  const size_t threads = states_.size();
  for (size_t first = 0; first < threads; first += tw::emu::warp_size) {
    const size_t end = std::min<size_t>(threads, first + tw::emu::warp_size);
    const auto meets = [&](size_t t) { return states_[t] == ThreadState::exchanging && lines_[t] == lines_[first]; };
    size_t met = first;
    while (met < end && meets(met)) ++met;
    if (met < end) continue;
    std::fill(states_.begin() + static_cast<ptrdiff_t>(first), states_.begin() + static_cast<ptrdiff_t>(end),
              ThreadState::ready);
    passed = true;
  }
  if (passed) return true;
  const auto waits = std::find(states_.begin(), states_.end(), ThreadState::exchanging);
  if (waits == states_.end()) return false;
  const auto t = static_cast<size_t>(waits - states_.begin());
  thread_ = static_cast<int>(t);
  report(FaultKind::barrier_divergence, lines_[t], {},
         fmt::format("exchange at line {}: {} waits there, but not all threads of its warp come", lines_[t],
                     name_of({blocks_.back(), thread_, lines_[t]})));
  report_.stopped = true;
  return false;
}

/// After each thread has run as far as it can: whether the block goes on, all threads having met at one barrier.
bool Machine::pass_barrier() {
  size_t waiting = static_cast<size_t>(std::count(states_.begin(), states_.end(), ThreadState::waiting));
  if (waiting == 0) return false;
  auto first = static_cast<size_t>(std::find(states_.begin(), states_.end(), ThreadState::waiting) - states_.begin());
  for (size_t t = 0; t < states_.size(); ++t) {
    bool finished = states_[t] == ThreadState::finished;
    if (!finished && lines_[t] == lines_[first]) continue;
    thread_ = static_cast<int>(t);
    Access waits{blocks_.back(), static_cast<int>(first), lines_[first]};
    std::string where = finished ? "has ended" : fmt::format("waits at the barrier at line {}", lines_[t]);
    report(FaultKind::barrier_divergence, finished ? 0 : lines_[t], waits,
           fmt::format("barrier at line {}: {} waits there but {} {}; {} of {} threads wait", lines_[first],
                       name_of(waits), name_of({waits.block, thread_, 0}), where, waiting, states_.size()));
    report_.stopped = true;
    return false;
  }
  std::fill(states_.begin(), states_.end(), ThreadState::ready);
  ++clock_.interval;
  ++report_.barriers;
  return true;
}

void Machine::barrier(int line) {
  states_[thread_] = ThreadState::waiting;
  lines_[thread_] = line;
  fibers_.pause();
}

const char* Machine::exchange(const void* value, int bytes, int line) {
  const size_t thread = static_cast<size_t>(thread_), lane = thread % tw::emu::warp_size;
  const size_t round = exchanges_[thread]++ % 2 * (exchanged_.size() / 2);
  char* warp = exchanged_.data() + round + (thread - lane) * tw::emu::largest_exchange;
  std::memcpy(warp + lane * static_cast<size_t>(bytes), value, static_cast<size_t>(bytes));
  states_[thread] = ThreadState::exchanging;
  lines_[thread] = line;
  fibers_.pause();
  return warp;
}

/// Ends the launch from a thread: its fiber and all others are abandoned.
void Machine::stop() {
  report_.stopped = true;
  fibers_.pause();
}

Access Machine::accessor(const Stamp& stamp) const {
  auto after = std::upper_bound(first_intervals_.begin(), first_intervals_.end(), stamp.interval);
  int64_t block = blocks_[static_cast<size_t>(after - first_intervals_.begin()) - 1];
  return {block, stamp.thread, static_cast<int>(stamp.line)};
}

std::string Machine::name_of(const Access& who) const {
  return fmt::format("thread {} of block {}", who.thread, who.block);
}

void Machine::report(FaultKind kind, int line, const Access& earlier, const std::string& text) {
  if (++report_.total > options_.listed_faults) return;
  report_.faults.push_back({kind, text, "", 0, 0, {blocks_.back(), thread_, line}, earlier});
}

/// "thread 2 of block 0 writes s[2] (line 5)" followed by `why`.
void Machine::report(FaultKind kind, const Attempt& attempt, const Access& earlier, const std::string& why) {
  if (++report_.total > options_.listed_faults) return;
  Access now{blocks_.back(), thread_, attempt.line};
  const char* verb = attempt.kind == tw::emu::read_access ? "reads" : "writes";
  const char* name = attempt.view.name;
  report_.faults.push_back(
      {kind, fmt::format("{} {} {}[{}] (line {}){}", name_of(now), verb, name, attempt.element, attempt.line, why),
       name, attempt.element, attempt.element_bytes, now, earlier});
}

void Machine::report_conflict(Conflict conflict, const Attempt& attempt, const Stamp& earlier) {
  if (conflict == Conflict::uninitialised)
    return report(FaultKind::uninitialised_read, attempt, {}, ", which no thread of the block has written");
  Access before = accessor(earlier);
  std::string who = name_of(before), at = before.line ? fmt::format(" (line {})", before.line) : "";
  auto race = [&](FaultKind kind, const char* did) {
    report(kind, attempt, before, fmt::format(", {} {} it{} with no barrier between them", who, did, at));
  };
  if (conflict == Conflict::read_after_write) return race(FaultKind::read_after_write, "wrote");
  if (conflict == Conflict::write_after_read) return race(FaultKind::write_after_read, "read");
  if (conflict == Conflict::write_after_write) return race(FaultKind::write_after_write, "wrote");
  report(FaultKind::block_conflict, attempt, before,
         fmt::format(", {} accessed it{}, and blocks of one launch have no order", who, at));
}

char* Machine::access(const View& view, int64_t index, unsigned element_bytes, unsigned bytes, int line,
                      AccessKind kind) {
  if (++report_.accesses > options_.access_limit) {
    report(FaultKind::limit_exceeded, line, {},
           fmt::format("the launch made more than {} accesses: does a loop never end?", options_.access_limit));
    stop();
  }
  auto& region = *static_cast<Region*>(view.region);
  int64_t offset = 0, in_buffer = 0;
  bool overflow = __builtin_mul_overflow(index, static_cast<int64_t>(element_bytes), &offset) ||
                  __builtin_add_overflow(offset, view.origin, &offset) ||
                  __builtin_sub_overflow(offset, view.begin, &in_buffer);
  Attempt attempt{view, overflow ? index : floor_div(in_buffer, element_bytes), element_bytes, line, kind};
  int64_t end = std::min<int64_t>(view.end, region.bytes());
  if (overflow || in_buffer < 0 || offset > end - static_cast<int64_t>(bytes)) {
    int64_t held = std::max<int64_t>(0, end - view.begin) / element_bytes;
    report(kind == tw::emu::read_access ? FaultKind::out_of_bounds_read : FaultKind::out_of_bounds_write, attempt, {},
           fmt::format(", {} bytes, but {} holds {} elements of {} bytes", bytes, view.name, held, element_bytes));
    return nullptr;
  }
  char* address = region.data() + offset;
  if (reinterpret_cast<uintptr_t>(address) & (bytes - 1)) {
    report(FaultKind::misaligned, attempt, {},
           fmt::format(", {} bytes at an address that is not a multiple of {}", bytes, bytes));
    return nullptr;
  }
  Stamp earlier;
  int64_t where = 0;
  auto thread = static_cast<uint16_t>(thread_);
  auto at = static_cast<uint32_t>(line);
  Conflict conflict = kind == tw::emu::read_access ? region.read(clock_, offset, bytes, thread, at, earlier, where)
                                                   : region.write(clock_, offset, bytes, thread, at, earlier, where);
  if (conflict == Conflict::none) return address;
  if (conflict == Conflict::no_memory) {
    report(FaultKind::limit_exceeded, attempt, {},
           fmt::format(", but there is no memory to record the accesses to its {} bytes", region.bytes()));
    stop();
  }
  attempt.element = floor_div(where - view.begin, element_bytes);
  report_conflict(conflict, attempt, earlier);
  return address;
}
}  // namespace

Report run_launch(const Library& library, const tw::emu::Entry& entry, Dim3 grid, Dim3 block, int64_t shared_bytes,
                  std::span<const Argument> arguments, const LaunchOptions& options) {
  std::lock_guard lock(library.launching);
  Machine machine(entry, grid, block, shared_bytes, arguments, options);
  *library.current = machine.context();
  Report report = machine.run();
  *library.current = nullptr;
  return report;
}

}  // namespace tilewright::simt
