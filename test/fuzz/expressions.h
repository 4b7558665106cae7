#pragma once
// Random expressions of every type, and their values at a point.
#include <map>
#include <string>
#include <vector>

#include "fuzz/cases.h"
#include "ir/bounds.h"
#include "ir/nodes.h"

namespace tilewright::fuzz {

/// Types that variables and elements may have. Arithmetic is done in all but the narrow floats.
const std::vector<DType>& all_types();

/// A value of the type: often one where something happens (0, 1, the largest, a power of two, NaN).
Scalar random_value(Random& random, DType type);

/// An integer of the range.
Scalar random_value(Random& random, DType type, ir::Range range);

struct ExpressionOptions {
  int depth = 5;
  int share_percent = 15;  // how often a part is one that was made before
  bool loads = true;
  bool nibbles = true;  // arithmetic of i4 and u4
};

/// Makes expressions over the variables and elements that it is given.
class Expressions {
 public:
  using Options = ExpressionOptions;
  Expressions(Random& random, std::vector<ir::Ref<ir::Var>> variables, std::vector<ir::Ref<ir::Buffer>> buffers = {},
              Options options = {})
      : random_(random), variables_(std::move(variables)), buffers_(std::move(buffers)), options_(options) {}

  ir::Expr make(DType type) { return make(type, options_.depth); }
  /// i64.
  ir::Expr index() { return make(i64, options_.depth); }

 private:
  ir::Expr make(DType type, int depth);
  ir::Expr leaf(DType type);
  ir::Expr operation(DType type, int depth);
  ir::Expr boolean_operation(int depth);
  ir::Expr constant_of(DType type);
  ir::Expr divisor(DType type, int depth);
  DType arithmetic_type();

  Random& random_;
  std::vector<ir::Ref<ir::Var>> variables_;
  std::vector<ir::Ref<ir::Buffer>> buffers_;
  Options options_;
  std::vector<ir::Expr> made_;
};

/// Values of variables by name.
using Point = std::map<std::string, Scalar>;
std::string to_string(const Point& point);

/// The value of `e`; an element is a function of `memory`, its buffer's name and its indices.
Scalar value_at(const ir::Expr& e, const Point& point, uint64_t memory);

/// The expressions under `e`, each once, parts first.
std::vector<ir::Expr> parts_of(const ir::Expr& e);

}  // namespace tilewright::fuzz
