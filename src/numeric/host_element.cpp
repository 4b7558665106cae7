#include "numeric/scalar.h"
#include "tilewright/numerics.h"

namespace tilewright {

double read_element(DType type, const void* base, int64_t index) { return load_element(type, base, index).to_double(); }

void write_element(DType type, void* base, int64_t index, double value) {
  store_element(base, index, Scalar::of_float(type, value));
}

}  // namespace tilewright
