#pragma once
// One program on one set of data: what `run` compiles, launches, checks and times.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "programs.h"
#include "tilewright/reference.h"

namespace tilewright::tool {

/// A dense tensor in host memory that owns its elements, aligned to 256 bytes.
class HostTensor {
 public:
  HostTensor(DType type, std::vector<int64_t> shape);
  const Tensor& view() const { return view_; }
  int64_t bytes() const { return view_.dtype.bytes(element_count(view_.shape)); }
  template <class T>
  T* data() const {
    return static_cast<T*>(view_.data);
  }

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;
  Tensor view_;
};

/// Normal values rounded to the type, the same for the same seed.
HostTensor random_tensor(DType type, std::vector<int64_t> shape, uint64_t seed);

struct Job {
  Job(std::string family, std::string label, DType type, HostTensor output)
      : family(std::move(family)), label(std::move(label)), type(type), output(std::move(output)) {}

  std::string family, label;   // "gemm", "1024x1024x1024"
  DType type;                  // of the inputs
  double flop = 0, bytes = 0;  // the least that the program has to do
  std::vector<HostTensor> inputs;
  HostTensor output;
  std::vector<double> scalars;  // after the tensors
  std::function<Kernel(const On&)> compile;
  /// Compares the output with its f64 reference.
  std::function<Agreement(const Job&)> check;
  std::string peer;  // empty: none
  std::function<void(const Job&, const HostTensor& output, int threads)> run_peer;
};

// A job on data made from `seed`. `tile` is the kernel's.
Job vector_add_job(int64_t n, VectorTile tile, uint64_t seed);
Job reverse_job(int64_t n, VectorTile tile, uint64_t seed);
Job softmax_job(int64_t rows, int64_t columns, uint64_t seed);
Job rms_norm_job(int64_t rows, int64_t columns, uint64_t seed);
/// A and B of type `in`, C in f32.
Job gemm_job(DType in, int64_t m, int64_t n, int64_t k, uint64_t seed);
Job attention_job(int64_t heads, int64_t length, int d, bool causal, uint64_t seed);

/// What `run` runs, in order.
struct Entry {
  std::string family;
  bool real = false;        // a real size, for the CPU; else a small one, for interpreters and emulators
  bool one_thread = false;  // on one thread, else on all that are asked
  std::function<Job(uint64_t seed)> make;
};
std::vector<Entry> entries(bool quick);

}  // namespace tilewright::tool
