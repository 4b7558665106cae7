#include "job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>

#include "tilewright/numerics.h"
#include "tools/baseline/loops.h"
#include "tools/baseline/openblas.h"

namespace tilewright::tool {
namespace {

constexpr const char* kLoop = "C++ loop";
constexpr int64_t kCheckedRows = 64;  // of a matrix, about; the rest of the work is the same

int64_t row_step(int64_t rows) { return std::max<int64_t>(1, rows / kCheckedRows); }

double total_bytes(const Job& job) {
  auto bytes = static_cast<double>(job.output.bytes());
  for (const HostTensor& t : job.inputs) bytes += static_cast<double>(t.bytes());
  return bytes;
}

}  // namespace

HostTensor::HostTensor(DType type, std::vector<int64_t> shape) : view_{nullptr, type, std::move(shape), {}} {
  constexpr size_t kAlignment = 256;
  const size_t size = (static_cast<size_t>(bytes()) + kAlignment) / kAlignment * kAlignment;
  memory_.reset(std::aligned_alloc(kAlignment, size));
  if (!memory_) throw std::bad_alloc();
  view_.data = memory_.get();
}

void HostTensor::Free::operator()(void* memory) const { std::free(memory); }

HostTensor random_tensor(DType type, std::vector<int64_t> shape, uint64_t seed) {
  HostTensor t(type, std::move(shape));
  std::mt19937_64 bits(seed);
  std::normal_distribution<float> normal;
  const int64_t count = element_count(t.view().shape);
  for (int64_t i = 0; i < count; ++i) write_element(type, t.view().data, i, normal(bits));
  return t;
}

Job vector_add_job(int64_t n, VectorTile tile, uint64_t seed) {
  Job job("vector_add", std::to_string(n), f32, HostTensor(f32, {n}));
  job.inputs.push_back(random_tensor(f32, {n}, seed));
  job.inputs.push_back(random_tensor(f32, {n}, seed + 1));
  job.flop = static_cast<double>(n);
  job.bytes = total_bytes(job);
  job.compile = [=](const On& on) { return compile_vector_add(f32, tile, on); };
  job.check = [](const Job& j) { return check_vector_add(j.inputs[0].view(), j.inputs[1].view(), j.output.view()); };
  job.peer = kLoop;
  job.run_peer = [n](const Job& j, const HostTensor& out, int threads) {
    baseline::vector_add(j.inputs[0].data<float>(), j.inputs[1].data<float>(), out.data<float>(), n, threads);
  };
  return job;
}

Job reverse_job(int64_t n, VectorTile tile, uint64_t seed) {
  Job job("reverse", std::to_string(n), f32, HostTensor(f32, {n}));
  job.inputs.push_back(random_tensor(f32, {n}, seed));
  job.bytes = total_bytes(job);
  job.compile = [=](const On& on) { return compile_reverse(f32, tile, on); };
  job.check = [](const Job& j) { return check_reverse(j.inputs[0].view(), j.output.view()); };
  job.peer = kLoop;
  job.run_peer = [n](const Job& j, const HostTensor& out, int threads) {
    baseline::reverse(j.inputs[0].data<float>(), out.data<float>(), n, threads);
  };
  return job;
}

Job softmax_job(int64_t rows, int64_t columns, uint64_t seed) {
  Job job("softmax", fmt::format("{}x{}", rows, columns), f32, HostTensor(f32, {rows, columns}));
  job.inputs.push_back(random_tensor(f32, {rows, columns}, seed));
  job.flop = 5 * static_cast<double>(rows * columns);  // max, difference, exp, sum, quotient
  job.bytes = total_bytes(job);
  const RowTile tile = row_tile(columns);
  job.compile = [=](const On& on) { return compile_softmax(f32, tile, on); };
  job.check = [=](const Job& j) {
    return check_softmax(j.inputs[0].view(), j.output.view(), tile.columns, row_step(rows));
  };
  job.peer = kLoop;
  job.run_peer = [=](const Job& j, const HostTensor& out, int threads) {
    baseline::softmax(j.inputs[0].data<float>(), out.data<float>(), rows, columns, threads);
  };
  return job;
}

Job rms_norm_job(int64_t rows, int64_t columns, uint64_t seed) {
  constexpr float kEps = 1e-5f;
  Job job("rms_norm", fmt::format("{}x{}", rows, columns), f32, HostTensor(f32, {rows, columns}));
  job.scalars = {kEps};
  job.inputs.push_back(random_tensor(f32, {rows, columns}, seed));
  job.inputs.push_back(random_tensor(f32, {columns}, seed + 1));
  job.flop = 4 * static_cast<double>(rows * columns);  // square, sum, two products
  job.bytes = total_bytes(job);
  const RowTile tile = row_tile(columns);
  job.compile = [=](const On& on) { return compile_rms_norm(f32, tile, on); };
  job.check = [=](const Job& j) {
    return check_rms_norm(j.inputs[0].view(), j.inputs[1].view(), kEps, j.output.view(), row_step(rows));
  };
  job.peer = kLoop;
  job.run_peer = [=](const Job& j, const HostTensor& out, int threads) {
    baseline::rms_norm(j.inputs[0].data<float>(), j.inputs[1].data<float>(), kEps, out.data<float>(), rows, columns,
                       threads);
  };
  return job;
}

Job gemm_job(DType in, int64_t m, int64_t n, int64_t k, uint64_t seed) {
  Job job("gemm", fmt::format("{}x{}x{}", m, n, k), in, HostTensor(f32, {m, n}));
  job.inputs.push_back(random_tensor(in, {m, k}, seed));
  job.inputs.push_back(random_tensor(in, {k, n}, seed + 1));
  job.flop = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  job.bytes = total_bytes(job);
  job.compile = [=](const On& on) { return compile_gemm(in, f32, false, {}, on); };
  job.check = [=](const Job& j) {
    return check_gemm(j.inputs[0].view(), j.inputs[1].view(), j.output.view(), false, row_step(m));
  };
  job.peer = baseline::openblas_name();
  if (job.peer.empty()) return job;
  if (in == f32) {
    job.run_peer = [=](const Job& j, const HostTensor& out, int threads) {
      baseline::openblas_sgemm(j.inputs[0].data<float>(), j.inputs[1].data<float>(), out.data<float>(), m, n, k,
                               threads);
    };
  } else {  // it has no product of bf16
    job.peer += ", inputs widened";
    auto a = std::make_shared<std::vector<float>>(m * k), b = std::make_shared<std::vector<float>>(k * n);
    job.run_peer = [=](const Job& j, const HostTensor& out, int threads) {
      baseline::widen(j.inputs[0].data<uint16_t>(), a->data(), m * k, threads);
      baseline::widen(j.inputs[1].data<uint16_t>(), b->data(), k * n, threads);
      baseline::openblas_sgemm(a->data(), b->data(), out.data<float>(), m, n, k, threads);
    };
  }
  return job;
}

Job attention_job(int64_t heads, int64_t length, int d, bool causal, uint64_t seed) {
  const std::vector<int64_t> shape{1, heads, length, d};
  Job job("attention", fmt::format("h{} s{} d{}{}", heads, length, d, causal ? " causal" : ""), f32,
          HostTensor(f32, shape));
  for (uint64_t i = 0; i < 3; ++i) job.inputs.push_back(random_tensor(f32, shape, seed + i));
  const double pairs = static_cast<double>(heads) * static_cast<double>(length) *
                       static_cast<double>(causal ? length + 1 : 2 * length) / 2;
  job.flop = 4 * pairs * d;
  job.bytes = total_bytes(job);
  const AttentionTile tile;
  job.compile = [=](const On& on) { return compile_attention(f32, d, causal, tile, on); };
  job.check = [=](const Job& j) {
    return check_attention(j.inputs[0].view(), j.inputs[1].view(), j.inputs[2].view(), j.output.view(), causal, tile.n,
                           row_step(length));
  };
  job.peer = kLoop;
  job.run_peer = [=](const Job& j, const HostTensor& out, int threads) {
    baseline::attention(j.inputs[0].data<float>(), j.inputs[1].data<float>(), j.inputs[2].data<float>(),
                        out.data<float>(), heads, length, d, causal, threads);
  };
  return job;
}

std::vector<Entry> entries(bool quick) {
  std::vector<Entry> all;
  auto real = [&](const char* family, auto make, bool one_thread = false) {
    all.push_back({family, true, one_thread, make});
  };
  const int64_t n = quick ? 1 << 20 : 1 << 24, rows = quick ? 256 : 2048, length = quick ? 256 : 1024;
  real("vector_add", [=](uint64_t seed) { return vector_add_job(n, {}, seed); });
  real("reverse", [=](uint64_t seed) { return reverse_job(n, {}, seed); });
  real("softmax", [=](uint64_t seed) { return softmax_job(rows, 4096, seed); });
  real("rms_norm", [=](uint64_t seed) { return rms_norm_job(rows, 4096, seed); });
  for (int64_t size : quick ? std::vector<int64_t>{256} : std::vector<int64_t>{512, 1024, 2048})
    real("gemm", [=](uint64_t seed) { return gemm_job(f32, size, size, size, seed); });
  const int64_t side = quick ? 256 : 1024;
  real("gemm", [=](uint64_t seed) { return gemm_job(f32, side, side, side, seed); }, true);
  real("gemm", [=](uint64_t seed) { return gemm_job(bf16, side, side, side, seed); });
  for (bool causal : {false, true})
    real("attention", [=](uint64_t seed) { return attention_job(8, length, 64, causal, seed); });
  // Small sizes with a tail.
  const VectorTile small{.n = 256, .threads = 64};
  all.push_back({"vector_add", false, true, [=](uint64_t seed) { return vector_add_job(1000, small, seed); }});
  all.push_back({"reverse", false, true, [=](uint64_t seed) { return reverse_job(1000, small, seed); }});
  return all;
}

}  // namespace tilewright::tool
