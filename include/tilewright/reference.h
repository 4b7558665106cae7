#pragma once
// What the kernels of kernels.h should give, computed in f64 on the host, and how far a result may lie from it. Slow
// and plain. The bounds are derived in docs/numerics.md.
#include <vector>

#include "tilewright/runtime.h"

namespace tilewright {

/// A comparison of a result with its reference. error and tolerance are those of the element that uses the largest part
/// of its own bound.
struct Agreement {
  double error = 0;      // |got - wanted|
  double tolerance = 0;  // the bound of that element
  double got = 0, wanted = 0;
  std::vector<int64_t> at;  // its index; empty when nothing was compared
  int64_t elements = 0;     // how many were compared

  /// False when the error is NaN.
  bool ok() const { return error <= tolerance; }
};

// Tensors are in host memory, with the shapes of kernels.h. Every `row_step`-th row (query) and the last one are
// compared.

Agreement check_vector_add(const Tensor& x, const Tensor& y, const Tensor& z);
Agreement check_reverse(const Tensor& x, const Tensor& y);
/// `columns`: of the kernel's tile; a row that is longer is rescaled once a tile.
Agreement check_softmax(const Tensor& x, const Tensor& y, int64_t columns, int64_t row_step = 1);
Agreement check_rms_norm(const Tensor& x, const Tensor& w, double eps, const Tensor& y, int64_t row_step = 1);
Agreement check_gemm(const Tensor& A, const Tensor& B, const Tensor& C, bool transpose_b, int64_t row_step = 1);
/// `keys`: of the kernel's tile.
Agreement check_attention(const Tensor& Q, const Tensor& K, const Tensor& V, const Tensor& O, bool causal, int64_t keys,
                          int64_t row_step = 1);

}  // namespace tilewright
