#include "tilewright/kernels.h"

namespace tilewright {

void gemm_kernel(Buffer A, Buffer B, Buffer C, bool transpose_b, GemmTile t) {
  gemm_kernel(A, B, C, transpose_b, t, [](auto x) { return x; });
}

BinarySignature gemm_signature(DType in, DType out, bool transpose_b) {
  TensorSpec b = transpose_b ? tensor("B", in, {"N", "K"}) : tensor("B", in, {"K", "N"});
  return signature(tensor("A", in, {"M", "K"}).strides({"A_pitch", 1}), std::move(b).strides({"B_pitch", 1}),
                   tensor("C", out, {"M", "N"}).strides({"C_pitch", 1}));
}

}  // namespace tilewright
