#pragma once
// Integer formulas of a launch as plain data: a grid size, a byte count. The same bytecode is read by every device and
// can be written into generated host code.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "numeric/ops.h"
#include "tilewright/dtype.h"

namespace tilewright {

/// Steps over the launch's scalars; a step's operands are earlier steps, the last step is the value. Operators have the
/// language's meaning (x / 0 = 0, floor family, wrapping at the width of `type`).
struct Formula {
  struct Step {
    enum class Kind : uint8_t { constant, scalar, unary, binary, select, cast } kind;
    DType type = i64;     // of the result; an integer or bool
    int64_t value = 0;    // constant: itself; scalar: its index; unary, binary: the UnaryOp or BinaryOp
    int operand[3] = {};  // steps: a; a, b; or cond, a, b
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;

  static Formula of(int64_t constant) { return {{{Step::Kind::constant, i64, constant, {}}}}; }
  int64_t evaluate(std::span<const int64_t> scalars) const;
  bool operator==(const Formula&) const = default;
};

/// "ceildiv(n, 128)": for facts and error messages; long parts are cut. `names` are the scalars' names.
std::string to_string(const Formula& formula, std::span<const std::string> names);

}  // namespace tilewright
