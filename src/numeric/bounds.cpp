// Derived bounds. Source of the gamma notation: N. Higham, Accuracy and Stability of Numerical Algorithms, chapter 3.
#include "tilewright/numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/format.h"

namespace tilewright {
namespace {

/// nu / (1 - nu) for a number of roundings that need not be whole.
double amplify(double roundings, double u) {
  const double nu = std::max(roundings, 0.0) * u;
  return nu < 1 ? nu / (1 - nu) : std::numeric_limits<double>::infinity();
}

/// The rounding to `out` of a value that was computed in `acc`: none when `out` holds every value of `acc`.
double output_rounding(double magnitude, DType acc, DType out) {
  const bool holds_all =
      out.is_float() && acc.is_float() && out.mantissa >= acc.mantissa && out.exponent >= acc.exponent;
  return holds_all ? 0 : rounding_bound(magnitude, out);
}

}  // namespace

double gamma(int64_t n, DType accumulator) { return amplify(static_cast<double>(n), unit_roundoff(accumulator)); }

double rounding_bound(double magnitude, DType out) {
  if (!out.is_float()) return 0;
  if (!has_zero(out)) return std::max(std::fabs(magnitude) / 2, smallest_positive(out));
  return std::max(std::fabs(magnitude) * unit_roundoff(out), smallest_positive(out) / 2);
}

double dot_bound_at(double exact, double sum_abs_products, int64_t k, DType acc, DType out) {
  if (!acc.is_float() || k <= 0) return 0;
  const double underflow = static_cast<double>(k) * smallest_positive(acc) / 2;
  const double inner = gamma(k, acc) * sum_abs_products + underflow * (1 + gamma(k, acc));
  return inner + output_rounding(std::fabs(exact) + inner, acc, out);
}

double dot_bound(double sum_abs_products, int64_t k, DType acc, DType out) {
  return dot_bound_at(sum_abs_products, sum_abs_products, k, acc, out);
}

double operand_bound(double sum_abs_products, DType operand) {
  const double u = unit_roundoff(operand);
  return (2 * u + u * u) * sum_abs_products;
}

double reduce_bound(double sum_abs, int64_t n, DType acc, DType out) {
  if (!acc.is_float() || n <= 0) return 0;
  const double inner = gamma(n - 1, acc) * sum_abs;
  return inner + output_rounding(sum_abs + inner, acc, out);
}

double softmax_bound(double y, const SoftmaxShape& shape, DType acc, DType out) {
  const double u = unit_roundoff(acc);
  // One exp: its argument (subtraction, scaling, constant) is off by 3 u range, its value by exp_ulps ulps of 2u each.
  const double one_exp = 3 * shape.range + 2 * shape.exp_ulps;
  // Numerator and denominator have one exp each; each rescale is one exp and one product on either; then the sum's
  // additions and the division.
  const double roundings =
      (2 + 2 * static_cast<double>(shape.rescales)) * (one_exp + 1) + static_cast<double>(shape.length);
  // An exp below the smallest normal value may be flushed to zero, in the numerator and in each term of the sum.
  const double underflow = smallest_normal(acc) * (1 + y * static_cast<double>(shape.length));
  const double inner = amplify(roundings, u) * y + underflow;
  return inner + output_rounding(y + inner, acc, out);
}

}  // namespace tilewright
