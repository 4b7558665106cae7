// Batches and calls: names, helpers of one name, compile errors, arguments that do not fit.
#include <gtest/gtest.h>

#include "kernels.h"
#include "tilewright/error.h"

namespace tilewright::simt {
namespace {

TEST(SimtBatch, KernelsOfOneBatchMayShareNamesOfKernelsAndHelpers) {
  KernelText texts[] = {{"fill",
                         "__device__ int value() { return 1; }\nextern \"C\" __global__ void fill(tw::global<int> out) "
                         "{ out[0] = value(); }"},
                        {"fill",
                         "__device__ int value() { return 2; }\nextern \"C\" __global__ void fill(tw::global<int> out) "
                         "{ out[0] = value(); }"}};
  std::vector<Kernel> kernels = compile_batch(texts);
  ASSERT_EQ(kernels.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    std::vector<int> out(1);
    EXPECT_EQ(kernels[i].name(), "fill");
    EXPECT_EQ(launch(kernels[i], {1}, {1}, 0, std::vector{buffer("out", out)}).total, 0);
    EXPECT_EQ(out[0], i + 1);
  }
  EXPECT_TRUE(compile_batch({}).empty());
}

TEST(SimtBatch, CompileErrorNamesKernelAndLine) {
  KernelText texts[] = {{"good", "__global__ void good() {}"},
                        {"bad", "__global__ void bad() {\n  int x = undeclared_name;\n}"}};
  try {
    compile_batch(texts);
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("bad:2:"), std::string::npos) << e.message();
    EXPECT_NE(e.message().find("undeclared_name"), std::string::npos) << e.message();
  }
}

TEST(SimtBatch, WriteThroughAConstViewDoesNotCompile) {
  KernelText texts[] = {{"bad", "__global__ void bad(tw::global<const int> a) { a[0] = 1; }"}};
  EXPECT_THROW(compile_batch(texts), DeviceError);
}

TEST(SimtBatch, PlainSharedArrayDoesNotCompile) {
  KernelText texts[] = {{"bad", "__global__ void bad() { __shared__ int a[4]; a[0] = 1; }"}};
  EXPECT_THROW(compile_batch(texts), DeviceError);
}

TEST(SimtBatch, NameThatIsNoIdentifierIsRefused) {
  KernelText texts[] = {{"a b", ""}};
  EXPECT_THROW(compile_batch(texts), UserError);
}

TEST(SimtBatch, ArgumentsThatDoNotFitAreRefusedWithBothTypes) {
  KernelText texts[] = {{"f", "__global__ void f(tw::global<int> a, long long n, float x, bool b) {}"}};
  Kernel kernel = compile_batch(texts)[0];
  std::vector<int> a(1);
  auto message = [&](std::vector<Argument> arguments) {
    try {
      launch(kernel, {1}, {1}, 0, arguments);
    } catch (const UserError& e) {
      return e.message();
    }
    return std::string("accepted");
  };
  Argument n = Argument::i64(1), x = Argument::f32(1), b = Argument::boolean(true);
  EXPECT_EQ(message({buffer("a", a), n, x, b}), "accepted");
  EXPECT_EQ(message({buffer("a", a), n, x}), "f takes 4 arguments but got 3");
  EXPECT_EQ(message({n, n, x, b}), "f: parameter 0 is a buffer but the argument is a 64-bit signed integer");
  EXPECT_EQ(message({buffer("a", a), Argument::i32(1), x, b}),
            "f: parameter 1 is a 64-bit signed integer but the argument is a 32-bit signed integer");
  EXPECT_EQ(message({buffer("a", a), n, Argument::f64(1), b}),
            "f: parameter 2 is a 32-bit float but the argument is a 64-bit float");
  EXPECT_EQ(message({buffer("a", a), n, x, buffer("b", a)}), "f: parameter 3 is a bool but the argument is a buffer");
}

TEST(SimtBatch, ScalarsOfEveryTypeArrive) {
  KernelText texts[] = {{"f", R"(
__global__ void f(tw::global<double> out, int a, unsigned b, long long c, unsigned long long d, float e, double g, bool h, signed char k, unsigned short m) {
  out[0] = a; out[1] = b; out[2] = (double)c; out[3] = (double)d; out[4] = e; out[5] = g; out[6] = h; out[7] = k; out[8] = m;
})"}};
  std::vector<double> out(9);
  int8_t k = -5;
  uint16_t m = 65535;
  std::vector<Argument> arguments = {buffer("out", out),
                                     Argument::i32(-1),
                                     Argument::u32(4000000000u),
                                     Argument::i64(-(int64_t{1} << 40)),
                                     Argument::u64(uint64_t{1} << 63),
                                     Argument::f32(0.5f),
                                     Argument::f64(0.1),
                                     Argument::boolean(true),
                                     Argument::scalar('i', &k, 1),
                                     Argument::scalar('u', &m, 2)};
  EXPECT_EQ(launch(compile_batch(texts)[0], {1}, {1}, 0, arguments).total, 0);
  EXPECT_EQ(out, (std::vector<double>{-1, 4e9, -0x1p40, 0x1p63, 0.5, 0.1, 1, -5, 65535}));
}

}  // namespace
}  // namespace tilewright::simt
