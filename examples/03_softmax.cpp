// Reductions: the softmax of each row of a matrix whose rows lie apart in memory.
#include <cmath>
#include <cstdio>
#include <vector>

#include "tilewright/jit.h"

using namespace tilewright;

constexpr int kRows = 4, kColumns = 256;  // of a tile; a row must fit

/// y = exp(x - max x) / sum(exp(x - max x)).  x, y (R, C) with C <= kColumns
void softmax(Buffer x, Buffer y) {
  auto [R, C] = x.shape<2>();
  for (Var b : grid(ceildiv(R, kRows))) {
    auto v = fragment(f32, {kRows, kColumns});
    auto peak = fragment(f32, {kRows}), sum = fragment(f32, {kRows});
    copy(x[{b * kRows, 0}], v, -INFINITY);  // what lies outside of x counts as -inf: it adds nothing to the sum
    reduce_max(v, peak, 1);
    for (auto [i, j] : parallel(kRows, kColumns)) v(i, j) = exp(v(i, j) - peak(i));
    reduce_sum(v, sum, 1);
    for (auto [i, j] : parallel(kRows, kColumns)) v(i, j) /= sum(i);
    copy(v, y[{b * kRows, 0}]);
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  // A matrix argument may have any pitch: the distance of its rows is a number of the call, like its extents.
  auto matrix = [](const char* name) {
    return tensor(name, f32, {"R", "C"}).strides({std::string(name) + "_pitch", 1});
  };
  Kernel kernel = compile("softmax", softmax, signature(matrix("x"), matrix("y")), machine);

  const int64_t rows = 7, columns = 229, pitch = 240;
  std::vector<float> x(rows * pitch), y(rows * columns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 10;
  kernel(Tensor{x.data(), f32, {rows, columns}, {pitch, 1}}, Tensor{y.data(), f32, {rows, columns}});

  double worst = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) sum += std::exp(double{x[r * pitch + c]});
    for (int64_t c = 0; c < columns; ++c)
      worst = std::fmax(worst, std::fabs(y[r * columns + c] / (std::exp(double{x[r * pitch + c]}) / sum) - 1));
  }
  std::printf("%s: relative error %.1e\n", machine, worst);
  return worst < 1e-5 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
