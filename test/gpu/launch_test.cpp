// The machine `cuda`: a real GPU. The six programs with sentinels run on it in the conformance table.
#include <algorithm>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "runtime/artifact.h"
#include "tilewright/jit.h"
#include "tilewright/kernels.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

using GpuLaunch = GpuTest;

/// Memory of the device, released at the end.
class OnDevice {
 public:
  OnDevice(Device& device, int64_t bytes) : device_(device), address_(device.allocate(bytes)) {}
  ~OnDevice() { device_.release(address_); }
  OnDevice(const OnDevice&) = delete;
  void* address() const { return address_; }
  template <class T>
  std::vector<T> read(int64_t first, int64_t count) const {
    std::vector<T> values(static_cast<size_t>(count));
    device_.copy_out(values.data(), static_cast<const T*>(address_) + first, count * static_cast<int64_t>(sizeof(T)));
    return values;
  }

 private:
  Device& device_;
  void* address_;
};

TEST_F(GpuLaunch, TheMachineNamesDeviceDriverAndCompiler) {
  for (const MachineInfo& m : machines())
    if (m.name == "cuda") {
      EXPECT_TRUE(m.available);
      EXPECT_NE(m.reason.find(driver().device), std::string::npos) << m.reason;
      EXPECT_NE(m.reason.find("NVRTC "), std::string::npos) << m.reason;
      return;
    }
  FAIL() << "no machine is named cuda";
}

TEST_F(GpuLaunch, APhaseSeesTheWritesOfTheOneBefore) {
  const int64_t n = 1 << 20;
  Kernel k = compile(
      "phases",
      [](Buffer y) {
        auto [N] = y.shape<1>();
        for (Var b : grid(ceildiv(N, 256), threads{256}))
          for (Var i : parallel(256)) y(b * 256 + i) = cast(i32, b * 256 + i);
        for (Var b : grid(ceildiv(N / 2, 128), threads{128}))
          for (Var i : parallel(128)) y(b * 128 + i) += y(N - 1 - (b * 128 + i));
      },
      signature(tensor("y", i32, {"N"}).contiguous()), "cuda");
  OnDevice y(k.device(), n * 4);
  k(Tensor{y.address(), i32, {n}});
  const std::vector<int32_t> got = y.read<int32_t>(0, n);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(got[static_cast<size_t>(i)], i < n / 2 ? n - 1 : i) << i;
}

// More elements than 31 bits count: 64-bit offsets.
TEST_F(GpuLaunch, OffsetsBeyond32Bits) {
  const int64_t n = (int64_t{1} << 32) + 1000;
  const UnarySignature types = reverse_signature(u8);
  Kernel count = compile(
      "count",
      [](Buffer x) {
        auto [N] = x.shape<1>();
        for (Var b : grid(ceildiv(N, 4096), threads{256}))
          for (Var i : parallel(4096)) x(b * 4096 + i) = cast(u8, (b * 4096 + i) % 251);
      },
      signature(tensor("x", u8, {"N"}).contiguous()), "cuda");
  Kernel reverse = compile("reverse", [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 1024}); }, types, "cuda");
  OnDevice x(count.device(), n), y(count.device(), n);
  count(Tensor{x.address(), u8, {n}});
  reverse(Tensor{x.address(), u8, {n}}, Tensor{y.address(), u8, {n}});
  for (int64_t first : {int64_t{0}, (int64_t{1} << 31) - 500, int64_t{1} << 32}) {
    const std::vector<uint8_t> in = x.read<uint8_t>(first, 1000), out = y.read<uint8_t>(first, 1000);
    for (int64_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(in[static_cast<size_t>(i)], (first + i) % 251);
      ASSERT_EQ(out[static_cast<size_t>(i)], (n - 1 - first - i) % 251);
    }
  }
}

TEST_F(GpuLaunch, MoreSharedMemoryThanTheLeastLimit) {
  Kernel k = compile(
      "wide",
      [](Buffer x, Buffer y) {
        for (Var b : grid(1, threads{128})) {
          auto u = shared(f32, {40000});  // 156 KiB
          copy(x[{b * 40000}], u);
          for (Var i : parallel(40000)) y(i) = u(39999 - i);
        }
      },
      signature(tensor("x", f32, {40000}).contiguous(), tensor("y", f32, {40000}).contiguous()), "cuda");
  std::vector<float> data(40000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  OnDevice x(k.device(), 160000), y(k.device(), 160000);
  k.device().copy_in(x.address(), data.data(), 160000);
  k(Tensor{x.address(), f32, {40000}}, Tensor{y.address(), f32, {40000}});
  std::reverse(data.begin(), data.end());
  EXPECT_EQ(y.read<float>(0, 40000), data);
}

// For racecheck of compute-sanitizer, which must report it: then its silence about the other tests says something.
TEST_F(GpuLaunch, DISABLED_ReverseWithoutItsBarrier) {
  Artifact artifact = emitted(
      "reverse", reverse_signature(f32), [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 128}); }, driver().arch);
  const std::string barrier = "tw::barrier();";
  artifact.text.erase(artifact.text.find(barrier), barrier.size());
  OnDevice x(device(), 1024), y(device(), 1024);
  const std::vector<Argument> arguments{Tensor{x.address(), f32, {256}}, Tensor{y.address(), f32, {256}}};
  device().load(artifact)->launch(arguments, {});
  device().synchronize();
}

TEST_F(GpuLaunch, TooMuchMemoryIsASentence) {
  try {
    device().allocate(int64_t{1} << 50);
    FAIL() << "allocated";
  } catch (const DeviceError& e) {
    EXPECT_EQ(e.message(), "cuMemAlloc failed with code 2: CUDA_ERROR_OUT_OF_MEMORY: out of memory");
  }
}

TEST_F(GpuLaunch, ATextWithoutItsEntryIsASentence) {
  Artifact artifact{"cuda", "sm_80", "CUDA C++", "extern \"C\" __global__ void other() {}", "", {}};
  artifact.plan.kernel = "lost";
  Phase& phase = artifact.plan.phases.emplace_back();
  phase.entry = "lost_kernel";
  phase.blocks = Formula::of(1);
  try {
    device().load(artifact);
    FAIL() << "loaded";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("cuModuleGetFunction failed with code 500: CUDA_ERROR_NOT_FOUND"), std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace tilewright::cuda
