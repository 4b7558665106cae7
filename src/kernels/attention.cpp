#include <cmath>
#include <limits>

#include "tilewright/kernels.h"

namespace tilewright {

void attention_kernel(Buffer Q, Buffer K, Buffer V, Buffer O, int d, bool causal, AttentionTile t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto [B, H, S, _] = Q.shape<4>();
  auto G = K.extent(1), T = K.extent(2);
  for (const Buffer& t : {Q, K, V, O}) require_equal(t.extent(0), B), require_equal(t.extent(3), d);
  require_equal(O.extent(1), H), require_equal(O.extent(2), S);
  require_equal(V.extent(1), G), require_equal(V.extent(2), T);
  const double scale = 1.4426950408889634 / std::sqrt(d);  // scores in units of log 2
  for (auto [bx, h, bz] : grid(ceildiv(S, t.m), H, B, threads{t.threads})) {
    auto q = shared(Q.dtype, {t.m, d});                                     // (m, d)
    auto k = shared(K.dtype, {t.n, d}), v = shared(V.dtype, {t.n, d});      // (n, d)
    auto s = fragment(f32, {t.m, t.n}), p = fragment(V.dtype, {t.m, t.n});  // (m, n)
    auto o = fragment(f32, {t.m, d});                                       // (m, d)
    auto peak = fragment(f32, {t.m}), next = fragment(f32, {t.m});          // (m)
    auto sum = fragment(f32, {t.m}), shrink = fragment(f32, {t.m});         // (m)
    auto g = let(h * G / H);
    copy(Q[{bz, h, bx * t.m, 0}], q);
    clear(o);
    clear(sum);
    fill(peak, std::numeric_limits<float>::lowest());  // finite: a row without a key so far gives 0, not NaN
    Expr keys = causal ? max(min(T, (bx + 1) * t.m + T - S), 0) : T;  // keys that some row of the tile sees
    for (Var kb : pipelined(ceildiv(keys, t.n), t.stages)) {
      copy(K[{bz, g, kb * t.n, 0}], k);
      copy(V[{bz, g, kb * t.n, 0}], v);
      clear(s);
      gemm(q, k, s, {.transpose_b = true});
      for (auto [i, j] : parallel(t.m, t.n)) {
        Expr seen = kb * t.n + j < T;
        if (causal) seen = seen && kb * t.n + j <= bx * t.m + i + T - S;
        s(i, j) = select(seen, s(i, j) * scale, -kInfinity);
      }
      copy(peak, next);
      reduce_max(s, next, 1, accumulate);
      for (Var i : parallel(t.m)) {
        shrink(i) = exp2(peak(i) - next(i));
        sum(i) *= shrink(i);
        peak(i) = next(i);
      }
      for (auto [i, j] : parallel(t.m, t.n)) s(i, j) = exp2(s(i, j) - peak(i));
      reduce_sum(s, sum, 1, accumulate);
      copy(s, p);
      for (auto [i, j] : parallel(t.m, d)) o(i, j) *= shrink(i);
      gemm(p, v, o);
    }
    for (Var i : parallel(t.m)) shrink(i) = select(sum(i) > 0, 1.0 / sum(i), 0);
    for (auto [i, j] : parallel(t.m, d)) o(i, j) *= shrink(i);
    copy(o, O[{bz, h, bx * t.m, 0}]);
  }
}

Signature<TensorSpec, TensorSpec, TensorSpec, TensorSpec> attention_signature(DType type, int d) {
  auto part = [&](const char* name, const char* heads, const char* length) {
    std::string n = name;
    return tensor(n, type, {"B", heads, length, d}).strides({n + "_batch", n + "_head", n + "_row", 1});
  };
  return signature(part("Q", "H", "S"), part("K", "G", "T"), part("V", "G", "T"), part("O", "H", "S"));
}

}  // namespace tilewright
