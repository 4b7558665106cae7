// Causal attention of one head in one pass over the keys: O = softmax(Q K^T / sqrt(d)) V.
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "tilewright/jit.h"
#include "tilewright/reference.h"

using namespace tilewright;

constexpr int kHead = 64, kQueries = 32, kKeys = 32;  // d, and rows of a tile

/// Q, K, V, O (S, d). Query i sees the keys 0 .. i. The largest score and the sum of weights so far are kept for each
/// query; when a larger score comes, the sum and the output so far shrink.
void attention(Buffer Q, Buffer K, Buffer V, Buffer O) {
  auto S = Q.extent(0);
  for (Var b : grid(ceildiv(S, kQueries))) {
    auto q = shared(f32, {kQueries, kHead}), k = shared(f32, {kKeys, kHead}), v = shared(f32, {kKeys, kHead});
    auto s = fragment(f32, {kQueries, kKeys});
    auto o = fragment(f32, {kQueries, kHead});
    auto peak = fragment(f32, {kQueries}), next = fragment(f32, {kQueries}), sum = fragment(f32, {kQueries});
    copy(Q[{b * kQueries, 0}], q);
    clear(o);
    clear(sum);
    fill(peak, -INFINITY);
    for (Var t : pipelined(b + 1, 2)) {  // no later tile has a key that these queries see: the tiles are equal
      copy(K[{t * kKeys, 0}], k);
      copy(V[{t * kKeys, 0}], v);
      clear(s);
      gemm(q, k, s, {.transpose_b = true});
      for (auto [i, j] : parallel(kQueries, kKeys)) {
        Expr seen = t * kKeys + j <= b * kQueries + i;
        s(i, j) = select(seen, s(i, j) / std::sqrt(double{kHead}), -INFINITY);
      }
      copy(peak, next);
      reduce_max(s, next, 1, accumulate);
      for (auto [i, j] : parallel(kQueries, kKeys)) s(i, j) = exp(s(i, j) - next(i));
      for (Var i : parallel(kQueries)) sum(i) *= exp(peak(i) - next(i));
      reduce_sum(s, sum, 1, accumulate);
      for (auto [i, j] : parallel(kQueries, kHead)) o(i, j) *= exp(peak(i) - next(i));
      gemm(s, v, o);
      copy(next, peak);
    }
    for (auto [i, j] : parallel(kQueries, kHead)) o(i, j) /= sum(i);
    copy(o, O[{b * kQueries, 0}]);
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  auto rows = [](const char* name) { return tensor(name, f32, {"S", kHead}).contiguous(); };
  Kernel kernel = compile("attention", attention, signature(rows("Q"), rows("K"), rows("V"), rows("O")), machine);

  const int64_t length = 100;
  std::mt19937 bits(1);
  std::normal_distribution<float> normal;
  std::vector<float> data[4];
  for (auto& values : data)
    for (int64_t i = 0; i < length * kHead; ++i) values.push_back(normal(bits));
  auto view = [&](int i, std::vector<int64_t> shape) { return Tensor{data[i].data(), f32, std::move(shape)}; };
  kernel(view(0, {length, kHead}), view(1, {length, kHead}), view(2, {length, kHead}), view(3, {length, kHead}));

  // The library's f64 reference takes batches and heads; it also derives how far an f32 result may lie from it.
  const std::vector<int64_t> shape{1, 1, length, kHead};
  Agreement a = check_attention(view(0, shape), view(1, shape), view(2, shape), view(3, shape), true, kKeys);
  std::printf("%s: error %.1e, bound %.1e\n", machine, a.error, a.tolerance);
  return a.ok() ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
