#include "programs.h"

#include <gtest/gtest.h>

#include "dsl/trace.h"
#include "ir/text.h"

namespace tilewright {
namespace {

using namespace programs;

TEST(Programs, p) {
  auto k = trace(
      "gemm", signature(tensor("A", bf16, {"M", "K"}), tensor("B", bf16, {"K", "N"}), tensor("C", bf16, {"M", "N"})),
      [](Buffer A, Buffer B, Buffer C) { gemm_kernel(A, B, C, {}, [](auto x) { return max(x, 0.f) * x; }); });
  puts(ir::print(k).c_str());
  k = trace("add", signature(tensor("a", f32, {"N"}), tensor("b", f32, {"N"}), tensor("c", f32, {"N"})),
            [](Buffer A, Buffer B, Buffer C) { vector_add(A, B, C, 100); });
  puts(ir::print(k).c_str());
  k = trace("rev", signature(tensor("a", i8, {"N"}).in(), tensor("c", i8, {"N"}).contiguous().out()),
            [](Buffer A, Buffer C) { reverse_tiles(A, C, 100); });
  puts(ir::print(k).c_str());
  k = trace("softmax", signature(tensor("a", f16, {"N", 77}), tensor("c", f16, {"N", 77})),
            [](Buffer A, Buffer C) { softmax_rows(A, C, 3, 77); });
  puts(ir::print(k).c_str());
  k = trace(
      "rms",
      signature(tensor("a", f16, {"N", 77}), tensor("w", f32, {77}), scalar("eps", f32), tensor("c", f16, {"N", 77})),
      [](Buffer A, Buffer w, Expr eps, Buffer C) { rms_norm(A, w, C, eps, 77); });
  puts(ir::print(k).c_str());
  k = trace("att",
            signature(tensor("Q", f16, {"H", "S", 64}), tensor("K", f16, {"H", "T", 64}),
                      tensor("V", f16, {"H", "T", 64}), tensor("O", f16, {"H", "S", 64})),
            [](Buffer Q, Buffer K, Buffer V, Buffer O) { attention(Q, K, V, O, 48, 40, 64, true); });
  puts(ir::print(k).c_str());
  k = trace("online", signature(tensor("x", f16, {"N", "M"}), tensor("m", f32, {"N"}), tensor("l", f32, {"N"})),
            [](Buffer A, Buffer m, Buffer l) { online_softmax(A, m, l, 3, 77); });
  puts(ir::print(k).c_str());
}

}  // namespace
}  // namespace tilewright
