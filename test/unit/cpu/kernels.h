#pragma once
// Running kernels that are written as text.
#include <string>
#include <vector>

#include "ir/text.h"
#include "target/cpu/cpu_device.h"
#include "target/cpu/cpu_target.h"

namespace tilewright::cpu {

/// The plan of a kernel in loops form: a phase for each `for blocks` loop, with room for its tiles.
LaunchPlan plan_of(const ir::Ref<ir::Kernel>& kernel);

/// Parses (and checks with LLVM's verifier), compiles, loads.
class TestKernel {
 public:
  explicit TestKernel(const std::string& text, Options options = {}, int threads = 1);
  void operator()(std::vector<Argument> arguments) { loaded_->launch(arguments, {}); }
  CpuDevice& device() { return device_; }
  const CodeTexts& texts() const { return texts_; }

 private:
  CpuDevice device_;
  CodeTexts texts_;
  std::unique_ptr<LoadedKernel> loaded_;
};

/// A contiguous tensor over a vector.
template <class T>
Tensor tensor(std::vector<T>& data, DType type, std::vector<int64_t> shape) {
  return {data.data(), type, std::move(shape), {}};
}

}  // namespace tilewright::cpu
