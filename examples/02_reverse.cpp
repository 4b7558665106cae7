// Threads of a block exchange data through a shared tile: y(i) = x(N - 1 - i).
#include <cstdio>
#include <vector>

#include "tilewright/jit.h"

using namespace tilewright;

/// A statement runs once a block, as a whole: when v is filled, u is complete. The compiler puts barriers (on a GPU) or
/// flags (on an NPU) where they are needed, and none where they are not.
void reverse(Buffer x, Buffer y, int tile) {
  auto [N] = x.shape<1>();
  for (Var b : grid(ceildiv(N, tile), threads{64})) {
    auto u = shared(x.dtype, {tile}), v = shared(x.dtype, {tile});
    copy(x[{N - (b + 1) * tile}], u);  // the mirrored tile; the last one may begin before x
    for (Var i : parallel(tile)) v(i) = u(tile - 1 - i);
    copy(v, y[{b * tile}]);
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  const int tile = 96;  // sizes need not be powers of two
  Kernel kernel = compile(
      "reverse", [=](Buffer x, Buffer y) { reverse(x, y, tile); },
      signature(tensor("x", i32, {"N"}).contiguous(), tensor("y", i32, {"N"}).contiguous()), machine);
  for (int64_t n : {1, 95, 96, 97, 1000}) {
    std::vector<int> x(n), y(n);
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<int>(i * i);
    kernel(Tensor{x.data(), i32, {n}}, Tensor{y.data(), i32, {n}});
    if (y != std::vector<int>(x.rbegin(), x.rend())) return 1;
  }
  std::printf("%s: right for every n\n", machine);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
