#pragma once
// The six programs of the kernel library as compiled kernels. What differs between calls is data.
#include "tilewright/jit.h"
#include "tilewright/kernels.h"

namespace tilewright::tool {

/// Where and how a program is compiled.
struct On {
  std::string machine = "cpu";
  CompileOptions options;
};

Kernel compile_vector_add(DType type, VectorTile tile, const On& on);
Kernel compile_reverse(DType type, VectorTile tile, const On& on);
Kernel compile_softmax(DType type, RowTile tile, const On& on);
Kernel compile_rms_norm(DType type, RowTile tile, const On& on);
Kernel compile_gemm(DType in, DType out, bool transpose_b, GemmTile tile, const On& on);
Kernel compile_attention(DType type, int d, bool causal, AttentionTile tile, const On& on);

}  // namespace tilewright::tool
