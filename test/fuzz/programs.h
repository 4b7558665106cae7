#pragma once
// Random small tile programs: copies with tails, fills, element loops, reductions, products, serial loops, conditions.
// Every value that a tile holds is a whole number of at most 8 after each statement, so that sums are exact in any
// order.
#include <map>
#include <string>
#include <vector>

#include "fuzz/cases.h"
#include "ir/nodes.h"
#include "numeric/scalar.h"
#include "tilewright/runtime.h"

namespace tilewright::fuzz {

enum class Types : uint8_t { all, common };  // common: f32, f16, i32, which every machine stores

/// A traced kernel over the tensors X, W and Z of symbolic extents.
ir::Ref<ir::Kernel> random_program(Random& random, Types types = Types::all);

/// Element by element: outputs of several types from expressions over inputs of every type.
ir::Ref<ir::Kernel> expression_program(Random& random);

/// A whole number of the type, from -3 or 0 to 4.
Scalar small_number(Random& random, DType type);

/// Arguments for a kernel: extents that are symbols have random sizes, strides that are symbols leave gaps.
class ProgramData {
 public:
  ProgramData(Random& random, const ir::Kernel& kernel, Scalar (*element)(Random&, DType) = small_number);

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
