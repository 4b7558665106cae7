#pragma once
// Integer formulas of a launch as plain data: a grid size, a byte count. The same bytecode is read by every device and
// can be written into generated host code.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "numeric/ops.h"

namespace tilewright {

/// A stack program over the launch's scalars (i64). Operators have the language's meaning (x / 0 = 0, floor family).
struct Formula {
  struct Step {
    enum class Kind : uint8_t { constant, scalar, binary, select } kind;
    int64_t value = 0;            // the constant, or the index of the scalar
    BinaryOp op = BinaryOp::add;  // binary: pops b, then a, pushes a op b (comparisons push 0 or 1)
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;

  static Formula of(int64_t constant) { return {{{Step::Kind::constant, constant}}}; }
  int64_t evaluate(std::span<const int64_t> scalars) const;
  bool operator==(const Formula&) const = default;
};

/// "ceildiv(n, 128)": for facts and error messages. `names` are the scalars' names.
std::string to_string(const Formula& formula, std::span<const std::string> names);

}  // namespace tilewright
