// The f64 references accept a right result, and name the element of a wrong one.
#include "tilewright/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tilewright/numerics.h"

namespace tilewright {
namespace {

/// A tensor with a gap after each row, and the elements it holds.
struct Data {
  Data(DType type, std::vector<int64_t> shape, unsigned seed)
      : bytes(static_cast<size_t>(type.bytes(2 * element_count(shape)))) {
    tensor = {bytes.data(), type, shape, contiguous_strides(shape)};
    for (size_t i = 0; i + 1 < shape.size(); ++i) tensor.strides[i] *= 2;
    std::mt19937 bits(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i < element_count(shape); ++i) set(i, normal(bits));
  }
  /// Offset of element `index`, counted row-major.
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (size_t axis = tensor.shape.size(); axis-- > 0; index /= tensor.shape[axis])
      at += index % tensor.shape[axis] * tensor.strides[axis];
    return at;
  }
  double get(int64_t index) const { return read_element(tensor.dtype, bytes.data(), offset(index)); }
  void set(int64_t index, double value) { write_element(tensor.dtype, bytes.data(), offset(index), value); }
  int64_t size() const { return element_count(tensor.shape); }

  std::vector<char> bytes;
  Tensor tensor;
};

/// `out` holds a right result: it is accepted; with one element moved beyond its bound, or NaN, that element is named.
void check_judgement(Data& out, const std::function<Agreement()>& check) {
  const Agreement right = check();
  EXPECT_TRUE(right.ok()) << right.got << " for " << right.wanted << ": " << right.error << " of " << right.tolerance;
  EXPECT_EQ(right.elements, out.size());
  for (int64_t index : {int64_t{0}, out.size() / 2, out.size() - 1}) {
    std::vector<int64_t> place;
    for (size_t axis = out.tensor.shape.size(), rest = static_cast<size_t>(index); axis-- > 0;
         rest /= static_cast<size_t>(out.tensor.shape[axis]))
      place.insert(place.begin(), static_cast<int64_t>(rest) % out.tensor.shape[axis]);
    const double kept = out.get(index);
    for (double wrong : {kept + 1, -kept - 0.5, std::numeric_limits<double>::quiet_NaN()}) {
      out.set(index, wrong);
      const Agreement found = check();
      EXPECT_FALSE(found.ok()) << wrong;
      EXPECT_EQ(found.at, place);
    }
    out.set(index, kept);
  }
}

TEST(Reference, VectorAdd) {
  for (DType type : {f32, f16, i32}) {
    Data x(type, {37}, 1), y(type, {37}, 2), z(type, {37}, 3);
    for (int64_t i = 0; i < 37; ++i) z.set(i, x.get(i) + y.get(i));
    const auto check = [&] { return check_vector_add(x.tensor, y.tensor, z.tensor); };
    if (type.is_float()) {
      check_judgement(z, check);
    } else {
      EXPECT_TRUE(check().ok());
      z.set(5, z.get(5) + 1);
      EXPECT_FALSE(check().ok());
    }
  }
}

TEST(Reference, Reverse) {
  Data x(f32, {37}, 1), y(f32, {37}, 2);
  for (int64_t i = 0; i < 37; ++i) y.set(i, x.get(36 - i));
  check_judgement(y, [&] { return check_reverse(x.tensor, y.tensor); });
}

TEST(Reference, Softmax) {
  const int64_t rows = 3, columns = 19;
  Data x(f32, {rows, columns}, 1), y(f32, {rows, columns}, 2);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += std::exp(x.get(r * columns + c));
    for (int64_t c = 0; c < columns; ++c) y.set(r * columns + c, std::exp(x.get(r * columns + c)) / sum);
  }
  check_judgement(y, [&] { return check_softmax(x.tensor, y.tensor, columns); });
}

TEST(Reference, RmsNorm) {
  const int64_t rows = 3, columns = 19;
  Data x(f32, {rows, columns}, 1), w(f32, {columns}, 2), y(f32, {rows, columns}, 3);
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t c = 0; c < columns; ++c) squares += x.get(r * columns + c) * x.get(r * columns + c);
    for (int64_t c = 0; c < columns; ++c)
      y.set(r * columns + c, x.get(r * columns + c) * w.get(c) / std::sqrt(squares / columns + 1e-5));
  }
  check_judgement(y, [&] { return check_rms_norm(x.tensor, w.tensor, 1e-5, y.tensor); });
}

TEST(Reference, Gemm) {
  const int64_t m = 5, n = 7, k = 11;
  for (bool transposed : {false, true}) {
    Data a(bf16, {m, k}, 1), b(bf16, transposed ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, 2);
    Data c(f32, {m, n}, 3);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += a.get(i * k + l) * b.get(transposed ? j * k + l : l * n + j);
        c.set(i * n + j, sum);
      }
    check_judgement(c, [&] { return check_gemm(a.tensor, b.tensor, c.tensor, transposed); });
  }
}

TEST(Reference, Attention) {
  const int64_t heads = 4, groups = 2, queries = 5, keys = 9, d = 8;
  for (bool causal : {false, true}) {
    Data q(f32, {1, heads, queries, d}, 1), k(f32, {1, groups, keys, d}, 2), v(f32, {1, groups, keys, d}, 3);
    Data o(f32, {1, heads, queries, d}, 4);
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        const int64_t row = h * queries + i, first = h / (heads / groups) * keys;
        std::vector<double> total(d);
        double weights = 0;
        for (int64_t j = 0; j < (causal ? i + keys - queries + 1 : keys); ++j) {
          double score = 0;
          for (int64_t l = 0; l < d; ++l) score += q.get(row * d + l) * k.get((first + j) * d + l);
          const double weight = std::exp(score / std::sqrt(d));
          weights += weight;
          for (int64_t l = 0; l < d; ++l) total[l] += weight * v.get((first + j) * d + l);
        }
        for (int64_t l = 0; l < d; ++l) o.set(row * d + l, total[l] / weights);
      }
    check_judgement(o, [&] { return check_attention(q.tensor, k.tensor, v.tensor, o.tensor, causal, 4); });
  }
}

TEST(Reference, RowStepsCompareTheLastRowToo) {
  const int64_t rows = 10, columns = 4;
  Data x(f32, {rows, columns}, 1), y(f32, {rows, columns}, 2);
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += std::exp(x.get(r * columns + c));
    for (int64_t c = 0; c < columns; ++c) y.set(r * columns + c, std::exp(x.get(r * columns + c)) / sum);
  }
  EXPECT_EQ(check_softmax(x.tensor, y.tensor, columns, 4).elements, 4 * columns);  // rows 0, 4, 8 and 9
  y.set(9 * columns, 0.999);
  EXPECT_EQ(check_softmax(x.tensor, y.tensor, columns, 4).at, (std::vector<int64_t>{9, 0}));
}

TEST(Reference, NothingIsComparedInAnEmptyTensor) {
  Data x(f32, {0}, 1), y(f32, {0}, 2);
  const Agreement a = check_reverse(x.tensor, y.tensor);
  EXPECT_TRUE(a.ok());
  EXPECT_EQ(a.elements, 0);
  EXPECT_TRUE(a.at.empty());
}

}  // namespace
}  // namespace tilewright
