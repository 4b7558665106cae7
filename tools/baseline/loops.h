#pragma once
// What a user would write without this project: plain loops, shared out to threads. Compiled with -O3 -march=native.
// Tensors are dense and row-major.
#include <cstdint>

namespace tilewright::baseline {

/// z = x + y.  x, y, z (n)
void vector_add(const float* x, const float* y, float* z, int64_t n, int threads);
/// y(i) = x(n - 1 - i).  x, y (n)
void reverse(const float* x, float* y, int64_t n, int threads);
/// Row by row.  x, y (rows, columns)
void softmax(const float* x, float* y, int64_t rows, int64_t columns, int threads);
/// y = x / sqrt(mean(x^2) + eps) * w, row by row.  x, y (rows, columns), w (columns)
void rms_norm(const float* x, const float* w, float eps, float* y, int64_t rows, int64_t columns, int threads);
/// softmax(q k^T / sqrt(d)) v for each head.  q, k, v, o (heads, length, d). Causal: query i sees the keys 0 .. i.
void attention(const float* q, const float* k, const float* v, float* o, int64_t heads, int64_t length, int64_t d,
               bool causal, int threads);
/// bf16 to f32.  x, y (n)
void widen(const uint16_t* x, float* y, int64_t n, int threads);

}  // namespace tilewright::baseline
