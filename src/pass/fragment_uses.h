#pragma once
// What the statements of a phase ask of its fragments, before any is placed. Internal to src/pass.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/caps.h"
#include "pass/distribution.h"

namespace tilewright {

/// A fragment of one phase, while it may still be distributed.
struct Fragment {
  ir::Ref<ir::Buffer> buffer;
  std::vector<int64_t> shape;
  int64_t size = 1;
  std::string kept_whole;  // why it lies in memory
  std::optional<Distribution> placed;
};

/// Axis `axes[k]` of `from` runs with axis k of `to`; an axis of extent 1 runs with none (-1).
struct Relation {
  std::string from, to;
  std::vector<int> axes;
};

struct FragmentUses {
  std::map<std::string, Fragment> fragments;
  std::vector<std::string> order;  // of declaration
  std::vector<Relation> relations;
  /// Fragments that can only be distributed when one of some others is: the source of a reduction needs its result, and
  /// what lacks a variable of a loop needs one that has all.
  std::vector<std::pair<std::string, std::vector<std::string>>> needs;
  /// Loops that write what they read, and the fragments that have all of their variables. Where several threads hold an
  /// element of those, the buffers must be distributed too: one thread would write memory while another one reads it.
  struct Update {
    std::vector<std::string> fragments, buffers;
  };
  std::vector<Update> updates;
  /// Gemms that a matrix unit can do when it has c, and a where that is a fragment, its own way.
  struct Product {
    ir::Ref<ir::Gemm> gemm;
    const MatrixUnit* unit;
    int64_t m, n, k;
  };
  std::vector<Product> products;

  /// The uses in the body of a phase.
  static FragmentUses of(const ir::Stmt& body, const Caps& caps);
};

}  // namespace tilewright
