#pragma once
// Kernels of the tests through the pipeline, as Ascend C.
#include "dsl/trace.h"
#include "pass/passes.h"
#include "target/ascend/ascend_target.h"
#include "tilewright/kernels.h"

namespace tilewright::ascend {

/// The artifact of a kernel for `cores` vector cores.
template <class... S, class F>
Artifact emitted(const std::string& name, const Signature<S...>& signature, F builder, int64_t cores = 2,
                 Location at = Here::current()) {
  const AscendTarget target(cores);
  const Compilation compilation = run_pipeline(trace(name, signature, builder, at), target);
  return target.emit(compilation.final_stage, compilation.plan);
}

/// The text from the first kernel function on: without the functions in front of it.
inline std::string kernels_of(const Artifact& artifact) {
  return artifact.text.substr(artifact.text.find("extern \"C\""));
}

}  // namespace tilewright::ascend
