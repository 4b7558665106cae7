#pragma once
// What passes may know of a chip, as tables. A pass reads Caps; it never asks for a target's name.
#include <cstdint>
#include <string>
#include <vector>

#include "ir/nodes.h"
#include "tilewright/layout.h"

namespace tilewright {

/// Which final form the machine runs: loops (no threads), threads (they synchronise at barriers), engines (queues
/// of operations that flags order).
enum class Model : uint8_t { loops, threads, engines };

struct Memory {
  std::string name;   // "shared", "UB", "scratch"
  int64_t bytes = 0;  // that one block (core) may use
  int64_t alignment = 1;
  int64_t row_alignment = 1;  // bytes: rows of a tile of two and more axes begin at multiples of it
};

/// An execution unit with a queue of its own (engines model): operations begin in order and may overlap.
struct Engine {
  std::string name;
  bool issues = false;       // it issues to the others: what it has waited for orders everything issued later
  bool scalar = false;       // runs element loops and control flow
  bool self_ordered = true;  // its own operations need no barrier between dependent ones
};

/// Which engine moves data between two memories ("" = global memory).
struct CopyPath {
  std::string from, to, engine;
  bool converts = false;  // also between element types
};

/// Threads model: a product c (m, n) += a (m, k) b (k, n) that the threads of a warp do together.
struct MatrixUnit {
  std::string name;
  std::vector<DType> inputs;  // a and b are of one of these types
  DType accumulator;
  Layout a, b, c;  // which lane holds which element, where among its own
};

struct Caps {
  std::string target, arch;
  Model model = Model::loops;
  std::vector<Memory> memories;
  std::string memory_of[ir::kSpaces];  // indexed by ir::Space: where tiles of that space go
  /// Where tiles made inside `parallel` go when iterations run at the same time: every iteration has its own. Empty on
  /// machines that run iterations one after the other, where memory_of[] does.
  std::string iteration_memory;
  /// Threads model: how many threads exchange values without memory (a warp), and how many bytes of registers a thread
  /// may spend on its parts of fragments. 0: fragments lie in memory_of[].
  int64_t lanes = 0, register_bytes = 0;
  std::vector<MatrixUnit> matrix_units;
  std::vector<Engine> engines;
  std::vector<CopyPath> paths;
  int64_t flags_per_pair = 0;  // flag ids of one ordered pair of engines
  int64_t max_threads = 1;     // per block, at most ir::kMostThreadsOfBlock
  int64_t cores = 0;           // engines model: cores that a launch may use at once
  int64_t max_blocks = INT64_MAX;
  std::vector<DType> storage_types;     // element types of buffers
  std::vector<DType> arithmetic_types;  // types of expressions; others are refused

  const MatrixUnit* matrix_unit(const std::string& name) const;
  const Memory* memory(const std::string& name) const;
  const Engine* engine(const std::string& name) const;
  /// Engines model: the engine that element loops run on.
  const Engine& scalar_engine() const;
  const CopyPath* path(const std::string& from, const std::string& to) const;
};

}  // namespace tilewright
