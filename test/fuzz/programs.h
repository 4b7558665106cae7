#pragma once
// Random small tile programs: copies with tails, fills, element loops, reductions, products, serial loops, conditions.
// Every value that a tile holds is a whole number of at most 8 after each statement, so that sums are exact in any
// order.
#include <map>
#include <string>
#include <vector>

#include "fuzz/cases.h"
#include "ir/nodes.h"
#include "tilewright/runtime.h"

namespace tilewright::fuzz {

/// A traced kernel over the tensors X, W and Z of symbolic extents.
ir::Ref<ir::Kernel> random_program(Random& random);

/// Arguments for a kernel: tensors of random sizes, some with gaps between their rows, filled with whole numbers.
class ProgramData {
 public:
  ProgramData(Random& random, const ir::Kernel& kernel);

  std::vector<Argument> arguments();
  /// Every element of every tensor, gaps included.
  std::vector<std::string> values() const;
  std::string describe() const;

 private:
  struct Array {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape, strides;
    std::vector<unsigned char> bytes;
    int64_t count = 0;
  };
  std::vector<Array> arrays_;
};

}  // namespace tilewright::fuzz
