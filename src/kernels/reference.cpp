#include "tilewright/reference.h"

#include <algorithm>
#include <cmath>

#include "tilewright/numerics.h"

namespace tilewright {
namespace {

constexpr double kLeastNormal = 0x1p-126;  // of f32, in which every kernel computes
constexpr int64_t kExpUlps = 2;            // error of an exp2, in units in the last place of f32

/// Reads elements of a host tensor.
class Reader {
 public:
  explicit Reader(const Tensor& t) : t_(t), strides_(t.strides.empty() ? contiguous_strides(t.shape) : t.strides) {}
  double operator()(const std::vector<int64_t>& index) const {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides_[i];
    return read_element(t_.dtype, t_.data, offset);
  }
  /// `index` with its last axis walked.
  std::vector<double> row(std::vector<int64_t> index) const {
    index.push_back(0);
    std::vector<double> values(static_cast<size_t>(t_.shape.back()));
    for (size_t i = 0; i < values.size(); ++i) {
      index.back() = static_cast<int64_t>(i);
      values[i] = (*this)(index);
    }
    return values;
  }
  int64_t extent(size_t axis) const { return t_.shape[axis]; }
  DType dtype() const { return t_.dtype; }

 private:
  const Tensor& t_;
  std::vector<int64_t> strides_;
};

/// The part of its bound that an error uses: infinite for NaN, and for an error where none is allowed.
double part_of_bound(double error, double bound) {
  if (std::isnan(error)) return HUGE_VAL;
  if (error == 0 || std::isinf(bound)) return 0;
  return error / bound;
}

void compare(Agreement& a, std::vector<int64_t> at, double got, double wanted, double bound) {
  const double error = got == wanted ? 0 : std::fabs(got - wanted);
  const double part = part_of_bound(error, bound), worst = part_of_bound(a.error, a.tolerance);
  const bool first = a.elements++ == 0;
  if (!first && (part < worst || (part == worst && (std::isinf(part) || bound <= a.tolerance)))) return;
  a.error = error, a.tolerance = bound, a.got = got, a.wanted = wanted, a.at = std::move(at);
}

/// Calls f(row) for every step-th row and the last one.
template <class F>
void each_row(int64_t rows, int64_t step, F f) {
  for (int64_t r = 0; r < rows; r += step) f(r);
  if (rows > 0 && (rows - 1) % step != 0) f(rows - 1);
}

/// Sums of products with the rows of a matrix: total(j) += a * b(j) and sum(j) += |a * b(j)|.
void accumulate_row(double a, const std::vector<double>& b, std::vector<double>& total, std::vector<double>& sum) {
  for (size_t j = 0; j < b.size(); ++j) {
    total[j] += a * b[j];
    sum[j] += std::fabs(a * b[j]);
  }
}

int64_t tiles(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

/// The rounding to the output type of a value that was computed in f32.
double output_bound(double magnitude, DType out) { return out == f32 ? 0 : rounding_bound(magnitude, out); }

}  // namespace

Agreement check_vector_add(const Tensor& x, const Tensor& y, const Tensor& z) {
  Reader rx(x), ry(y), rz(z);
  Agreement result;
  for (int64_t i = 0; i < rx.extent(0); ++i) {
    double wanted = rx({i}) + ry({i});
    double bound = !z.dtype.is_float() ? 0 : z.dtype.is_narrow_float() ? rounding_bound(wanted, f32) : 0;
    if (z.dtype.is_float()) bound += rounding_bound(std::fabs(wanted) + bound, z.dtype);
    compare(result, {i}, rz({i}), wanted, bound);
  }
  return result;
}

Agreement check_reverse(const Tensor& x, const Tensor& y) {
  Reader rx(x), ry(y);
  Agreement result;
  const int64_t n = rx.extent(0);
  for (int64_t i = 0; i < n; ++i) compare(result, {i}, ry({i}), rx({n - 1 - i}), 0);
  return result;
}

Agreement check_softmax(const Tensor& x, const Tensor& y, int64_t columns, int64_t row_step) {
  Reader rx(x), ry(y);
  Agreement result;
  const int64_t n = rx.extent(1);
  each_row(rx.extent(0), row_step, [&](int64_t r) {
    if (n == 0) return;
    const std::vector<double> v = rx.row({r}), got = ry.row({r});
    const auto [least, most] = std::minmax_element(v.begin(), v.end());
    double sum = 0;
    for (double e : v) sum += std::exp(e - *most);
    SoftmaxShape shape{
        .length = n, .range = *most - *least, .exp_ulps = kExpUlps, .rescales = n > columns ? tiles(n, columns) : 0};
    for (int64_t j = 0; j < n; ++j) {
      double wanted = std::exp(v[j] - *most) / sum;
      compare(result, {r, j}, got[j], wanted, softmax_bound(wanted, shape, f32, y.dtype));
    }
  });
  return result;
}

// The mean has C products and C - 1 sums (gamma_C), a conversion, a division and the sum with eps; the root halves its
// relative error. Then come rsqrt itself (2 ulps) and two products.
Agreement check_rms_norm(const Tensor& x, const Tensor& w, double eps, const Tensor& y, int64_t row_step) {
  Reader rx(x), ry(y);
  Agreement result;
  const int64_t n = rx.extent(1);
  const std::vector<double> weight = Reader(w).row({});
  const double relative = gamma((n + 3 + 1) / 2 + 4 + 2, f32);
  const double eps32 = static_cast<float>(eps);
  each_row(rx.extent(0), row_step, [&](int64_t r) {
    const std::vector<double> v = rx.row({r}), got = ry.row({r});
    double squares = 0;
    for (double e : v) squares += e * e;
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + eps32);
    for (int64_t j = 0; j < n; ++j) {
      double wanted = v[j] * scale * weight[j];
      double inner = relative * std::fabs(wanted) + kLeastNormal;
      compare(result, {r, j}, got[j], wanted, inner + output_bound(std::fabs(wanted) + inner, y.dtype));
    }
  });
  return result;
}

Agreement check_gemm(const Tensor& A, const Tensor& B, const Tensor& C, bool transpose_b, int64_t row_step) {
  Reader ra(A), rb(B), rc(C);
  Agreement result;
  const int64_t k = ra.extent(1), n = rc.extent(1);
  std::vector<std::vector<double>> b(static_cast<size_t>(k), std::vector<double>(static_cast<size_t>(n)));  // (k, n)
  for (int64_t i = 0; i < rb.extent(0); ++i) {
    std::vector<double> row = rb.row({i});
    if (!transpose_b)
      b[i] = std::move(row);
    else
      for (int64_t l = 0; l < k; ++l) b[l][i] = row[l];
  }
  each_row(ra.extent(0), row_step, [&](int64_t r) {
    const std::vector<double> a = ra.row({r}), got = rc.row({r});
    std::vector<double> total(static_cast<size_t>(n)), sum(static_cast<size_t>(n));
    for (int64_t l = 0; l < k; ++l) accumulate_row(a[l], b[l], total, sum);
    for (int64_t j = 0; j < n; ++j)
      compare(result, {r, j}, got[j], total[j], dot_bound_at(total[j], sum[j], k, f32, C.dtype));
  });
  return result;
}

// A probability's exponent is a score: a dot product of length d, times a constant (gamma_(d+2) of sum |q k|,
// absolute). It enters numerator and denominator, hence twice, beside the roundings of a softmax over T keys in tiles.
// The second product adds gamma_T and the rounding of the probabilities to V's type, in the numerator alone.
Agreement check_attention(const Tensor& Q, const Tensor& K, const Tensor& V, const Tensor& O, bool causal, int64_t keys,
                          int64_t row_step) {
  Reader rq(Q), rk(K), rv(V), ro(O);
  Agreement result;
  const int64_t H = rq.extent(1), G = rk.extent(1), S = rq.extent(2), T = rk.extent(2), d = rq.extent(3);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  const double p_round = V.dtype == f32 ? 0 : rounding_bound(1, V.dtype);
  const double p_least = V.dtype == f32 ? kLeastNormal : rounding_bound(0, V.dtype);
  auto at_head = [&](int64_t b, int64_t h) {
    std::vector<std::vector<double>> k, v;
    for (int64_t j = 0; j < T; ++j) k.push_back(rk.row({b, h * G / H, j})), v.push_back(rv.row({b, h * G / H, j}));
    each_row(S, row_step, [&](int64_t i) {
      const std::vector<double> q = rq.row({b, h, i}), got = ro.row({b, h, i});
      const int64_t seen = causal ? std::clamp<int64_t>(i + T - S + 1, 0, T) : T;
      std::vector<double> score(static_cast<size_t>(seen)), total(static_cast<size_t>(d)), sum(static_cast<size_t>(d));
      double most = -HUGE_VAL, least = HUGE_VAL, products = 0, weights = 0, largest = 0;
      for (int64_t j = 0; j < seen; ++j) {
        double absolute = 0;
        for (int64_t l = 0; l < d; ++l) score[j] += q[l] * k[j][l] * scale, absolute += std::fabs(q[l] * k[j][l]);
        products = std::max(products, absolute * scale);
        most = std::max(most, score[j]), least = std::min(least, score[j]);
      }
      for (int64_t j = 0; j < seen; ++j) {
        const double weight = std::exp(score[j] - most);
        weights += weight;
        accumulate_row(weight, v[j], total, sum);
        for (double e : v[j]) largest = std::max(largest, std::fabs(e));
      }
      const SoftmaxShape shape{
          .length = seen, .range = seen > 0 ? most - least : 0, .exp_ulps = kExpUlps, .rescales = tiles(seen, keys)};
      const double relative = softmax_bound(1, shape, f32, f32) + std::expm1(2 * gamma(d + 2, f32) * products) +
                              gamma(seen + 2, f32) + p_round;
      for (int64_t l = 0; l < d; ++l) {
        const double wanted = weights > 0 ? total[l] / weights : 0;
        const double inner =
            weights > 0 ? relative * sum[l] / weights + static_cast<double>(seen) * p_least * largest : 0;
        compare(result, {b, h, i, l}, got[l], wanted, inner + output_bound(std::fabs(wanted) + inner, O.dtype));
      }
    });
  };
  for (int64_t b = 0; b < rq.extent(0); ++b)
    for (int64_t h = 0; h < H; ++h) at_head(b, h);
  return result;
}

}  // namespace tilewright
