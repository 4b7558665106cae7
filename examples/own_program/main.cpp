#include <cstdio>
#include <vector>

#include "tilewright/jit.h"

using namespace tilewright;

/// y = a x + y.  x, y (N)
void axpy(Expr a, Buffer x, Buffer y) {
  constexpr int kTile = 256;
  auto [N] = x.shape<1>();
  for (Var b : grid(ceildiv(N, kTile))) {
    auto u = fragment(f32, {kTile}), v = fragment(f32, {kTile});
    copy(x[{b * kTile}], u);
    copy(y[{b * kTile}], v);
    for (Var i : parallel(kTile)) v(i) += a * u(i);
    copy(v, y[{b * kTile}]);
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  auto vector = [](const char* name) { return tensor(name, f32, {"N"}).contiguous(); };
  Kernel kernel = compile("axpy", axpy, signature(scalar("a", f32), vector("x"), vector("y")), machine);

  std::vector<float> x{1, 2, 3, 4, 5}, y{10, 20, 30, 40, 50};
  kernel(0.5, Tensor{x.data(), f32, {5}}, Tensor{y.data(), f32, {5}});
  for (float value : y) std::printf("%g\n", value);
} catch (const Error& error) {  // a wrong kernel, machine or call; what is wrong, and the line
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
