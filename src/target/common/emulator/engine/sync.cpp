// Flags, barriers, and the deferred execution: each pipe's operations wait in a queue and run in a seeded random order
// that only flags, barriers and the order inside a pipe restrict.
#include <fmt/format.h>

#include "target/common/emulator/engine/core.h"

namespace tilewright::engine {
using namespace tw_engine;

/// An operation starts after what S waited for before it issued the operation, but not after S's own accesses.
void Core::learn_from_scalar(Pipe pipe) {
  if (pipe != kPipeS && !launch_.strict_scalar) known_[pipe].join(known_[kPipeS]);
}

Core::Flag* Core::flag_of(int event, int64_t id, const char* what, uint32_t line) {
  const EventInfo& e = kEventTable[event];
  if (!e.listed) {
    fault("unknown-event", line,
          fmt::format("{}<HardEvent::{}>: the public list of events has no {}", what, e.name, e.name));
  }
  for (Pipe p : {e.from, e.to}) {
    if (info_.pipes[p]) continue;
    fault("no-such-pipe", line,
          fmt::format("{}<HardEvent::{}>: an {} core has no pipe {}", what, e.name, info_.name, kPipeNames[p]));
    return nullptr;
  }
  if (id < 0 || id >= kEventIds) {
    fault("event-id", line,
          fmt::format("{}<HardEvent::{}>({}): event ids are 0 .. {}", what, e.name, id, kEventIds - 1));
    return nullptr;
  }
  return &flags_[event][id];
}

void Core::set_flag(int event, int64_t id, uint32_t line) {
  Flag* flag = flag_of(event, id, "SetFlag", line);
  if (!flag) return;
  const EventInfo& e = kEventTable[event];
  learn_from_scalar(e.from);
  if (flag->set) {
    Fault f;
    f.kind = "double-set", f.kernel = launch_.kernel, f.actor = kPipeNames[e.from], f.line = line,
    f.other_line = flag->set_line, f.block = block_;
    f.sentence = fmt::format("SetFlag<HardEvent::{}>({}): the flag is set since line {} and nothing waited for it",
                             e.name, id, flag->set_line);
    launch_.report.add(std::move(f));
  } else if (flag->wait_tick && e.to != kPipeS && e.from != e.to && known_[e.from].at[e.to] < flag->wait_tick) {
    // The bit may still be set: the wait for the previous set need not have run yet. (A wait of S has: S issues this.)
    Fault f;
    f.kind = "event-reuse", f.kernel = launch_.kernel, f.actor = kPipeNames[e.from], f.other = kPipeNames[e.to],
    f.line = line, f.other_line = flag->wait_line, f.block = block_;
    f.sentence = fmt::format(
        "SetFlag<HardEvent::{}>({}) may run before the WaitFlag of line {}, and is lost then: nothing makes {} wait "
        "for {} in between",
        e.name, id, flag->wait_line, kPipeNames[e.from], kPipeNames[e.to]);
    launch_.report.add(std::move(f));
  }
  flag->set = true;
  flag->set_line = line;
  flag->at_set = known_[e.from];
  flag->at_set.at[e.from] = launch_.ticks[e.from];
  if (!launch_.deferred) return;
  if (e.from == kPipeS) {
    step_some();
    flag->bit = true;
    return;
  }
  enqueue(e.from, {Queued::set, static_cast<int>(event * kEventIds + id), {}});
}

void Core::wait_flag(int event, int64_t id, uint32_t line) {
  Flag* flag = flag_of(event, id, "WaitFlag", line);
  if (!flag) return;
  const EventInfo& e = kEventTable[event];
  learn_from_scalar(e.to);
  if (!flag->set) {
    fault("wait-without-set", line,
          fmt::format("WaitFlag<HardEvent::{}>({}): the flag was not set before: {} waits for ever", e.name, id,
                      kPipeNames[e.to]));
    return;
  }
  flag->set = false;
  known_[e.to].join(flag->at_set);
  flag->wait_tick = ++launch_.ticks[e.to];
  flag->wait_line = line;
  lines_[e.to].push_back(line);
  if (!launch_.deferred) return;
  if (e.to != kPipeS) {
    tw_engine::Op where;
    where.line = line;
    return enqueue(e.to, {Queued::wait, static_cast<int>(event * kEventIds + id), where});
  }
  step_some();
  while (!flag->bit) {
    if (step_any()) continue;
    fault(
        "deadlock", line,
        fmt::format("WaitFlag<HardEvent::{}>({}) on S never ends: the flag's set was lost or is blocked", e.name, id));
    throw Stopped{};
  }
  flag->bit = false;
}

void Core::barrier(int pipe, uint32_t line) {
  if (pipe == kPipeS) {
    fault("barrier-on-scalar", line, "PipeBarrier<PIPE_S> is a hardware error: S is in order by itself");
    return;
  }
  if (pipe != kPipeAll) {
    if (!info_.pipes[pipe]) {
      fault("no-such-pipe", line,
            fmt::format("PipeBarrier<PIPE_{}>: an {} core has no such pipe", kPipeNames[pipe], info_.name));
      return;
    }
    known_[pipe].at[pipe] = launch_.ticks[pipe];  // a queue that runs in order needs nothing else
    return;
  }
  Clock all;
  for (int p = 0; p < kPipeCount; ++p) all.at[p] = launch_.ticks[p];
  for (Clock& k : known_) k = all;
  if (launch_.deferred) drain(line);
}

void Core::finish() {
  if (launch_.deferred) drain(0);
  for (int e = 0; e < kEvents; ++e) {
    for (int id = 0; id < kEventIds; ++id) {
      if (!flags_[e][id].set) continue;
      fault("unmatched-set", flags_[e][id].set_line,
            fmt::format("SetFlag<HardEvent::{}>({}): the kernel ends and nothing waited for it", kEventTable[e].name,
                        id));
    }
  }
}

uint32_t Core::random(uint32_t below) {
  random_ += 0x9e3779b97f4a7c15u;  // splitmix64
  uint64_t z = random_;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>((z ^ z >> 31) >> 32) % below;
}

void Core::enqueue(Pipe pipe, Queued entry) {
  queues_[pipe].push_back(entry);
  step_some();
}

/// Runs the head of a pipe's queue; false when there is none or it waits.
bool Core::step(Pipe pipe) {
  std::deque<Queued>& q = queues_[pipe];
  if (q.empty()) return false;
  Queued head = q.front();
  bool& bit = (&flags_[0][0])[head.flag].bit;
  if (head.kind == Queued::wait) {
    if (!bit) return false;
    bit = false;
  } else if (head.kind == Queued::set) {
    bit = true;
  } else {
    execute(head.call);
  }
  q.pop_front();
  return true;
}

/// One step of some pipe, chosen by weight; false when every pipe is empty or waits.
bool Core::step_any() {
  uint32_t total = 0;
  for (int p = 0; p < kPipeCount; ++p) total += queues_[p].empty() ? 0 : weight_[p];
  if (total > 0) {
    uint32_t r = random(total);
    for (int p = 0; p < kPipeCount; ++p) {
      const uint32_t w = queues_[p].empty() ? 0 : weight_[p];
      if (r < w) {
        if (step(static_cast<Pipe>(p))) return true;
        break;
      }
      r -= w;
    }
  }
  const uint32_t start = random(kPipeCount);
  for (uint32_t i = 0; i < kPipeCount; ++i) {
    if (step(static_cast<Pipe>((start + i) % kPipeCount))) return true;
  }
  return false;
}

void Core::step_some() {
  for (uint32_t n = random(4); n > 0; --n) {
    const uint32_t p = random(kPipeCount);
    if (weight_[p]) step(static_cast<Pipe>(p));
  }
}

void Core::drain(uint32_t line) {
  while (step_any()) {
  }
  for (int p = 0; p < kPipeCount; ++p) {
    if (queues_[p].empty()) continue;
    const Queued& head = queues_[p].front();
    const EventInfo& e = kEventTable[head.flag / kEventIds];
    fault("deadlock", head.call.line ? head.call.line : line,
          fmt::format("WaitFlag<HardEvent::{}>({}) on {} never ends: the flag's set was lost or is blocked", e.name,
                      head.flag % kEventIds, kPipeNames[p]));
    throw Stopped{};
  }
}

}  // namespace tilewright::engine
