// What the front end makes of a kernel: its text, its types, its lines.
#include "dsl/trace.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/walk.h"
#include "support/golden.h"
#include "tilewright/kernels.h"

namespace tilewright {
namespace {

/// The text, after the checks that every traced kernel must pass.
std::string text_of(const ir::Ref<ir::Kernel>& kernel) {
  std::string text = ir::print(kernel);
  EXPECT_TRUE(ir::equal(kernel, ir::parse_kernel(text, "test"))) << text;
  return text;
}

TEST(Trace, SymbolsStridesAndScalars) {
  auto arguments = signature(tensor("A", f16, {"M", 8}), scalar("s", f32), tensor("B", f32, {"M", "N"}).contiguous(),
                             tensor("C", i8, {"N", 4}).strides({"pitch", 1}));
  auto kernel = trace("arguments", arguments, [](Buffer A, Expr s, Buffer B, Buffer C) {
    auto [M, N] = B.shape<2>();
    for (auto [bx, by] : grid(ceildiv(N, 4), M, threads{96})) {
      B(by, bx) = A(by, 0) * s;
      C(bx, 3) = cast(i8, B(by, bx));
    }
    for (Var again : grid(1)) A(again, 7) = 0.5;
  });
  EXPECT_GOLDEN(text_of(kernel), R"(
    kernel arguments stage traced {
      scalar M: i64
      scalar N: i64
      scalar pitch: i64
      scalar A_stride0: i64
      scalar A_stride1: i64
      scalar s: f32
      param A: f16[M, 8] strides [A_stride0, A_stride1]
      param B: f32[M, N] strides [N, 1]
      param C: i8[N, 4] strides [pitch, 1]
      grid bx, by in ceildiv(N, 4), M threads 96 {
        store B[by, bx] = (cast<f32>(A[by, 0]) * s)
        store C[bx, 3] = cast<i8>(B[by, bx])
      }
      grid bx_1 in 1 threads 128 {
        store A[bx_1, 7] = 0.5:f16
      }
    }
  )");
}

TEST(Trace, Loops) {
  auto kernel = trace("loops", signature(tensor("A", f32, {"N"}), scalar("n", i32)), [](Buffer A, Expr n) {
    for (Var b : grid(n)) {
      auto t = shared(f32, {4, 4, 2});
      for (auto [i, j, l] : parallel(4, 4, 2)) t(i, j, l) = i + j * l;
      for (Var k : serial(A.extent(0)))
        for (Var k : unroll(2))
          for (Var k : vectorized(4)) t(k, 0, 0) = k;
      for (Var k : pipelined(n * 2, 3)) t(0, 0, 0) += k;
      for (auto [p, q] : persistent(n, 3)) A(p) = q;
      when(n > 3 && b == 0, [&] { A(b) = 1; }).otherwise([&] { A(b) = 2; });
    }
  });
  EXPECT_GOLDEN(text_of(kernel), R"(
    kernel loops stage traced {
      scalar N: i64
      scalar A_stride0: i64
      scalar n: i32
      param A: f32[N] strides [A_stride0]
      grid bx in cast<i64>(n) threads 128 {
        alloc shared0: f32[4, 4, 2] shared
        for parallel i, j, l in 4, 4, 2 {
          store shared0[i, j, l] = cast<f32>((i + (j * l)))
        }
        for serial k in N {
          for unroll k_1 in 2 {
            for vectorized i_1 in 4 {
              store shared0[i_1, 0, 0] = cast<f32>(i_1)
            }
          }
        }
        for pipelined k_2 in cast<i64>((n * 2:i32)) stages 3 {
          store shared0[0, 0, 0] = (shared0[0, 0, 0] + cast<f32>(k_2))
        }
        for persistent k_3, q in cast<i64>(n), 3 {
          store A[k_3] = cast<f32>(q)
        }
        when ((n > 3:i32) and (bx == 0)) {
          store A[bx] = 1:f32
        } otherwise {
          store A[bx] = 2:f32
        }
      }
    }
  )");
}

TEST(Trace, TilesAndStatements) {
  auto kernel = trace("tiles", signature(tensor("A", f16, {"M", "N"}), tensor("C", f32, {"M", "N"}).out()),
                      [](Buffer A, Buffer C) {
                        covers(C);
                        for (Var b : grid(1)) {
                          auto a = shared(f16, {8, 4}), g = shared(f16, {16, 4});
                          auto c = fragment(f32, {8, 16}), r = fragment(f32, {8}), q = fragment(f32, {1, 16});
                          copy(A[{b * 8, 0}], a, 1.5);
                          copy(A.tile({-1, 2}, {16, 4}), g);
                          fill(c, 3), clear(r);
                          gemm(a, g, c, {.transpose_b = true});
                          reduce_sum(c, r, 1, accumulate);
                          reduce_max(c, q, 0, {.propagate_nan = true});
                          reduce_min(c, r, -1), reduce_abs_max(c, r, 1);
                          auto kept = let(r(0) * 2);
                          for (Var i : parallel(8)) {
                            auto x = local(f32, {2});
                            auto n = var(i32, 1);
                            x(0) = r(i), x(1) = kept;
                            n += 2, n = n * n;
                            r(i) = x(0) + x(1) - n;
                          }
                          copy(c, C[{b * 8, 0}]);
                        }
                      });
  EXPECT_GOLDEN(text_of(kernel), R"(
    kernel tiles stage traced {
      scalar M: i64
      scalar N: i64
      scalar A_stride0: i64
      scalar A_stride1: i64
      scalar C_stride0: i64
      scalar C_stride1: i64
      param A: f16[M, N] strides [A_stride0, A_stride1]
      param C: f32[M, N] strides [C_stride0, C_stride1]
      covers C
      grid bx in 1 threads 128 {
        alloc shared0: f16[8, 4] shared
        alloc shared1: f16[16, 4] shared
        alloc frag0: f32[8, 16] fragment
        alloc frag1: f32[8] fragment
        alloc frag2: f32[1, 16] fragment
        copy A[(bx * 8):+8, 0:+4] -> shared0[0:+8, 0:+4] padding 1.5:f16
        copy A[-1:+16, 2:+4] -> shared1[0:+16, 0:+4]
        fill frag0[0:+8, 0:+16] = 3:f32
        fill frag1[0:+8] = 0:f32
        gemm shared0[0:+8, 0:+4] x shared1[0:+16, 0:+4] -> frag0[0:+8, 0:+16] transpose_b true
        reduce sum frag0[0:+8, 0:+16] -> frag1[0:+8] axis 1 accumulate true
        reduce max frag0[0:+8, 0:+16] -> frag2[0:+1, 0:+16] axis 0 propagate_nan true
        reduce min frag0[0:+8, 0:+16] -> frag1[0:+8] axis 1
        reduce abs_max frag0[0:+8, 0:+16] -> frag1[0:+8] axis 1
        let let0: f32 = (frag1[0] * 2:f32)
        for parallel i in 8 {
          alloc local0: f32[2] local
          alloc var0: i32[] var
          store var0[] = 1:i32
          store local0[0] = frag1[i]
          store local0[1] = let0
          store var0[] = (var0[] + 2:i32)
          store var0[] = (var0[] * var0[])
          store frag1[i] = ((local0[0] + local0[1]) - cast<f32>(var0[]))
        }
        copy frag0[0:+8, 0:+16] -> C[(bx * 8):+8, 0:+16]
      }
    }
  )");
}

TEST(Trace, Expressions) {
  auto kernel = trace("values", signature(tensor("x", bf16, {8}), tensor("n", i32, {8}), tensor("y", f32, {8})),
                      [](Buffer x, Buffer n, Buffer y) {
                        for (Var b : grid(1)) {
                          y(0) = x(0) * x(1) + 0.1;
                          y(1) = max(x(0), 1) - min(y(2), x(1), nan::propagate);
                          y(2) = fma(x(0), y(1), 2) + select(n(0) % 3 == 1, -x(2), abs(y(3)));
                          y(3) = exp2(rsqrt(x(0))) + cast(f32, is_nan(x(1)));
                          n(0) = ((n(1) << 3) | (~n(2) & 0xff)) ^ (n(3) >> b);
                          n(1) = floordiv(n(0), 2) + truncdiv(n(0), n(1)) + ceildiv(7, n(2)) - truncmod(n(0), 5);
                          n(2) = cast(i32, y(0)) + cast(u8, n(1));
                          x(0) = cast(e4m3, y(0), overflow::inf_nan);
                          x(1) = cast(f32, Expr(2) * 3 + b);
                        }
                      });
  EXPECT_GOLDEN(text_of(kernel), R"(
    kernel values stage traced {
      scalar x_stride0: i64
      scalar n_stride0: i64
      scalar y_stride0: i64
      param x: bf16[8] strides [x_stride0]
      param n: i32[8] strides [n_stride0]
      param y: f32[8] strides [y_stride0]
      grid bx in 1 threads 128 {
        store y[0] = ((cast<f32>(x[0]) * cast<f32>(x[1])) + 0.1:f32)
        store y[1] = (max(cast<f32>(x[0]), 1:f32) - min_nan(y[2], cast<f32>(x[1])))
        store y[2] = (fma(cast<f32>(x[0]), y[1], 2:f32) + select(((n[0] % 3:i32) == 1:i32), neg(cast<f32>(x[2])), abs(y[3])))
        store y[3] = (exp2(rsqrt(cast<f32>(x[0]))) + cast<f32>(is_nan(cast<f32>(x[1]))))
        store n[0] = (((n[1] << 3:i32) | (bit_not(n[2]) & 255:i32)) ^ (n[3] >> cast<i32>(max(min(bx, 32), -1))))
        store n[1] = ((((n[0] // 2:i32) + truncdiv(n[0], n[1])) + ceildiv(7:i32, n[2])) - truncmod(n[0], 5:i32))
        store n[2] = (cast<i32>(y[0]) + cast<i32>(cast<u8>(n[1])))
        store x[0] = cast<bf16>(cast<e4m3, inf_nan>(y[0]))
        store x[1] = cast<bf16>(cast<f32>((6 + bx)))
      }
    }
  )");
}

TEST(Trace, TypesOfMixedOperands) {
  struct Row {
    DType a, b, sum;
  };
  const Row kRows[] = {
      {i32, i32, i32},  {i32, i64, i64},    {u8, i8, i8},      {u8, u32, u32},     {u32, i8, i32},   {u64, i64, i64},
      {i4, u4, i4},     {i64, f16, f16},    {u8, f64, f64},    {f16, f32, f32},    {f16, bf16, f32}, {bf16, f64, f64},
      {e4m3, f16, f16}, {e5m2, bf16, bf16}, {e4m3, e5m2, f32}, {e2m1, e4m3, e4m3}, {f32, tf32, f32}, {e5m2, f16, f16},
  };
  for (const Row& row : kRows)
    trace("types", signature(tensor("a", row.a, {1}), tensor("b", row.b, {1}), tensor("c", f64, {1})),
          [&](Buffer a, Buffer b, Buffer c) {
            for (Var block : grid(1)) {
              EXPECT_EQ((a(0) + b(0)).value().type, row.sum) << to_string(row.a) << " + " << to_string(row.b);
              EXPECT_EQ((b(0) * a(0)).value().type, row.sum);
              EXPECT_EQ((a(0) < b(0)).value().type, boolean);
              EXPECT_EQ((a(0) + 1).value().type, row.a);
              c(block) = 1;
            }
          });
}

TEST(Trace, StatementsAndBuffersKnowTheirLines) {
  unsigned first = 0;
  auto kernel = trace("lines", signature(tensor("A", f32, {"N"})), [&](Buffer A) {
    first = __LINE__ + 1;
    for (Var b : grid(1)) {
      auto t = shared(f32, {8});
      clear(t);
      for (Var k : serial(8)) {
        t(k) = 1;
      }
      copy(t, A[{b}]);
    }
  });
  std::vector<unsigned> lines;
  ir::post_order(kernel->body, [&](const ir::Node& n) {
    if (n.kind == ir::Kind::Alloc || n.kind == ir::Kind::Fill || n.kind == ir::Kind::For || n.kind == ir::Kind::Store ||
        n.kind == ir::Kind::Copy || n.kind == ir::Kind::Grid)
      lines.push_back(static_cast<const ir::StmtNode&>(n).at.line - first);
  });
  EXPECT_EQ(lines, (std::vector<unsigned>{1, 2, 4, 3, 6, 0}));
}

TEST(Trace, OneKernelTwiceIsEqual) {
  auto once = [] {
    return trace("gemm", gemm_signature(bf16, f32), [](Buffer A, Buffer B, Buffer C) {
      gemm_kernel(A, B, C, false, {}, [](auto x, auto row, auto) { return max(x, 0) + row; });
    });
  };
  EXPECT_TRUE(ir::equal(once(), once()));
  EXPECT_EQ(once()->hash, once()->hash);
}

}  // namespace
}  // namespace tilewright
