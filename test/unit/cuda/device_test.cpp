// The SIMT emulator as a machine: results, and what it says of wrong programs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "target/cuda/emulator_device.h"
#include "tilewright/jit.h"
#include "unit/cuda/texts.h"

namespace tilewright::cuda {
namespace {

const char* const kMachine = "cuda-emulator";

std::vector<float> counted(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

Tensor on(std::vector<float>& data) { return {data.data(), f32, {static_cast<int64_t>(data.size())}}; }

Signature<TensorSpec, TensorSpec> two_vectors() {
  return signature(tensor("x", f32, {64}).contiguous(), tensor("y", f32, {64}).contiguous());
}

TEST(CudaDevice, APhaseSeesTheWritesOfTheOneBefore) {
  Kernel k = compile(
      "phases",
      [](Buffer x, Buffer y) {
        for (Var b : grid(2, threads{32}))
          for (Var i : parallel(32)) y(b * 32 + i) = x(63 - (b * 32 + i));
        for (Var b : grid(1, threads{64}))
          for (Var i : parallel(64)) y(b * 64 + i) *= 2;
      },
      two_vectors(), kMachine);
  std::vector<float> x = counted(64), y(64);
  k(on(x), on(y));
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], 2 * x[63 - i]);
}

TEST(CudaDevice, ScalarsOfEveryWidthArrive) {
  Kernel k = compile(
      "scalars",
      [](Buffer y, Expr a, Expr b, Expr c, Expr d) {
        for (Var i : grid(1, threads{32})) {
          y(i) = cast(f64, a);
          y(i + 1) = cast(f64, b);
          y(i + 2) = cast(f64, c);
          y(i + 3) = d;
        }
      },
      signature(tensor("y", f64, {4}).contiguous(), scalar("a", i32), scalar("b", i64), scalar("c", f32),
                scalar("d", f64)),
      kMachine);
  std::vector<double> y(4);
  k(Tensor{y.data(), f64, {4}}, -7, int64_t{1} << 40, 0.5, 0.1);
  EXPECT_EQ(y, (std::vector<double>{-7, 0x1p40, 0.5, 0.1}));
}

// A side of a choice is printed once however often it is used in itself; its reads happen only when it is chosen.
TEST(CudaDevice, ASharedSideOfAChoice) {
  Kernel k = compile(
      "choice",
      [](Buffer x, Buffer y) {
        for (Var b : grid(1, threads{32}))
          for (Var i : parallel(64)) {
            Expr v = x(63 - i) / 64;
            for (int d = 0; d < 60; ++d) v = v * v + v * 0.25f;
            y(b * 64 + i) = select(i < 32, v, x(i));
          }
      },
      two_vectors(), kMachine);
  std::vector<float> x = counted(64), y(64);
  k(on(x), on(y));
  for (size_t i = 0; i < 64; ++i) {
    float v = x[63 - i] / 64;
    for (int d = 0; d < 60; ++d) v = v * v + v * 0.25f;
    EXPECT_EQ(y[i], i < 32 ? v : x[i]) << i;
  }
}

/// The error of a launch.
template <class E>
E refused(Kernel k) {
  std::vector<float> x = counted(64), y(64);
  try {
    k(on(x), on(y));
  } catch (const E& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return E({}, "no error");
}

// Two iterations of a parallel loop that write one element: nothing that the compiler can prove wrong.
TEST(CudaDevice, AConflictOfIterationsIsReportedAtTheUsersLine) {
  uint32_t line = 0;
  Kernel k = compile(
      "conflict",
      [&](Buffer x, Buffer y) {
        for (Var b : grid(1, threads{32})) {
          auto u = shared(f32, {64});
          clear(u);
          line = __LINE__ + 1;
          for (Var i : parallel(64)) u(cast(i64, x(i)) / 2) = x(i);
          copy(u, y[{b * 64}]);
        }
      },
      two_vectors(), kMachine);
  const UserError e = refused<UserError>(k);
  EXPECT_EQ(e.location().line, line) << e.what();
  EXPECT_STREQ(e.location().file, __FILE__);
  EXPECT_NE(e.message().find("conflict: write_after_write: thread 2 of block 0 writes shared0[1] (line "),
            std::string::npos)
      << e.message();
  EXPECT_NE(e.message().find("thread 1 of block 0 wrote it"), std::string::npos) << e.message();
  ASSERT_FALSE(e.notes().empty());
  EXPECT_EQ(e.notes()[0].text, "the other access is here");
  EXPECT_EQ(e.notes()[0].at.line, line);
}

TEST(CudaDevice, AConflictOfBlocksIsReportedAtTheUsersLine) {
  uint32_t line = 0;
  Kernel k = compile(
      "blocks",
      [&](Buffer x, Buffer y) {
        for (Var b : grid(2, threads{32})) {
          auto u = shared(f32, {32});
          copy(x[{b * 32}], u);
          line = __LINE__ + 1;
          for (Var i : parallel(32)) y(cast(i64, u(i)) % 16) = u(i);
        }
      },
      two_vectors(), kMachine);
  const UserError e = refused<UserError>(k);
  EXPECT_EQ(e.location().line, line) << e.what();
}

TEST(CudaDevice, AReadOfWhatNothingWroteIsReportedAtTheUsersLine) {
  uint32_t line = 0;
  Kernel k = compile(
      "unwritten",
      [&](Buffer x, Buffer y) {
        for (Var b : grid(1, threads{32})) {
          auto u = shared(f32, {64});
          for (Var i : parallel(32)) u(i) = x(i);
          line = __LINE__ + 1;
          copy(u, y[{b * 64}]);
        }
      },
      two_vectors(), kMachine);
  const UserError e = refused<UserError>(k);
  EXPECT_EQ(e.location().line, line) << e.what();
  EXPECT_NE(e.message().find("uninitialised_read"), std::string::npos) << e.message();
}

/// Loads a text with another barrier or guard than the compiler's.
std::string internal_error(Artifact artifact, const std::string& part, const std::string& with) {
  artifact.text.replace(artifact.text.find(part), part.size(), with);
  auto loaded = EmulatorDevice(0).load(artifact);
  std::vector<float> x = counted(100), y(100);
  const std::vector<tilewright::Argument> arguments{on(x), on(y)};
  try {
    loaded->launch(arguments, {});
  } catch (const InternalError& e) {
    EXPECT_NE(e.location().line, 0u) << e.what();
    return e.message();
  }
  return "no error";
}

TEST(CudaDevice, FaultsThatOnlyTheCompilerCanMakeAreInternalErrors) {
  EXPECT_NE(internal_error(reverse(), "0 <= v0", "true").find("out_of_bounds_read"), std::string::npos);
  EXPECT_NE(internal_error(reverse(), "tw::i64(bx) * 128 + t < N", "true").find("out_of_bounds_write"),
            std::string::npos);
  EXPECT_NE(
      internal_error(reverse(), "shared0[t] =", "if (t < 64) tw::barrier(); shared0[t] =").find("barrier_divergence"),
      std::string::npos);
}

TEST(CudaDevice, ATextThatDoesNotCompileHarmsNoOther) {
  Artifact broken = vector_add(), good = vector_add();
  broken.text.insert(broken.text.find("  const int t"), "  no_such_name = 1;\n");
  EmulatorDevice device(0);
  auto first = device.load(broken), second = device.load(good);
  std::vector<float> x = counted(100), y = counted(100), z(100);
  const std::vector<tilewright::Argument> arguments{on(x), on(y), on(z)};
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(first->launch(arguments, {}), DeviceError);
    second->launch(arguments, {});
    EXPECT_EQ(z[99], 200.0f);
  }
}

TEST(CudaDevice, WithoutAHostCompilerTheReasonSaysWhatToInstall) {
  setenv("TILEWRIGHT_CXX", "/no/such/compiler", 1);
  const Availability probe = probe_emulator();
  std::string message;
  try {
    compile("copy", [](Buffer x, Buffer y) { copy(x, y); }, two_vectors(), kMachine);
  } catch (const UserError& e) {
    message = e.message();
  }
  unsetenv("TILEWRIGHT_CXX");
  EXPECT_FALSE(probe.available);
  EXPECT_NE(probe.reason.find("apt-get install g++"), std::string::npos) << probe.reason;
  EXPECT_NE(message.find("machine cuda-emulator: not available here: "), std::string::npos) << message;
  EXPECT_NE(message.find("apt-get install g++"), std::string::npos) << message;
}

TEST(CudaDevice, AnArtifactOfAnotherLanguageIsRefused) {
  Artifact other;
  other.language = "LLVM IR";
  EXPECT_THROW(EmulatorDevice(0).load(other), DeviceError);
}

}  // namespace
}  // namespace tilewright::cuda
