// Speed of the library's kernels on a GPU, each beside what a user would pick: cuBLAS for products, and for kernels
// that memory bounds a copy of as many bytes. Prints a JSON row a case. Times are medians of launches with a wait after
// each.
//   bench_cuda [FAMILY...]
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <random>
#include <set>

#include "tilewright/jit.h"
#include "tilewright/kernels.h"
#include "tilewright/numerics.h"

namespace tilewright {
namespace {

/// Symbols of a library of the CUDA toolkit, found while the program runs.
class Toolkit {
 public:
  explicit Toolkit(std::initializer_list<const char*> names) {
    for (const char* name : names)
      if ((handle_ = dlopen(name, RTLD_NOW))) break;
  }
  explicit operator bool() const { return handle_ != nullptr; }
  template <class F>
  F* find(const char* symbol) const {
    return reinterpret_cast<F*>(dlsym(handle_, symbol));
  }

 private:
  void* handle_ = nullptr;
};

const Toolkit& cudart() {
  static const Toolkit lib{"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  return lib;
}
const Toolkit& cublas() {
  static const Toolkit lib{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  return lib;
}

/// Seconds of a call, the median of at least 10 within half a second.
double time_of(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  call();
  std::vector<double> seconds;
  const Clock::time_point start = Clock::now();
  while (seconds.size() < 10 || (Clock::now() - start < std::chrono::milliseconds(500) && seconds.size() < 1000)) {
    const Clock::time_point before = Clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - before).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

/// A tensor of random values in the device's memory.
struct OnDevice {
  OnDevice(Device& device, DType type, std::vector<int64_t> shape) : tensor{nullptr, type, std::move(shape)} {
    int64_t count = 1;
    for (int64_t n : tensor.shape) count *= n;
    bytes = type.bytes(count);
    std::vector<uint8_t> host(static_cast<size_t>(bytes));
    std::mt19937 bits(7);
    std::normal_distribution<float> normal;
    constexpr int64_t kPeriod = 1 << 16;
    for (int64_t i = 0; i < std::min(count, kPeriod); ++i) write_element(type, host.data(), i, normal(bits));
    for (int64_t i = type.bytes(kPeriod); i < bytes; ++i)
      host[static_cast<size_t>(i)] = host[static_cast<size_t>(i - type.bytes(kPeriod))];
    tensor.data = device.allocate(bytes);
    device.copy_in(tensor.data, host.data(), bytes);
  }
  Tensor tensor;
  int64_t bytes = 0;
};

void row(const std::string& family, const std::string& shape, DType type, double seconds, double flop, double bytes,
         const char* peer, double peer_seconds) {
  std::cout << fmt::format(
                   "{{\"family\": \"{}\", \"case\": \"{}\", \"type\": \"{}\", \"us\": {:.1f}, \"tflops\": {:.1f}, "
                   "\"gbs\": {:.0f}, \"peer\": \"{}\", \"peer_us\": {:.1f}, \"ratio\": {:.3f}}}",
                   family, shape, to_string(type), seconds * 1e6, flop / seconds * 1e-12, bytes / seconds * 1e-9, peer,
                   peer_seconds * 1e6, peer_seconds / seconds)
            << std::endl;
}

/// A copy on the device of `bytes` in all: half read, half written.
double time_of_copy(void* to, const void* from, int64_t bytes) {
  if (!cudart()) return 0;
  auto* copy = cudart().find<int(void*, const void*, size_t, int)>("cudaMemcpy");
  auto* wait = cudart().find<int()>("cudaDeviceSynchronize");
  constexpr int kDeviceToDevice = 3;
  return time_of([&] { copy(to, from, static_cast<size_t>(bytes / 2), kDeviceToDevice), wait(); });
}

/// C (m, n) f32 = A (m, k) B, of bf16, by cuBLAS.
double time_of_cublas(const OnDevice& a, const OnDevice& b, const OnDevice& c, bool transpose_b, int m, int n, int k) {
  if (!cublas() || !cudart()) return 0;
  using Handle = void*;
  static Handle handle = [] {
    Handle h = nullptr;
    cublas().find<int(Handle*)>("cublasCreate_v2")(&h);
    return h;
  }();
  auto* gemm = cublas()
                   .find<int(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                             const void*, void*, int, int, int, int)>("cublasGemmEx");
  auto* wait = cudart().find<int()>("cudaDeviceSynchronize");
  const float one = 1, zero = 0;
  constexpr int kF32 = 0, kBf16 = 14, kCompute32 = 68, kDefault = -1;
  return time_of([&] {  // cuBLAS is column-major: C^T = B^T A^T
    gemm(handle, transpose_b ? 1 : 0, 0, n, m, k, &one, b.tensor.data, kBf16, transpose_b ? k : n, a.tensor.data, kBf16,
         k, &zero, c.tensor.data, kF32, n, kCompute32, kDefault);
    wait();
  });
}

void gemm_rows() {
  for (bool transpose_b : {false, true})
    for (int64_t n : {2048, 4096}) {
      Kernel k = compile(
          "gemm", [=](Buffer A, Buffer B, Buffer C) { gemm_kernel(A, B, C, transpose_b); },
          gemm_signature(bf16, f32, transpose_b), "cuda");
      const OnDevice a(k.device(), bf16, {n, n}), b(k.device(), bf16, {n, n}), c(k.device(), f32, {n, n});
      const double ours = time_of([&] { k(a.tensor, b.tensor, c.tensor); });
      const double peer =
          time_of_cublas(a, b, c, transpose_b, static_cast<int>(n), static_cast<int>(n), static_cast<int>(n));
      const auto size = static_cast<double>(n);
      row("gemm", fmt::format("{0}x{0}x{0}{1}", n, transpose_b ? " B transposed" : ""), bf16, ours,
          2 * size * size * size, static_cast<double>(a.bytes + b.bytes + c.bytes), "cuBLAS", peer);
    }
}

void row_kernels(bool norm) {
  for (DType type : {f32, bf16})
    for (int64_t columns : {1024, 4096, 16384}) {
      const int64_t rows = (int64_t{1} << 27) / columns;
      const RowTile tile = row_tile(columns);
      Kernel k = norm
                     ? compile(
                           "rms_norm", [=](Buffer x, Buffer w, Buffer y, Expr e) { rms_norm_kernel(x, w, y, e, tile); },
                           rms_norm_signature(type), "cuda")
                     : compile(
                           "softmax", [=](Buffer x, Buffer y) { softmax_kernel(x, y, tile); }, softmax_signature(type),
                           "cuda");
      const OnDevice x(k.device(), type, {rows, columns}), y(k.device(), type, {rows, columns}),
          w(k.device(), type, {columns});
      const double ours = time_of([&] { norm ? k(x.tensor, w.tensor, y.tensor, 1e-5f) : k(x.tensor, y.tensor); });
      const double peer = time_of_copy(y.tensor.data, x.tensor.data, x.bytes + y.bytes);
      row(norm ? "rms_norm" : "softmax", fmt::format("{}x{}", rows, columns), type, ours, 0,
          static_cast<double>(x.bytes + y.bytes), "copy", peer);
      for (const OnDevice* t : {&x, &y, &w}) k.device().release(t->tensor.data);
    }
}

void attention_rows() {
  for (bool causal : {false, true}) {
    constexpr int kD = 128;
    constexpr int64_t kHeads = 32, kLength = 4096;
    Kernel k = compile(
        "attention", [=](Buffer Q, Buffer K, Buffer V, Buffer O) { attention_kernel(Q, K, V, O, kD, causal); },
        attention_signature(bf16, kD), "cuda");
    const std::vector<int64_t> shape{1, kHeads, kLength, kD};
    const OnDevice q(k.device(), bf16, shape), key(k.device(), bf16, shape), v(k.device(), bf16, shape),
        o(k.device(), bf16, shape);
    const double ours = time_of([&] { k(q.tensor, key.tensor, v.tensor, o.tensor); });
    const double pairs = static_cast<double>(kHeads * kLength) * static_cast<double>(causal ? kLength / 2 : kLength);
    row("attention", fmt::format("h{} s{} d{}{}", kHeads, kLength, kD, causal ? " causal" : ""), bf16, ours,
        4 * pairs * kD, 0, "", 0);
  }
}

int run(const std::set<std::string>& chosen) {
  auto wanted = [&](const char* family) { return chosen.empty() || chosen.contains(family); };
  if (wanted("gemm")) gemm_rows();
  if (wanted("softmax")) row_kernels(false);
  if (wanted("rms_norm")) row_kernels(true);
  if (wanted("attention")) attention_rows();
  return 0;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) try {
  return tilewright::run({argv + 1, argv + argc});
} catch (const tilewright::Error& e) {
  std::cerr << tilewright::describe(e) << "\n";
  return 1;
}
