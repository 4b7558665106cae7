#pragma once
// Kernels of the tests through the pipeline, as CUDA C++.
#include <string>
#include <vector>

#include "dsl/trace.h"
#include "pass/passes.h"
#include "target/cuda/cuda_target.h"
#include "tilewright/kernels.h"

namespace tilewright::cuda {

template <class... S, class F>
Artifact emitted(const std::string& name, const Signature<S...>& signature, F builder,
                 const std::string& arch = "sm_80", Location at = Here::current()) {
  const CudaTarget target(arch);
  const Compilation compilation = run_pipeline(trace(name, signature, builder, at), target);
  return target.emit(compilation.final_stage, compilation.plan);
}

inline Artifact vector_add(int n = 128, DType type = f32, const std::string& arch = "sm_80") {
  return emitted(
      "vector_add", vector_add_signature(type),
      [n](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {.n = n}); }, arch);
}
inline Artifact reverse(int n = 128, DType type = f32, const std::string& arch = "sm_80") {
  return emitted("reverse", reverse_signature(type), [n](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = n}); }, arch);
}
inline Artifact softmax(DType type = f32, const std::string& arch = "sm_80") {
  return emitted(
      "softmax", softmax_signature(type), [](Buffer x, Buffer y) { softmax_kernel(x, y, {.rows = 2, .columns = 256}); },
      arch);
}
inline Artifact rms_norm(DType type = f32, const std::string& arch = "sm_80") {
  return emitted(
      "rms_norm", rms_norm_signature(type),
      [](Buffer x, Buffer w, Buffer y, Expr eps) { rms_norm_kernel(x, w, y, eps, {.rows = 2, .columns = 256}); }, arch);
}
inline Artifact gemm(DType type = f32, const std::string& arch = "sm_80") {
  return emitted(
      "gemm", gemm_signature(type, f32, false),
      [](Buffer A, Buffer B, Buffer C) { gemm_kernel(A, B, C, false, {.m = 32, .n = 48, .k = 16}); }, arch);
}
inline Artifact attention(DType type = f32, const std::string& arch = "sm_80") {
  return emitted(
      "attention", attention_signature(type, 64),
      [](Buffer Q, Buffer K, Buffer V, Buffer O) { attention_kernel(Q, K, V, O, 64, true, {.m = 32, .n = 16}); }, arch);
}

/// The texts without barrier 0, 1, ...: that line is empty, so that the others keep their numbers.
inline std::vector<std::string> without_each_barrier(const std::string& text) {
  const std::string barrier = "tw::barrier();";
  std::vector<std::string> texts;
  for (size_t at = text.find(barrier); at != std::string::npos; at = text.find(barrier, at + 1)) {
    texts.push_back(text);
    texts.back().erase(at, barrier.size());
  }
  return texts;
}

}  // namespace tilewright::cuda
