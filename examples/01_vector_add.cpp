// The first kernel: z = x + y, tile by tile. It runs on the CPU, in the interpreter, as CUDA or as Ascend C on an
// emulator: 01_vector_add [cpu | interp | cuda-emulator | ascend-emulator]
#include <cstdio>
#include <vector>

#include "tilewright/jit.h"

using namespace tilewright;

void vector_add(Buffer x, Buffer y, Buffer z) {
  constexpr int kTile = 1024;
  auto [N] = x.shape<1>();
  for (Var b : grid(ceildiv(N, kTile))) {  // a block for each tile
    auto u = fragment(f32, {kTile}), v = fragment(f32, {kTile});
    copy(x[{b * kTile}], u);  // reads beyond N give 0
    copy(y[{b * kTile}], v);
    for (Var i : parallel(kTile)) u(i) += v(i);
    copy(u, z[{b * kTile}]);  // writes beyond N are dropped
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  // One kernel for every N: the function is traced once, here, and never again.
  auto vector = [](const char* name) { return tensor(name, f32, {"N"}).contiguous(); };
  Kernel add = compile("vector_add", vector_add, signature(vector("x"), vector("y"), vector("z")), machine);
  for (int64_t n : {0, 1, 1023, 1025, 10000}) {
    std::vector<float> x(n, 1.5f), y(n), z(n);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(i);
    add(Tensor{x.data(), f32, {n}}, Tensor{y.data(), f32, {n}}, Tensor{z.data(), f32, {n}});
    for (int64_t i = 0; i < n; ++i)
      if (z[i] != static_cast<float>(i) + 1.5f) return 1;
  }
  std::printf("%s: right for every n\n", machine);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
