// Batches of texts, arguments, and what is refused.
#include <gtest/gtest.h>

#include "texts.h"
#include "tilewright/error.h"

namespace tilewright::engine {
namespace {

Text small(const std::string& name, const std::string& parameters, const std::string& body) {
  return {name, "extern \"C\" __global__ __vector__ void " + name + "(" + parameters +
                    ") {\nusing namespace AscendC;\n" + body + "\n}\n"};
}

/// The message of the UserError that `f` throws; "" when it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.message();
  }
  return "";
}

TEST(EngineBatch, FortyKernelsOfOneTextKeepApart) {
  std::vector<Text> batch;
  for (int i = 0; i < 40; ++i) {
    Text t = named(kAddText, std::string("add").append(std::to_string(i)));
    t.source.replace(t.source.find("Add(z, x, y, m);"), 16, "Adds(z, x, float(" + std::to_string(i) + "), m);");
    batch.push_back(t);
  }
  const Program p = Program::compile(batch);
  for (int i : {0, 17, 39}) {
    std::vector<float> a(33, 1.0f), b(33, 0.0f), c(33);
    const Report r = p.launch(std::string("add").append(std::to_string(i)), 2,
                              {Argument::global(a.data(), 132), Argument::global(b.data(), 132),
                               Argument::global(c.data(), 132), Argument::scalar(int32_t{33})});
    EXPECT_TRUE(r.clean()) << r.to_string();
    EXPECT_EQ(c[32], 1.0f + static_cast<float>(i));
  }
}

TEST(EngineBatch, HelpersAndExternCBlocksOfSeveralTextsDoNotMeet) {
  const std::string helper = "static inline float factor() { return ";
  Text one{"one",
           helper +
               "2.0f; }\nextern \"C\" {\n__global__ __vector__ void one(GM_ADDR b) {\n AscendC::GlobalTensor<float> B; "
               "B.SetGlobalBuffer((__gm__ float*)b); B.SetValue(0, factor());\n}\n}\n"};
  Text two{"two",
           helper +
               "3.0f; }\nextern \"C\" __global__ __vector__ void two(GM_ADDR b) {\n AscendC::GlobalTensor<float> B; "
               "B.SetGlobalBuffer((__gm__ float*)b); B.SetValue(0, factor());\n}\n"};
  const Program p = Program::compile({one, two});
  float b = 0;
  EXPECT_TRUE(p.launch("one", 1, {Argument::global(&b, 4)}).clean());
  EXPECT_EQ(b, 2.0f);
  EXPECT_TRUE(p.launch("two", 1, {Argument::global(&b, 4)}).clean());
  EXPECT_EQ(b, 3.0f);
}

TEST(EngineBatch, ScalarsOfAllSizesArrive) {
  const Program p = Program::compile({small(
      "scalars", "GM_ADDR o, int8_t a, uint16_t b, float c, int64_t d, double e, bool f",
      "GlobalTensor<double> O; O.SetGlobalBuffer((__gm__ double*)o); O.SetValue(0, double(a) + b + c + d + e + f);")});
  double sum = 0;
  const Report r = p.launch(
      "scalars", 1,
      {Argument::global(&sum, 8), Argument::scalar(int8_t{-3}), Argument::scalar(uint16_t{40000}),
       Argument::scalar(0.5f), Argument::scalar(int64_t{1} << 40), Argument::scalar(0.25), Argument::scalar(true)});
  EXPECT_TRUE(r.clean()) << r.to_string();
  EXPECT_EQ(sum, -3 + 40000 + 0.5 + 1099511627776.0 + 0.25 + 1);
}

TEST(EngineBatch, ArgumentsMustFitTheParameters) {
  const Program p = Program::compile({small("k", "GM_ADDR a, int32_t n", "")});
  float x = 0;
  const Argument global = Argument::global(&x, 4);
  EXPECT_EQ(error_of([&] { p.launch("k", 1, {global}); }), "k takes 2 arguments, got 1");
  EXPECT_EQ(error_of([&] { p.launch("k", 1, {global, Argument::scalar(int64_t{1})}); }),
            "k: parameter 1 is a scalar of 4 bytes, got a scalar of 8 bytes");
  EXPECT_EQ(error_of([&] { p.launch("k", 1, {Argument::scalar(1), Argument::scalar(1)}); }),
            "k: parameter 0 is global memory, got a scalar of 4 bytes");
  EXPECT_EQ(error_of([&] { p.launch("j", 1, {}); }), "no kernel named j in this batch");
  EXPECT_EQ(error_of([&] { p.launch("k", 0, {global, Argument::scalar(1)}); }),
            "k: a launch has 1 to 65535 cores, got 0");
  EXPECT_EQ(error_of([&] { p.launch("k", 1, {Argument::global(nullptr, 4), Argument::scalar(1)}); }),
            "k: argument 0 has 4 bytes at a null address");
  EXPECT_EQ(error_of([&] { p.launch("k", 1, {global, Argument::scalar(1)}); }), "");
}

TEST(EngineBatch, TextsThatCannotBeABatchAreRefused) {
  EXPECT_EQ(error_of([&] { batch_text({small("k", "", ""), small("k", "", "")}); }),
            "two kernel texts of one batch are named k");
  EXPECT_EQ(error_of([&] { batch_text({{"a b", ""}}); }), "'a b' is not a name of a kernel function");
  EXPECT_EQ(error_of([&] { batch_text({}, 3510); }), "the engine emulator knows __NPU_ARCH__ 2201, got 3510");
  EXPECT_EQ(error_of([&] { batch_text({{"k", "int x;\n  #include <vector>\n"}}); }),
            "kernel text k: only kernel_operator.h can be included on the emulator, got '#include <vector>'");
  try {
    batch_text({{"k", "int x;\n  #include <vector>\n"}});
  } catch (const UserError& e) {
    EXPECT_EQ(e.location().line, 2u);
  }
}

TEST(EngineBatch, ACompilersErrorNamesTheTextAndItsLine) {
  try {
    Program::compile({small("fine", "", ""),
                      small("broken", "", "LocalTensor<float> x(TPosition::VECIN, 0, 8);\nAdds(x, x, 1.0, 8);")});
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("broken:4:"), std::string::npos) << e.message();
  }
}

TEST(EngineBatch, ALaunchStopsAtACoreThatCannotGoOnAndRunsTheOthers) {
  const Program p = Program::compile({small("k", "GM_ADDR o",
                                            "GlobalTensor<float> O; O.SetGlobalBuffer((__gm__ float*)o);\n"
                                            "if (GetBlockIdx() == 1) LocalTensor<float> l(TPosition::A1, 0, 8);\n"
                                            "O.SetValue(GetBlockIdx() * 16, 1.0f + GetBlockNum());")});
  std::vector<float> o(48);
  const Report r = p.launch("k", 3, {Argument::global(o.data(), 192)});
  EXPECT_EQ(r.total, 1);
  EXPECT_EQ(o[0], 4.0f);
  EXPECT_EQ(o[16], 0.0f);
  EXPECT_EQ(o[32], 4.0f);
}

}  // namespace
}  // namespace tilewright::engine
