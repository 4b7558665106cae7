#include "programs.h"

namespace tilewright::tool {

Kernel compile_vector_add(DType type, VectorTile tile, const On& on) {
  return compile(
      "vector_add", [&](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, tile); }, vector_add_signature(type),
      on.machine, on.options);
}

Kernel compile_reverse(DType type, VectorTile tile, const On& on) {
  return compile(
      "reverse", [&](Buffer x, Buffer y) { reverse_kernel(x, y, tile); }, reverse_signature(type), on.machine,
      on.options);
}

Kernel compile_softmax(DType type, RowTile tile, const On& on) {
  return compile(
      "softmax", [&](Buffer x, Buffer y) { softmax_kernel(x, y, tile); }, softmax_signature(type), on.machine,
      on.options);
}

Kernel compile_rms_norm(DType type, RowTile tile, const On& on) {
  return compile(
      "rms_norm", [&](Buffer x, Buffer w, Buffer y, Expr eps) { rms_norm_kernel(x, w, y, eps, tile); },
      rms_norm_signature(type), on.machine, on.options);
}

Kernel compile_gemm(DType in, DType out, bool transpose_b, GemmTile tile, const On& on) {
  return compile(
      "gemm", [&](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c, transpose_b, tile); },
      gemm_signature(in, out, transpose_b), on.machine, on.options);
}

Kernel compile_attention(DType type, int d, bool causal, AttentionTile tile, const On& on) {
  return compile(
      "attention", [&](Buffer q, Buffer k, Buffer v, Buffer o) { attention_kernel(q, k, v, o, d, causal, tile); },
      attention_signature(type, d), on.machine, on.options);
}

}  // namespace tilewright::tool
