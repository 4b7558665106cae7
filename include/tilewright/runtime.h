#pragma once
// What a launch needs: tensors as views, devices, and loaded kernels. Plain C++; no IR and no compiler behind it.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/dtype.h"
#include "tilewright/error.h"

namespace tilewright {

/// A view of memory that someone else owns. Element (i, j, ...) is at data + sum(index * stride) elements.
struct Tensor {
  void* data = nullptr;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides = {};  // in elements; empty = row-major contiguous
};

/// Elements of a shape; 1 for rank 0. The strides of a row-major contiguous tensor of that shape.
int64_t element_count(const std::vector<int64_t>& shape);
std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape);

/// One argument of a call: a tensor, or a scalar given as a host number.
struct Argument {
  Argument(Tensor t) : tensor(std::move(t)), is_tensor(true) {}
  Argument(double v) : real(v), is_real(true) {}
  Argument(int64_t v) : integer(v) {}
  Argument(int v) : integer(v) {}

  Tensor tensor;
  double real = 0;
  int64_t integer = 0;
  bool is_tensor = false, is_real = false;
};

/// A kernel that a device can run. `arguments` follow the kernel's signature.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  /// Checks the arguments against the launch plan (UserError at `at`), launches every phase and returns when they are
  /// queued; Device::synchronize() waits.
  virtual void launch(std::span<const Argument> arguments, Location at) = 0;
};

struct Artifact;

/// Where kernels run: memory, copies, loading. Host-memory devices (interpreter, CPU, emulators) allocate with malloc.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Bytes at an address aligned to 256.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* address) = 0;
  virtual void copy_in(void* device, const void* host, int64_t bytes) = 0;
  virtual void copy_out(void* host, const void* device, int64_t bytes) = 0;
  virtual void synchronize() = 0;
  virtual std::unique_ptr<LoadedKernel> load(const Artifact& artifact) = 0;
};

}  // namespace tilewright
