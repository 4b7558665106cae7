#pragma once
// The programs of the tests, written as a user writes them.
#include <limits>

#include "tilewright/dsl.h"

namespace tilewright::programs {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// c = a + b.  a, b, c (N).
inline void vector_add(Buffer a, Buffer b, Buffer c, int block) {
  auto [N] = a.shape<1>();
  for (Var bx : grid(ceildiv(N, block), threads{96})) {
    auto x = fragment(a.dtype, {block}), y = fragment(b.dtype, {block});  // (block)
    copy(a[{bx * block}], x);
    copy(b[{bx * block}], y);
    for (Var i : parallel(block)) x(i) += y(i);
    copy(x, c[{bx * block}]);
  }
}

/// Each tile of `block` elements in reverse order.  a, b (N).
inline void reverse_tiles(Buffer a, Buffer b, int block) {
  auto [N] = a.shape<1>();
  for (Var bx : grid(ceildiv(N, block), threads{64})) {
    auto s = shared(a.dtype, {block}), r = shared(a.dtype, {block});  // (block)
    copy(a[{bx * block}], s);
    for (Var i : parallel(block)) r(i) = s(block - 1 - i);
    copy(r, b[{bx * block}]);
  }
}

/// y = softmax(x) row by row.  x, y (R, cols).
inline void softmax_rows(Buffer x, Buffer y, int rows, int cols) {
  auto [R, _] = x.shape<2>();
  for (Var bx : grid(ceildiv(R, rows), threads{128})) {
    auto v = fragment(f32, {rows, cols});                            // (rows, cols)
    auto peak = fragment(f32, {rows}), sum = fragment(f32, {rows});  // (rows)
    copy(x[{bx * rows, 0}], v, -kInfinity);
    reduce_max(v, peak, 1);
    for (auto [i, j] : parallel(rows, cols)) v(i, j) = exp2((v(i, j) - peak(i)) * 1.44269504);
    reduce_sum(v, sum, 1);
    for (auto [i, j] : parallel(rows, cols)) v(i, j) /= sum(i);
    copy(v, y[{bx * rows, 0}]);
  }
}

/// y = x / rms(x) * w row by row.  x, y (R, D), w (D).
inline void rms_norm(Buffer x, Buffer w, Buffer y, Expr eps, int d) {
  auto [R, D] = x.shape<2>();
  for (Var r : grid(R, threads{128})) {
    auto v = fragment(f32, {1, d}), square = fragment(f32, {1, d}), g = fragment(f32, {d});
    auto total = fragment(f32, {1});
    copy(x[{r, 0}], v);
    copy(w[{0}], g);
    for (Var i : parallel(d)) square(0, i) = v(0, i) * v(0, i);
    reduce_sum(square, total, 1);
    auto scale = let(rsqrt(total(0) / cast(f32, D) + eps));
    for (Var i : parallel(d)) v(0, i) *= scale * g(i);
    copy(v, y[{r, 0}]);
  }
}

struct GemmTile {
  int m = 128, n = 128, k = 32, stages = 3, threads = 128;
};

/// C = epilogue(A B).  A (M, K), B (K, N), C (M, N); accumulates in f32.
template <class Epilogue>
void gemm_kernel(Buffer A, Buffer B, Buffer C, GemmTile t, Epilogue epilogue) {
  auto [M, K] = A.shape<2>();
  auto [_, N] = B.shape<2>();
  for (auto [bx, by] : grid(ceildiv(N, t.n), ceildiv(M, t.m), threads{t.threads})) {
    auto a = shared(A.dtype, {t.m, t.k});  // (m, k)
    auto b = shared(B.dtype, {t.k, t.n});  // (k, n)
    auto c = fragment(f32, {t.m, t.n});    // (m, n)
    clear(c);
    for (Var k : pipelined(ceildiv(K, t.k), t.stages)) {
      copy(A[{by * t.m, k * t.k}], a);
      copy(B[{k * t.k, bx * t.n}], b);
      gemm(a, b, c);
    }
    for (auto [i, j] : parallel(t.m, t.n)) c(i, j) = epilogue(c(i, j));
    copy(c, C[{by * t.m, bx * t.n}]);
  }
}

/// O = softmax(Q K^T / sqrt(d)) V.  Q, O (H, S, d), K, V (H, T, d).
inline void attention(Buffer Q, Buffer K, Buffer V, Buffer O, int m, int n, int d, bool causal) {
  auto [H, S, _] = Q.shape<3>();
  auto T = K.extent(1);
  double scale = 1.44269504 / __builtin_sqrt(d);
  for (auto [bx, h] : grid(ceildiv(S, m), H, threads{128})) {
    auto q = shared(Q.dtype, {m, d}), k = shared(K.dtype, {n, d}), v = shared(V.dtype, {n, d});
    auto s = fragment(f32, {m, n}), o = fragment(f32, {m, d});
    auto p = shared(V.dtype, {m, n});
    auto peak = fragment(f32, {m}), before = fragment(f32, {m}), sum = fragment(f32, {m}), part = fragment(f32, {m});
    copy(Q[{h, bx * m, 0}], q);
    clear(o);
    clear(sum);
    fill(peak, -1e30);
    Expr last = causal ? min(ceildiv(T, n), ceildiv((bx + 1) * m, n)) : ceildiv(T, n);
    for (Var kb : pipelined(last, 2)) {
      copy(K[{h, kb * n, 0}], k);
      copy(V[{h, kb * n, 0}], v);
      clear(s);
      gemm(q, k, s, {.transpose_b = true});
      for (auto [i, j] : parallel(m, n)) {
        auto col = let(kb * n + j);
        Expr seen = col < T;
        if (causal) seen = seen && col <= bx * m + i;
        s(i, j) = select(seen, s(i, j) * scale, -1e30);
      }
      copy(peak, before);
      reduce_max(s, peak, 1, accumulate);
      for (auto [i, j] : parallel(m, n)) s(i, j) = exp2(s(i, j) - peak(i));
      reduce_sum(s, part, 1);
      for (Var i : parallel(m)) {
        auto shrink = let(exp2(before(i) - peak(i)));
        sum(i) = sum(i) * shrink + part(i);
        before(i) = shrink;
      }
      for (auto [i, j] : parallel(m, d)) o(i, j) *= before(i);
      copy(s, p);
      gemm(p, v, o);
    }
    for (auto [i, j] : parallel(m, d)) o(i, j) /= sum(i);
    copy(o, O.tile({h, bx * m, 0}, {1, m, d}));
  }
}

/// Running maximum and sum of exponentials of each row, in one pass.  x (R, N), m, l (R).
inline void online_softmax(Buffer x, Buffer m, Buffer l, int rows, int cols) {
  auto [R, N] = x.shape<2>();
  for (Var bx : grid(ceildiv(R, rows), threads{64})) {
    auto v = fragment(f32, {rows, cols});
    auto peak = fragment(f32, {rows}), next = fragment(f32, {rows}), sum = fragment(f32, {rows});
    fill(peak, -1e30);
    clear(sum);
    for (Var k : serial(ceildiv(N, cols))) {
      copy(x[{bx * rows, k * cols}], v, -kInfinity);
      copy(peak, next);
      reduce_max(v, next, 1, accumulate);
      for (Var i : parallel(rows)) {
        sum(i) *= exp2(peak(i) - next(i));
        peak(i) = next(i);
      }
      for (auto [i, j] : parallel(rows, cols)) v(i, j) = exp2(v(i, j) - peak(i));
      reduce_sum(v, sum, -1, accumulate);
    }
    copy(peak, m[{bx * rows}]);
    copy(sum, l[{bx * rows}]);
  }
}

}  // namespace tilewright::programs
