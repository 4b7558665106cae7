// The generated texts through NVIDIA's run-time compiler.
#include "target/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tilewright/error.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

class CudaNvrtc : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUDA_CACHE_DISABLE", "1", 1);  // a binary from NVRTC's own cache comes without a log
    if (const Availability found = nvrtc.probe(); !found.available) GTEST_SKIP() << found.reason;
  }
  Nvrtc nvrtc;
};

std::vector<Artifact> families(DType type, const std::string& arch) {
  return {vector_add(128, type, arch), reverse(128, type, arch), softmax(type, arch),
          rms_norm(type, arch),        gemm(type, arch),         attention(type, arch)};
}

TEST_F(CudaNvrtc, CompilesAllProgramsForBothArchitectures) {
  for (const char* arch : {"sm_80", "sm_90a"})
    for (DType type : {f32, bf16})
      for (const Artifact& artifact : families(type, arch)) {
        const CompileReport report = nvrtc.compile(artifact, artifact.arch);
        EXPECT_EQ(report.binary.substr(0, 4),
                  "\x7f"
                  "ELF")
            << artifact.plan.kernel;
        EXPECT_NE(report.binary.find(artifact.plan.phases[0].entry), std::string::npos);
        EXPECT_GT(report.registers, 0) << report.log;
        EXPECT_GE(report.spill_bytes, 0) << report.log;
        EXPECT_EQ(report.log.find("warning"), std::string::npos) << report.log << artifact.text;
      }
}

TEST_F(CudaNvrtc, CompilesIntegersAndTheOtherNarrowFloats) {
  for (const char* arch : {"sm_80", "sm_90a"})
    for (DType type : {f16, e4m3, e5m2, i8, u8, i16, u16, i32, u32, i64, u64, f64})
      EXPECT_GT(nvrtc.compile(vector_add(96, type, arch), arch).registers, 0) << to_string(type);
}

TEST_F(CudaNvrtc, ABrokenTextIsAnErrorWithTheCompilersWords) {
  Artifact artifact = vector_add();
  artifact.text.insert(artifact.text.find("  const int t"), "  no_such_name = 1;\n");
  try {
    nvrtc.compile(artifact, "sm_90a");
    FAIL() << "it was compiled";
  } catch (const DeviceError& e) {
    const std::string message = e.message();
    EXPECT_NE(message.find("nvrtcCompileProgram failed with code 6"), std::string::npos) << message;
    EXPECT_NE(message.find("vector_add: the CUDA text does not compile for sm_90a"), std::string::npos) << message;
    EXPECT_NE(message.find("vector_add(6): error: identifier \"no_such_name\" is undefined"), std::string::npos)
        << message;
  }
}

TEST_F(CudaNvrtc, TheBinaryNamesTheUsersFile) {
  const std::string binary = nvrtc.compile(reverse(), "sm_90a").binary;
  EXPECT_NE(binary.find("vector.cpp"), std::string::npos) << "the library's kernel is written there";
}

TEST_F(CudaNvrtc, AnUnknownArchitectureIsAnError) {
  try {
    nvrtc.compile(vector_add(), "sm_1");
    FAIL() << "it was compiled";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.message()).find("sm_1"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace tilewright::cuda
