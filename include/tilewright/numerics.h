#pragma once
// Numbers of any element type in host memory, and derived bounds on rounding errors: how far a computed value may lie
// from the exact one. The derivations are in docs/numerics.md. Two computed values may differ by twice a bound.
#include <cstdint>

#include "tilewright/dtype.h"

namespace tilewright {

/// Element `index` of an array of `type` at `base` as a double (i64 beyond 2^53 is rounded); and back, rounded to
/// nearest even. Integers truncate and saturate.
double read_element(DType type, const void* base, int64_t index);
void write_element(DType type, void* base, int64_t index, double value);

/// n u / (1 - n u) for the unit roundoff u of `accumulator`: the relative error of n roundings in a row. Infinity when
/// n u >= 1; 0 for integers.
double gamma(int64_t n, DType accumulator);

/// The largest error of rounding a value of this magnitude to `out`: u * magnitude, at least half the subnormal
/// spacing. 0 for integers. The value must lie in the range of the format.
double rounding_bound(double magnitude, DType out);

/// A dot product of length k, in any order, with or without fma: gamma_k * sum |a b|, plus products that underflow,
/// plus the rounding to `out`. The operands are exact in `acc`.
double dot_bound(double sum_abs_products, int64_t k, DType acc, DType out);

/// The same, tighter when products cancel: the rounding to `out` is taken at the exact result.
double dot_bound_at(double exact, double sum_abs_products, int64_t k, DType acc, DType out);

/// What rounding both operands to `operand` first (tf32, quantised inputs) adds to a dot product: (2u + u^2) sum |a b|.
double operand_bound(double sum_abs_products, DType operand);

/// A sum of n values that are exact in `acc`, in any order: gamma_(n-1) * sum |x|, plus the rounding to `out`.
double reduce_bound(double sum_abs, int64_t n, DType acc, DType out);

/// What a softmax computes, for its bound.
struct SoftmaxShape {
  int64_t length = 1;    // elements of a row
  double range = 0;      // max over the row of (max - x), scaled as in the exponent (natural log units)
  double exp_ulps = 2;   // error of exp in units in the last place
  int64_t rescales = 0;  // times that a running sum was rescaled (online softmax: number of tiles)
};

/// One element y = exp(x - max) / sum of a softmax row, rounded to `out`.
double softmax_bound(double y, const SoftmaxShape& shape, DType acc, DType out);

}  // namespace tilewright
