#include "tilewright/kernels.h"

namespace tilewright {

void vector_add_kernel(Buffer x, Buffer y, Buffer z, VectorTile t) {
  auto [N] = x.shape<1>();
  require_equal(y.extent(0), N);
  require_equal(z.extent(0), N);
  for (Var b : grid(ceildiv(N, t.n), threads{t.threads})) {
    auto u = shared(x.dtype, {t.n}), v = shared(y.dtype, {t.n}), w = shared(z.dtype, {t.n});  // (n)
    copy(x[{b * t.n}], u);
    copy(y[{b * t.n}], v);
    for (Var i : parallel(t.n)) w(i) = u(i) + v(i);
    copy(w, z[{b * t.n}]);
  }
}

BinarySignature vector_add_signature(DType type) {
  return signature(tensor("x", type, {"N"}).contiguous(), tensor("y", type, {"N"}).contiguous(),
                   tensor("z", type, {"N"}).contiguous());
}

void reverse_kernel(Buffer x, Buffer y, VectorTile t) {
  auto [N] = x.shape<1>();
  require_equal(y.extent(0), N);
  for (Var b : grid(ceildiv(N, t.n), threads{t.threads})) {
    auto u = shared(x.dtype, {t.n}), v = shared(x.dtype, {t.n});  // (n)
    copy(x[{N - (b + 1) * t.n}], u);  // the mirrored tile; in the last block it may begin before x
    for (Var i : parallel(t.n)) v(i) = u(t.n - 1 - i);
    copy(v, y[{b * t.n}]);
  }
}

UnarySignature reverse_signature(DType type) {
  return signature(tensor("x", type, {"N"}).contiguous(), tensor("y", type, {"N"}).contiguous());
}

}  // namespace tilewright
