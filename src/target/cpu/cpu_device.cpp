#include "target/cpu/cpu_device.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/artifact.h"
#include "target/cpu/llvm_module.h"
#include "target/cpu/object_file.h"

namespace tilewright::cpu {
namespace {

/// Pieces a worker: enough to even out blocks of different cost, few enough to keep neighbours together.
constexpr int64_t kPiecesPerWorker = 4;

class CpuKernel : public LoadedKernel {
 public:
  CpuKernel(CpuDevice& device, const Artifact& artifact)
      : device_(device), object_(artifact.binary), plan_(artifact.plan) {
    for (const Phase& phase : plan_.phases)
      entries_.push_back(reinterpret_cast<CpuDevice::Entry>(object_.symbol(symbol_of(phase.entry))));
  }

  void launch(std::span<const Argument> arguments, Location at) override {
    BoundArguments bound = bind_arguments(plan_, arguments, at);
    for (size_t i = 0; i < plan_.phases.size(); ++i) {
      int64_t blocks = launch_size(plan_, plan_.phases[i], bound, at);
      device_.run(entries_[i], blocks, bound.tensors.data(), bound.scalars.data(), plan_.phases[i].fast_memory_bytes);
    }
  }

 private:
  CpuDevice& device_;
  ObjectFile object_;
  LaunchPlan plan_;
  std::vector<CpuDevice::Entry> entries_;
};

}  // namespace

Scratch::~Scratch() {
  if (mapping_) munmap(mapping_, mapped_);
}

Scratch::Scratch(Scratch&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)), mapped_(other.mapped_), bytes_(other.bytes_) {}

void* Scratch::reserve(int64_t wanted) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Whole cache lines, so that the end of the last tile touches the closing page.
  const size_t bytes = (static_cast<size_t>(std::max<int64_t>(wanted, 1)) + 63) / 64 * 64;
  if (!mapping_ || bytes > bytes_) {
    const size_t inside = (bytes + page - 1) / page * page;
    void* mapping = mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw DeviceError("mmap", errno, std::strerror(errno));
    if (mapping_) munmap(mapping_, mapped_);
    mapping_ = mapping;
    mapped_ = inside + 2 * page;
    bytes_ = inside;
    if (mprotect(static_cast<char*>(mapping) + page, inside, PROT_READ | PROT_WRITE) != 0)
      throw DeviceError("mprotect", errno, std::strerror(errno));
  }
  return static_cast<char*>(mapping_) + mapped_ - page - bytes;
}

CpuDevice::CpuDevice(int threads) : pool_(threads), scratch_(static_cast<size_t>(pool_.threads())) {}

void CpuDevice::set_threads(int threads) {
  pool_.set_threads(threads);
  scratch_.resize(static_cast<size_t>(pool_.threads()));
}

void CpuDevice::run(Entry entry, int64_t blocks, void** tensors, const uint64_t* scalars, int64_t scratch_bytes) {
  if (blocks <= 0) return;
  const int64_t workers = pool_.threads();
  const int64_t pieces = workers == 1 ? 1 : std::min(blocks, workers * kPiecesPerWorker);
  const int64_t each = blocks / pieces, longer = blocks % pieces;  // the first `longer` pieces have one block more
  pool_.for_each(pieces, [&](int64_t i, int worker) {
    const int64_t first = i * each + std::min(i, longer);
    void* scratch = scratch_[static_cast<size_t>(worker)].reserve(scratch_bytes);
    entry(first, first + each + (i < longer ? 1 : 0), tensors, scalars, scratch);
  });
}

std::unique_ptr<LoadedKernel> CpuDevice::load(const Artifact& artifact) {
  if (artifact.target != "cpu" || artifact.binary.empty())
    throw DeviceError("load", 0, fmt::format("the artifact is for {}, this is a cpu", artifact.target));
  return std::make_unique<CpuKernel>(*this, artifact);
}

}  // namespace tilewright::cpu
