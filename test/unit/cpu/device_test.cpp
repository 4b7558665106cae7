// Loading of objects, whole and damaged, and what a launch does when memory runs out.
#include <elf.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <random>

#include "target/cpu/object_file.h"
#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

/// A kernel with constants, calls of memory functions and of the C library, and relocations of each kind.
constexpr const char* kText = R"(kernel sample stage loops {
  scalar n: i64
  param X: f64[n] strides [1]
  param Y: f32[n] strides [1]
  for blocks b in ceildiv(n, 512) {
    alloc T: f32[512] shared memory scratch offset 0
    for parallel i in 512 {
      store T[i] = 0:f32
    }
    for parallel j in min(512, (n - (b * 512))) {
      store T[j] = (tanh(cast<f32>(sin(X[((b * 512) + j)]))) + exp(0.3:f32))
    }
    for parallel k in min(512, (n - (b * 512))) {
      store Y[((b * 512) + k)] = T[k]
    }
  }
})";

const std::string& sample_object() {
  static const std::string object = TestKernel(kText).texts().artifact.binary;
  return object;
}

/// "" when the object loads, else the error's sentence. Anything but a DeviceError goes on.
std::string load_error(std::string_view object) {
  try {
    ObjectFile file(object);
    file.symbol("tilewright_sample");
    return "";
  } catch (const DeviceError& e) {
    return e.message();
  }
}

TEST(CpuObject, AWholeOneLoads) {
  EXPECT_EQ(load_error(sample_object()), "");
  try {
    ObjectFile(sample_object()).symbol("tilewright_other");
    FAIL() << "a symbol that is not there was found";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("it does not define tilewright_other"), std::string::npos) << e.message();
  }
}

TEST(CpuObject, AShortOneIsRefused) {
  const std::string& object = sample_object();
  for (size_t size = 0; size < object.size(); size += size < 128 ? 1 : 61)
    EXPECT_NE(load_error(std::string_view(object).substr(0, size)), "") << size << " of " << object.size() << " bytes";
}

TEST(CpuObject, OneForAnotherMachineIsRefused) {
  std::string object = sample_object();
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  header.e_machine = EM_AARCH64;
  std::memcpy(object.data(), &header, sizeof header);
  EXPECT_NE(load_error(object).find("it is for machine type 183"), std::string::npos) << load_error(object);
}

/// Changed bytes of headers, section tables, symbols and relocations: refused or loaded, never followed out of bounds.
TEST(CpuObject, DamagedTablesDoNoHarm) {
  const std::string& whole = sample_object();
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::vector<std::pair<size_t, size_t>> tables{{0, sizeof header},
                                                {header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)}};
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, whole.data() + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type == SHT_RELA || section.sh_type == SHT_SYMTAB || section.sh_type == SHT_STRTAB)
      tables.push_back({section.sh_offset, section.sh_size});
  }
  std::mt19937 random(1);
  int refused = 0;
  constexpr int kTries = 4000;
  for (int i = 0; i < kTries; ++i) {
    std::string object = whole;
    const auto& [start, size] = tables[random() % tables.size()];
    ASSERT_GT(size, 0u);
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      object[start + random() % size] = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    refused += !load_error(object).empty();
  }
  EXPECT_GT(refused, kTries / 10);
  EXPECT_LT(refused, kTries);
}

TEST(CpuDevice, ArtifactsOfOtherTargetsAreRefused) {
  CpuDevice device(1);
  const Artifact artifact{.target = "cuda", .arch = {}, .language = {}, .text = {}, .binary = "x", .plan = {}};
  try {
    device.load(artifact);
    FAIL() << "it was loaded";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("the artifact is for cuda, this is a cpu"), std::string::npos) << e.message();
  }
}

TEST(CpuDevice, ScratchMemoryThatTheSystemLacksIsAnErrorAndTheDeviceGoesOn) {
  CpuDevice device(3);
  static std::atomic<int> runs;
  runs = 0;
  auto entry = +[](int64_t first, int64_t end, void**, const uint64_t*, void* scratch) {
    static_cast<char*>(scratch)[0] = 1;
    runs += static_cast<int>(end - first);
  };
  EXPECT_THROW(device.run(entry, 20, nullptr, nullptr, int64_t{1} << 60), DeviceError);
  EXPECT_EQ(runs.load(), 0);
  device.run(entry, 20, nullptr, nullptr, 4096);
  EXPECT_EQ(runs.load(), 20);
}

/// The byte after the last tile is no memory: a kernel that writes past its tiles ends the process at that write.
TEST(CpuDeviceDeathTest, APageAfterTheTilesIsClosed) {
  CpuDevice device(1);
  auto entry = +[](int64_t, int64_t, void**, const uint64_t*, void* scratch) { static_cast<char*>(scratch)[4096] = 1; };
  EXPECT_EXIT(device.run(entry, 1, nullptr, nullptr, 4096), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace tilewright::cpu
