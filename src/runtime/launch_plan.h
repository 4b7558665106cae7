#pragma once
// How a compiled kernel is called: which arguments it takes, how sizes and strides follow from them, and what each
// phase launches. Plain data, made by the compiler, read by every device.
#include <optional>

#include "runtime/formula.h"
#include "tilewright/runtime.h"

namespace tilewright {

/// A size or stride of a tensor argument: equal to scalar `scalar` of the plan (which it defines when no earlier
/// dimension did), or else to a formula of scalars that other dimensions define; a fixed size is a constant formula.
struct DimRule {
  int scalar = -1;
  Formula value;
};

enum class Access : uint8_t { in, out, inout };

struct TensorParam {
  std::string name;
  DType dtype;
  std::vector<DimRule> shape, strides;
  Access access = Access::in;
};

/// A scalar that kernels get: a symbol solved from shapes and strides, or a scalar argument of the call.
struct ScalarParam {
  std::string name;
  DType dtype;
  bool is_argument = false;
};

/// One launch. Phases run in order; a phase sees all writes of the phases before it.
struct Phase {
  std::string entry;                // symbol in the artifact
  std::vector<Formula> grid;        // the extents of the program's grid
  int64_t most_blocks = INT64_MAX;  // that the grid may have on this machine
  Formula blocks;                   // how many blocks (threads and loops form) or cores (engines form)
  int64_t threads = 1;              // per block; 1 in the loops and engines forms
  int64_t fast_memory_bytes = 0;    // shared memory or scratch of one block
};

struct LaunchPlan {
  std::string kernel;
  std::vector<TensorParam> tensors;  // in the order of the signature, scalars arguments after them
  std::vector<ScalarParam> scalars;  // symbols first, then scalar arguments
  std::vector<Phase> phases;
};

/// The arguments of one launch as entries take them: pointers of the tensors, then the scalars of the plan, each as 64
/// bits (integers sign-extended; floats as the bits of their own type in the low bytes).
struct BoundArguments {
  std::vector<void*> tensors;
  std::vector<int64_t> tensor_bytes;  // from `data` to the end of the last element; 0 for an empty tensor
  std::vector<uint64_t> scalars;
  std::vector<int64_t> formula_scalars;  // the integer scalars as i64 (0 in the place of a float)
};

/// Solves and checks a call: count, kinds, dtypes, ranks, fixed sizes, one value a symbol, data pointers and their
/// alignment to the element, no negative size, outputs that overlap another argument. UserError at `at` names the
/// argument, what it is and what was wanted.
BoundArguments bind_arguments(const LaunchPlan& plan, std::span<const Argument> arguments, Location at);

/// How many blocks or cores a phase launches: 0 where an extent of its grid is 0 or less. UserError at `at` when the
/// grid has more blocks than the machine has or 64 bits count.
int64_t launch_size(const LaunchPlan& plan, const Phase& phase, const BoundArguments& bound, Location at);

}  // namespace tilewright
