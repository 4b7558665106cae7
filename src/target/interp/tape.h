#pragma once
// An expression as a flat list of steps in evaluation order, so that evaluating a shared or very deep expression costs
// one step a node and no recursion.
#include <map>
#include <vector>

#include "ir/nodes.h"

namespace tilewright::interp {

/// Where the values of variables live while a kernel is interpreted: one slot a name.
struct Slots {
  std::map<std::string, int> of_name;
  std::vector<Scalar> values;

  int slot(const std::string& name);
};

/// What a tape reads elements from.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  virtual Scalar read(const ir::Load& load, const int64_t* indices) = 0;
};

class Tape {
 public:
  Tape(const ir::Expr& expression, Slots& slots);
  Scalar evaluate(const Slots& slots, ElementSource& source);

 private:
  struct Step {
    const ir::Node* node;
    int a = -1, b = -1, c = -1;  // steps of the operands
    int first = 0;               // loads: where its index steps stand in indices_
    int slot = -1;               // variables
  };

  void run(int step, const Slots& slots, ElementSource& source);
  Scalar evaluate_lazily(const Slots& slots, ElementSource& source);

  ir::Expr root_;
  std::vector<Step> steps_;
  std::vector<int> indices_;
  std::vector<Scalar> values_;
  std::vector<uint32_t> done_;  // lazy evaluation: the round in which a step was evaluated
  uint32_t round_ = 0;
  bool lazy_ = false;  // a side of select, and, or reads memory
};

}  // namespace tilewright::interp
