#pragma once
// Machines of the pass tests, made of a Caps table only: passes may know nothing else of a chip.
#include "machine/target.h"

namespace tilewright::test {

class TableMachine : public Target {
 public:
  explicit TableMachine(Caps caps) : caps_(std::move(caps)) {}
  const Caps& caps() const override { return caps_; }
  Artifact emit(const ir::Ref<ir::Kernel>&, const LaunchPlan& plan) const override {
    return {.target = caps_.target, .arch = "", .language = "", .text = "", .binary = "", .plan = plan};
  }

 private:
  Caps caps_;
};

inline Caps common_caps(const char* name, Model model) {
  Caps c;
  c.target = c.arch = name;
  c.model = model;
  c.arithmetic_types = {boolean, f32, f64, i32, i64};
  c.storage_types = {boolean, f32, f64, f16, bf16, i32, i64};
  return c;
}

/// Loops over one scratch memory of 4096 bytes.
inline TableMachine loops_machine() {
  Caps c = common_caps("loopy", Model::loops);
  c.memories = {{.name = "scratch", .bytes = 4096, .alignment = 64}};
  for (int space : {1, 2, 3, 4}) c.memory_of[space] = "scratch";
  return TableMachine(c);
}

/// Threads with one fast memory, and one of each thread.
inline TableMachine threads_machine() {
  Caps c = common_caps("thready", Model::threads);
  c.memories = {{.name = "fast", .bytes = 4096, .alignment = 16}, {.name = "own", .bytes = 256, .alignment = 4}};
  c.iteration_memory = "own";
  for (int space : {1, 2, 4}) c.memory_of[space] = "fast";
  c.max_threads = 256;
  return TableMachine(c);
}

/// Two engines and one scratchpad: a scalar engine that issues, and a mover whose own operations are not ordered.
inline TableMachine engines_machine() {
  Caps c = common_caps("enginy", Model::engines);
  c.memories = {{.name = "pad", .bytes = 4096, .alignment = 32}};
  for (int space : {1, 2, 4}) c.memory_of[space] = "pad";
  c.engines = {{.name = "scalar", .issues = true, .scalar = true, .self_ordered = true},
               {.name = "in", .self_ordered = false},
               {.name = "out", .self_ordered = false}};
  c.paths = {{"", "pad", "in"}, {"pad", "", "out"}};
  c.flags_per_pair = 4;
  c.cores = 3;
  return TableMachine(c);
}

}  // namespace tilewright::test
