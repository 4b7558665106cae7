#include "loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace tilewright::baseline {
namespace {

/// Calls body(first, last) once a thread, with equal parts of 0 .. n.
template <class F>
void in_parallel(int64_t n, int threads, const F& body) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&, t] { body(n * t / threads, n * (t + 1) / threads); });
  body(0, n / threads);
  for (std::thread& t : others) t.join();
}

float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// y = softmax(x) of one row; x and y may be the same.
void softmax_row(const float* x, float* y, int64_t n) {
  float peak = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : peak)
  for (int64_t i = 0; i < n; ++i) peak = std::max(peak, x[i]);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = std::exp(x[i] - peak);
    sum += y[i];
  }
  const float scale = 1 / sum;
  for (int64_t i = 0; i < n; ++i) y[i] *= scale;
}

}  // namespace

void vector_add(const float* x, const float* y, float* z, int64_t n, int threads) {
  in_parallel(n, threads, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) z[i] = x[i] + y[i];
  });
}

void reverse(const float* x, float* y, int64_t n, int threads) {
  in_parallel(n, threads, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) y[i] = x[n - 1 - i];
  });
}

void softmax(const float* x, float* y, int64_t rows, int64_t columns, int threads) {
  in_parallel(rows, threads, [=](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) softmax_row(x + r * columns, y + r * columns, columns);
  });
}

void rms_norm(const float* x, const float* w, float eps, float* y, int64_t rows, int64_t columns, int threads) {
  in_parallel(rows, threads, [=](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      const float* from = x + r * columns;
      float* to = y + r * columns;
      const float scale = 1 / std::sqrt(dot(from, from, columns) / static_cast<float>(columns) + eps);
      for (int64_t i = 0; i < columns; ++i) to[i] = from[i] * scale * w[i];
    }
  });
}

void attention(const float* q, const float* k, const float* v, float* o, int64_t heads, int64_t length, int64_t d,
               bool causal, int threads) {
  const float scale = 1 / std::sqrt(static_cast<float>(d));
  // A thread takes every threads-th query, because later ones see more keys when causal.
  in_parallel(threads, threads, [=](int64_t thread, int64_t) {
    std::vector<float> p(static_cast<size_t>(length));
    for (int64_t row = thread; row < heads * length; row += threads) {
      const int64_t head = row / length * length * d;
      const int64_t seen = causal ? row % length + 1 : length;
      for (int64_t j = 0; j < seen; ++j) p[j] = dot(q + row * d, k + head + j * d, d) * scale;
      softmax_row(p.data(), p.data(), seen);
      float* out = o + row * d;
      std::fill(out, out + d, 0.f);
      for (int64_t j = 0; j < seen; ++j)
        for (int64_t l = 0; l < d; ++l) out[l] += p[j] * v[head + j * d + l];
    }
  });
}

void widen(const uint16_t* x, float* y, int64_t n, int threads) {
  in_parallel(n, threads, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const uint32_t bits = static_cast<uint32_t>(x[i]) << 16;
      std::memcpy(&y[i], &bits, sizeof bits);
    }
  });
}

}  // namespace tilewright::baseline
