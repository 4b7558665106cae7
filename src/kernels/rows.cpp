// Kernels on the rows of a matrix.
#include <algorithm>
#include <limits>

#include "tilewright/kernels.h"

namespace tilewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLog2E = 1.4426950408889634;

/// Rows first .. first + rows of y = softmax(x), where a row has at most t.columns elements.
void softmax_one_tile(Buffer x, Buffer y, Expr first, RowTile t) {
  auto v = fragment(f32, {t.rows, t.columns});                         // (rows, columns)
  auto peak = fragment(f32, {t.rows}), sum = fragment(f32, {t.rows});  // (rows)
  copy(x[{first, 0}], v, -kInfinity);
  reduce_max(v, peak, 1);
  for (auto [i, j] : parallel(t.rows, t.columns)) v(i, j) = exp2((v(i, j) - peak(i)) * kLog2E);
  reduce_sum(v, sum, 1);
  for (auto [i, j] : parallel(t.rows, t.columns)) v(i, j) /= sum(i);
  copy(v, y[{first, 0}]);
}

/// The same for longer rows.  x, y (R, C).
void softmax_many_tiles(Buffer x, Buffer y, Expr first, RowTile t) {
  auto C = x.extent(1);
  auto v = fragment(f32, {t.rows, t.columns});  // (rows, columns)
  auto peak = fragment(f32, {t.rows}), next = fragment(f32, {t.rows}), sum = fragment(f32, {t.rows});  // (rows)
  fill(peak, std::numeric_limits<float>::lowest());
  clear(sum);
  for (Var k : serial(ceildiv(C, t.columns))) {
    copy(x[{first, k * t.columns}], v, -kInfinity);
    copy(peak, next);
    reduce_max(v, next, 1, accumulate);
    for (Var i : parallel(t.rows)) {
      sum(i) *= exp2((peak(i) - next(i)) * kLog2E);
      peak(i) = next(i);
    }
    for (auto [i, j] : parallel(t.rows, t.columns)) v(i, j) = exp2((v(i, j) - peak(i)) * kLog2E);
    reduce_sum(v, sum, 1, accumulate);
  }
  for (Var k : serial(ceildiv(C, t.columns))) {
    copy(x[{first, k * t.columns}], v, -kInfinity);
    for (auto [i, j] : parallel(t.rows, t.columns)) v(i, j) = exp2((v(i, j) - peak(i)) * kLog2E) / sum(i);
    copy(v, y[{first, k * t.columns}]);
  }
}

}  // namespace

RowTile row_tile(int64_t columns) {
  constexpr int64_t kWhole = 8192;
  int64_t width = columns > kWhole ? 4096 : std::max<int64_t>(16, ceildiv(columns, 16) * 16);
  return {.rows = static_cast<int>(std::clamp<int64_t>(4096 / width, 1, 16)), .columns = static_cast<int>(width)};
}

void softmax_kernel(Buffer x, Buffer y, RowTile t) {
  auto [R, C] = x.shape<2>();
  require_equal(y.extent(0), R);
  require_equal(y.extent(1), C);
  for (Var b : grid(ceildiv(R, t.rows), threads{t.threads})) {
    when(C <= t.columns, [&] { softmax_one_tile(x, y, b * t.rows, t); }).otherwise([&] {
      softmax_many_tiles(x, y, b * t.rows, t);
    });
  }
}

UnarySignature softmax_signature(DType type) {
  return signature(tensor("x", type, {"R", "C"}).strides({"x_pitch", 1}),
                   tensor("y", type, {"R", "C"}).strides({"y_pitch", 1}));
}

void rms_norm_kernel(Buffer x, Buffer w, Buffer y, Expr eps, RowTile t) {
  auto [R, C] = x.shape<2>();
  require_equal(w.extent(0), C);
  require_equal(y.extent(0), R);
  require_equal(y.extent(1), C);
  for (Var b : grid(ceildiv(R, t.rows), threads{t.threads})) {
    auto v = fragment(f32, {t.rows, t.columns}), square = fragment(f32, {t.rows, t.columns});  // (rows, columns)
    auto g = fragment(f32, {t.columns});                                                       // (columns)
    auto scale = fragment(f32, {t.rows});                                                      // (rows)
    auto add_squares = [&] {
      for (auto [i, j] : parallel(t.rows, t.columns)) square(i, j) = v(i, j) * v(i, j);
      reduce_sum(square, scale, 1, accumulate);
    };
    auto take_root = [&] {
      for (Var i : parallel(t.rows)) scale(i) = rsqrt(scale(i) / cast(f32, C) + eps);
    };
    auto write_tile = [&](const Expr& column) {
      copy(w[{column}], g);
      for (auto [i, j] : parallel(t.rows, t.columns)) v(i, j) *= scale(i) * g(j);
      copy(v, y[{b * t.rows, column}]);
    };
    clear(scale);
    when(C <= t.columns, [&] {
      copy(x[{b * t.rows, 0}], v);
      add_squares();
      take_root();
      write_tile(0);
    }).otherwise([&] {
      for (Var k : serial(ceildiv(C, t.columns))) {
        copy(x[{b * t.rows, k * t.columns}], v);
        add_squares();
      }
      take_root();
      for (Var k : serial(ceildiv(C, t.columns))) {
        copy(x[{b * t.rows, k * t.columns}], v);
        write_tile(k * t.columns);
      }
    });
  }
}

Signature<TensorSpec, TensorSpec, TensorSpec, ScalarSpec> rms_norm_signature(DType type) {
  return signature(tensor("x", type, {"R", "C"}).strides({"x_pitch", 1}), tensor("w", type, {"C"}).contiguous(),
                   tensor("y", type, {"R", "C"}).strides({"y_pitch", 1}), scalar("eps", f32));
}

}  // namespace tilewright
