#pragma once
// Canonical kernel texts and what tests of the text share.
#include <string>

#include "ir/nodes.h"

namespace tilewright::ir {

/// Every statement kind that a traced kernel may have.
inline constexpr const char* kTracedSample = R"(kernel sample stage traced {
  scalar m: i64
  scalar n: i64
  scalar scale: f32
  scalar A_s0: i64
  param A: f16[m, n] strides [A_s0, 1]
  param B: f32[n]
  param C: e4m3[m]
  grid bx, by in ceildiv(n, 64), ceildiv(m, 48) threads 128 {
    alloc a: f16[48, 64] shared
    alloc b: f32[64, 16] shared
    alloc c: f32[48, 16] fragment
    alloc r: f32[48] fragment
    alloc best: f32[] var
    fill c[0:+48, 0:+16] = 0:f32
    for pipelined k in 3 stages 2 {
      %0 = (by * 48)
      copy A[%0:+48, (bx * 64):+64] -> a[0:+48, 0:+64] padding nan:f16
      gemm a[0:+48, 0:+64] x b[0:+64, 0:+16] -> c[0:+48, 0:+16] precision tf32
    }
    gemm a[0:+48, 0:+64] x b[0:+64, 0:+16] -> c[0:+48, 0:+16]
    reduce max c[0:+48, 0:+16] -> r[0:+48] axis 1 accumulate true propagate_nan true
    reduce sum c[0:+48, 0:+16] -> r[0:+48] axis 1
    for parallel i, j: i32 in 48, 16 {
      let t: f32 = select((cast<i64>(j) < n), exp(c[i, j]), -inf:f32)
      %1 = (t * scale)
      when (is_nan(t) or (%1 > 0.5:f32)) {
        store c[i, j] = fma(%1, %1, -0:f32)
      } otherwise {
        store c[i, j] = max(%1, min_nan(t, 1e-30:f32))
      }
    }
    store best[] = 0:f32
    when (by == 0) {}
    for serial i2 in 48 {
      store C[(%0 + i2)] = cast<e4m3, inf_nan>(r[i2])
    }
    covers C
  }
  grid () in () threads 1 {
    seq {
      barrier
    }
  }
}
)";

/// The engines form: flags, engines, memories and offsets; a name in quotes, a nested seq.
inline constexpr const char* kEnginesSample = R"(kernel "for all" stage engines {
  param A: f32[100]
  for cores core in 4 {
    alloc x: f32[25] shared memory ub offset 128
    alloc "y z": f32[25] local memory "l0 c" offset 0
    on mte2 {
      copy A[(core * 25):+25] -> x[0:+25]
    }
    set_flag mte2 -> vector id 3
    wait_flag mte2 -> vector id 3
    seq {
      engine_barrier vector
      seq {}
    }
    on vector {
      fill "y z"[0:+25] = 1:f32
    }
  }
}
)";

/// The same structure, and the same expression nodes shared by the same uses. On a difference, `why` says where.
bool same_graph(const Any& a, const Any& b, std::string& why);

}  // namespace tilewright::ir
