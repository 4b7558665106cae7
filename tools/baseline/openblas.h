#pragma once
// OpenBLAS as the peer of GEMM, loaded when first asked for.
#include <cstdint>
#include <string>

namespace tilewright::baseline {

/// "OpenBLAS 0.3.21 Cooperlake", or empty when this build found none.
const std::string& openblas_name();

/// C = A B.  A (m, k), B (k, n), C (m, n), dense and row-major.
void openblas_sgemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int threads);

}  // namespace tilewright::baseline
