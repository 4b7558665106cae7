// A matrix product with its epilogue in C++: C = relu(A B), from bf16 to bf16, accumulated in f32.
#include <cstdio>

#include "tilewright/jit.h"
#include "tilewright/numerics.h"

using namespace tilewright;

/// Tile extents in elements. A plain value: trying another one compiles a kernel, not this file.
struct Tile {
  int m = 64, n = 64, k = 32, stages = 3;
};

/// C = epilogue(A B).  A (M, K), B (K, N), C (M, N)
template <class Epilogue>
void gemm_kernel(Buffer A, Buffer B, Buffer C, Tile t, Epilogue epilogue) {
  auto [M, K] = A.shape<2>();
  auto [_, N] = B.shape<2>();
  for (auto [bx, by] : grid(ceildiv(N, t.n), ceildiv(M, t.m))) {
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
    copy(c, C[{by * t.m, bx * t.n}]);  // rounds to C's type
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  const int64_t m = 33, n = 65, k = 97;
  std::vector<uint16_t> a(m * k), b(k * n), c(m * n);  // storage for bf16
  for (int64_t i = 0; i < m * k; ++i) write_element(bf16, a.data(), i, static_cast<double>(i % 7 - 3));
  for (int64_t i = 0; i < k * n; ++i) write_element(bf16, b.data(), i, static_cast<double>(i % 5 - 2) / 4);

  for (Tile tile : {Tile{}, Tile{.m = 48, .n = 80, .k = 16, .stages = 2}}) {
    auto relu = [](auto x) { return max(x, 0); };
    Kernel kernel = compile(
        "gemm_relu", [&](Buffer A, Buffer B, Buffer C) { gemm_kernel(A, B, C, tile, relu); },
        signature(tensor("A", bf16, {"M", "K"}).contiguous(), tensor("B", bf16, {"K", "N"}).contiguous(),
                  tensor("C", bf16, {"M", "N"}).contiguous()),
        machine);
    kernel(Tensor{a.data(), bf16, {m, k}}, Tensor{b.data(), bf16, {k, n}}, Tensor{c.data(), bf16, {m, n}});

    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += read_element(bf16, a.data(), i * k + l) * read_element(bf16, b.data(), l * n + j);
        uint16_t wanted;
        write_element(bf16, &wanted, 0, sum > 0 ? sum : 0);
        if (c[i * n + j] != wanted) return 1;  // the sums are exact, so the one rounding is too
      }
    std::printf("%s: right with tiles of %d x %d x %d\n", machine, tile.m, tile.n, tile.k);
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
