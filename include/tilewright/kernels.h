#pragma once
// The kernel library, written in the language. Each kernel is a plain function that traces; *_signature() gives its
// arguments for compile(). Sizes are symbols: one compiled kernel serves every size. Tile sizes are host numbers.
//
//   Kernel k = compile("gemm", [](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c); }, gemm_signature(f32, f32));
#include "tilewright/dsl.h"

namespace tilewright {

using UnarySignature = Signature<TensorSpec, TensorSpec>;               // an input and an output
using BinarySignature = Signature<TensorSpec, TensorSpec, TensorSpec>;  // two inputs and an output

// ---- element by element ---------------------------------------------------------------------------------------------

/// Elements of a block, and its threads.
struct VectorTile {
  int n = 1024, threads = 128;
};

/// z = x + y.  x, y, z (N), floats or integers; narrow floats are added in f32.
void vector_add_kernel(Buffer x, Buffer y, Buffer z, VectorTile t = {});
BinarySignature vector_add_signature(DType type);

/// y(i) = x(N - 1 - i).  x, y (N) of one type. Each block turns one tile round in shared memory, so global memory is
/// touched by tile copies alone.
void reverse_kernel(Buffer x, Buffer y, VectorTile t = {});
UnarySignature reverse_signature(DType type);

// ---- rows ---------------------------------------------------------------------------------------------------------

/// Rows of a block, columns of a tile.
struct RowTile {
  int rows = 4, columns = 1024, threads = 128;
};
/// A tile for rows of `columns` elements: the whole row when it has at most 8192.
RowTile row_tile(int64_t columns);

/// y = exp(x - max x) / sum(exp(x - max x)), row by row.  x, y (R, C) floats; f32 inside. A row that fits one tile is
/// read once; a longer one is walked twice, with the running maximum and sum of M. Milakov, N. Gimelshein, "Online
/// normalizer calculation for softmax" (2018). A row of -inf alone gives NaN.
void softmax_kernel(Buffer x, Buffer y, RowTile t = {});
UnarySignature softmax_signature(DType type);

/// y = x / sqrt(mean(x^2) + eps) * w, row by row.  x, y (R, C), w (C) floats, eps f32; f32 inside. A row that fits one
/// tile is read once.
/// B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization" (2019).
void rms_norm_kernel(Buffer x, Buffer w, Buffer y, Expr eps, RowTile t = {});
Signature<TensorSpec, TensorSpec, TensorSpec, ScalarSpec> rms_norm_signature(DType type);

// ---- products -----------------------------------------------------------------------------------------------------

/// Tile extents in elements.
struct GemmTile {
  int m = 128, n = 128, k = 32, stages = 3, threads = 128;
};

/// C = epilogue(A B).  A (M, K), B (K, N), or (N, K) when transposed, C (M, N); accumulates in f32. The epilogue maps
/// the f32 value of an element to the value that is stored: a function of (value), or of (value, row, column).
template <class Epilogue>
void gemm_kernel(Buffer A, Buffer B, Buffer C, bool transpose_b, GemmTile t, Epilogue epilogue) {
  auto [M, K] = A.shape<2>();
  auto N = C.extent(1);
  require_equal(B.extent(transpose_b ? 1 : 0), K);
  require_equal(B.extent(transpose_b ? 0 : 1), N);
  require_equal(C.extent(0), M);
  for (auto [bx, by] : grid(ceildiv(N, t.n), ceildiv(M, t.m), threads{t.threads})) {
    auto a = shared(A.dtype, {t.m, t.k});  // (m, k)
    auto b = transpose_b ? shared(B.dtype, {t.n, t.k}) : shared(B.dtype, {t.k, t.n});
    auto c = fragment(f32, {t.m, t.n});  // (m, n)
    clear(c);
    for (Var k : pipelined(ceildiv(K, t.k), t.stages)) {
      copy(A[{by * t.m, k * t.k}], a);
      if (transpose_b)
        copy(B[{bx * t.n, k * t.k}], b);
      else
        copy(B[{k * t.k, bx * t.n}], b);
      gemm(a, b, c, {.transpose_b = transpose_b});
    }
    for (auto [i, j] : parallel(t.m, t.n)) {
      if constexpr (std::is_invocable_v<Epilogue&, Expr, Expr, Expr>)
        c(i, j) = epilogue(c(i, j), by * t.m + i, bx * t.n + j);
      else
        c(i, j) = epilogue(c(i, j));
    }
    copy(c, C[{by * t.m, bx * t.n}]);
  }
}

/// The same without an epilogue.
void gemm_kernel(Buffer A, Buffer B, Buffer C, bool transpose_b = false, GemmTile t = {});
BinarySignature gemm_signature(DType in, DType out, bool transpose_b = false);

// ---- attention ----------------------------------------------------------------------------------------------------

/// Query rows and key rows of a tile.
struct AttentionTile {
  int m = 64, n = 64, stages = 2, threads = 128;
};

/// O = softmax(Q K^T / sqrt(d)) V for each batch and head.  Q, O (B, H, S, d), K, V (B, G, T, d) floats, where G
/// divides H: query head h reads key head h / (H / G). Causal: query i sees the keys j <= i + T - S. A query that sees
/// no key gives 0. f32 inside; probabilities are rounded to V's type before the second product. One pass over the keys
/// with a running maximum and sum: T. Dao et al., "FlashAttention" (2022).
void attention_kernel(Buffer Q, Buffer K, Buffer V, Buffer O, int d, bool causal, AttentionTile t = {});
Signature<TensorSpec, TensorSpec, TensorSpec, TensorSpec> attention_signature(DType type, int d);

}  // namespace tilewright
