// What the vector operations compute: against formulas written here, in f64 or by the meaning of the rounding modes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "target/common/emulator/engine/convert.h"
#include "texts.h"

namespace tilewright::engine {
namespace {

// A kernel that loads up to three arrays a, b (of type S) and runs one statement on UB tensors x, y -> z (of type D).
Text statement(const std::string& name, const std::string& source, const std::string& result, const std::string& code) {
  return {name, "extern \"C\" __global__ __vector__ void " + name + "(GM_ADDR a, GM_ADDR b, GM_ADDR c, int32_t n) {\n" +
                    "using namespace AscendC; using S = " + source + "; using D = " + result + ";\n" + R"(
  GlobalTensor<S> A, B; A.SetGlobalBuffer((__gm__ S*)a); B.SetGlobalBuffer((__gm__ S*)b);
  GlobalTensor<D> C; C.SetGlobalBuffer((__gm__ D*)c);
  LocalTensor<S> x(TPosition::VECIN, 0, 4096), y(TPosition::VECIN, 32768, 4096);
  LocalTensor<D> z(TPosition::VECOUT, 65536, 4096), t(TPosition::VECOUT, 98304, 4096);
  DataCopyPad(x, A, DataCopyExtParams(1, n * sizeof(S), 0, 0, 0), DataCopyPadExtParams<S>());
  DataCopyPad(y, B, DataCopyExtParams(1, n * sizeof(S), 0, 0, 0), DataCopyPadExtParams<S>());
  uint32_t m = n;
  PipeBarrier<PIPE_ALL>();
)" + code + "\n  PipeBarrier<PIPE_ALL>();\n  DataCopyPad(C, z, DataCopyExtParams(1, m * sizeof(D), 0, 0, 0));\n}\n"};
}

template <class S, class D>
std::vector<D> run(const Program& p, const std::string& name, std::vector<S> a, std::vector<S> b, size_t results) {
  std::vector<D> out(results);
  const Report r = p.launch(name, 1,
                            {Argument::global(a.data(), static_cast<int64_t>(a.size() * sizeof(S))),
                             Argument::global(b.data(), static_cast<int64_t>(b.size() * sizeof(S))),
                             Argument::global(out.data(), static_cast<int64_t>(out.size() * sizeof(D))),
                             Argument::scalar(static_cast<int32_t>(a.size()))});
  EXPECT_TRUE(r.clean()) << r.to_string();
  return out;
}

std::string numbered(std::string name, size_t i) { return name.append(std::to_string(i)); }

std::vector<float> some_floats(int n, float low, float high, unsigned seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> d(low, high);
  std::vector<float> v(n);
  for (float& f : v) f = d(rng);
  return v;
}

TEST(EngineVector, FloatOperationsAreTheIeeeOnes) {
  struct Op {
    const char* code;
    double (*f)(double, double);
    double ulps;
  };
  const Op ops[] = {
      {"Add(z, x, y, n);", [](double a, double b) { return a + b; }, 0.5},
      {"Sub(z, x, y, n);", [](double a, double b) { return a - b; }, 0.5},
      {"Mul(z, x, y, n);", [](double a, double b) { return a * b; }, 0.5},
      {"Div(z, x, y, n);", [](double a, double b) { return a / b; }, 0.5},
      {"Max(z, x, y, n);", [](double a, double b) { return std::max(a, b); }, 0},
      {"Min(z, x, y, n);", [](double a, double b) { return std::min(a, b); }, 0},
      {"Adds(z, x, 2.5f, n);", [](double a, double) { return a + 2.5; }, 0.5},
      {"Muls(z, x, -3.0f, n);", [](double a, double) { return a * -3.0; }, 0.5},
      {"Maxs(z, x, 1.5f, n);", [](double a, double) { return std::max(a, 1.5); }, 0},
      {"Mins(z, x, 1.5f, n);", [](double a, double) { return std::min(a, 1.5); }, 0},
      {"Exp(z, x, n);", [](double a, double) { return std::exp(a); }, 2},
      {"Ln(z, x, n);", [](double a, double) { return std::log(a); }, 2},
      {"Abs(z, x, n);", [](double a, double) { return std::fabs(a); }, 0},
      {"Sqrt(z, x, n);", [](double a, double) { return std::sqrt(a); }, 0.5},
      {"Rsqrt(z, x, n);", [](double a, double) { return 1 / std::sqrt(a); }, 2},
      {"Reciprocal(z, x, n);", [](double a, double) { return 1 / a; }, 0.5},
      {"Relu(z, x, n);", [](double a, double) { return a > 0 ? a : 0; }, 0},
      {"Duplicate(z, 7.25f, n);", [](double, double) { return 7.25; }, 0},
  };
  std::vector<Text> batch;
  for (size_t i = 0; i < std::size(ops); ++i) {
    batch.push_back(statement(numbered("f", i), "float", "float", ops[i].code));
  }
  const Program p = Program::compile(batch);
  const std::vector<float> a = some_floats(131, 0.01f, 9.0f, 1), b = some_floats(131, 0.5f, 3.0f, 2);
  for (size_t i = 0; i < std::size(ops); ++i) {
    const std::vector<float> c = run<float, float>(p, numbered("f", i), a, b, a.size());
    for (size_t k = 0; k < a.size(); ++k) {
      const double want = ops[i].f(a[k], b[k]);
      EXPECT_LE(std::fabs(c[k] - want), ops[i].ulps * std::fabs(want) * 0x1p-23)
          << ops[i].code << ' ' << a[k] << ' ' << b[k];
    }
  }
}

TEST(EngineVector, HalfRoundsToNearestEvenAndSaturates) {
  const Program p = Program::compile(
      {statement("add", "half", "half", "Add(z, x, y, n);"), statement("mul", "half", "half", "Mul(z, x, y, n);")});
  // 2048 + 1 and 2050 + 1 lie half way between two halves; 60000 + 60000 is beyond f16.
  const std::vector<float> x{2048, 2050, 60000, -60000, 1}, y{1, 1, 60000, -60000, 0x1p-24f};
  const std::vector<float> sum{2048, 2052, 65504, -65504, 1};
  std::vector<uint16_t> a, b;
  for (float f : x) a.push_back(float_to_half(f));
  for (float f : y) b.push_back(float_to_half(f));
  const std::vector<uint16_t> c = run<uint16_t, uint16_t>(p, "add", a, b, a.size());
  for (size_t i = 0; i < c.size(); ++i) EXPECT_EQ(half_to_float(c[i]), sum[i]) << i;
  EXPECT_EQ(half_to_float(run<uint16_t, uint16_t>(p, "mul", a, b, a.size())[4]), 0x1p-24f);
}

TEST(EngineVector, IntegersWrap) {
  const Program p = Program::compile({statement("add", "int16_t", "int16_t", "Add(z, x, y, n);"),
                                      statement("mul", "int32_t", "int32_t", "Mul(z, x, y, n);")});
  EXPECT_EQ((run<int16_t, int16_t>(p, "add", {32767, -32768, 5}, {1, -1, -7}, 3)),
            (std::vector<int16_t>{-32768, 32767, -2}));
  EXPECT_EQ((run<int32_t, int32_t>(p, "mul", {65536, 3}, {65536, -7}, 2)), (std::vector<int32_t>{0, -21}));
}

TEST(EngineVector, ReduceMaxGivesTheFirstPlaceOfTheLargest) {
  const Program p = Program::compile({statement("most", "float", "float", "ReduceMax(z, x, t, n, true); m = 2;"),
                                      statement("least", "float", "float", "ReduceMin(z, x, t, n, true); m = 2;"),
                                      statement("alone", "float", "float", "ReduceMax(z, x, t, n); m = 1;")});
  for (int n : {1, 2, 63, 64, 65, 300}) {
    std::vector<float> a(n, 1.0f);
    const int place = n / 2, second = n - 1;
    a[place] = 5.0f, a[second] = 5.0f;
    for (const char* name : {"most", "least"}) {
      const bool most = name[0] == 'm';
      std::vector<float> v = a;
      for (float& f : v) f = most ? f : -f;
      const std::vector<float> c = run<float, float>(p, name, v, v, 2);
      uint32_t index;
      std::memcpy(&index, &c[1], 4);
      EXPECT_EQ(c[0], most ? 5.0f : -5.0f) << n;
      EXPECT_EQ(index, static_cast<uint32_t>(place)) << n;
    }
    EXPECT_EQ((run<float, float>(p, "alone", a, a, 1)[0]), 5.0f);
  }
}

TEST(EngineVector, ReduceSumAddsNeighboursInARepeatAndRepeatsInOrder) {
  const Program p = Program::compile({statement("sum", "half", "half", "ReduceSum(z, x, t, n); m = 1;"),
                                      statement("sum32", "float", "float", "ReduceSum(z, x, t, n); m = 1;")});
  // The documentation's example: 60000 + 60000 saturates before -30000 + 100 is added.
  std::vector<uint16_t> a;
  for (float f : {60000.0f, 60000.0f, -30000.0f, 100.0f}) a.push_back(float_to_half(f));
  EXPECT_EQ(half_to_float(run<uint16_t, uint16_t>(p, "sum", a, a, 1)[0]),
            35584.0f);  // -29900 is -29904 as a half, and 35600 is 35584
  // Repeats of 64 floats: 2^24 and 63 ones give 2^24 + 64 as a tree, then each repeat of ones adds 64.
  std::vector<float> f(200, 1.0f);
  f[0] = 0x1p24f;
  float tree = 0x1p24f;  // 2^24 + 1 = 2^24; + 2; + 4; ... of the tree's left edge
  for (float right : {1.0f, 2.0f, 4.0f, 8.0f, 16.0f, 32.0f}) tree += right;
  EXPECT_EQ((run<float, float>(p, "sum32", f, f, 1)[0]), tree + 64.0f + 64.0f + 8.0f);
}

TEST(EngineVector, CastFollowsItsRoundingModes) {
  const char* const modes[] = {"RINT", "FLOOR", "CEIL", "ROUND", "TRUNC"};
  std::vector<Text> batch;
  for (const char* m : modes) {
    const std::string mode = std::string("RoundMode::CAST_") + m;
    batch.push_back(statement(std::string("i") + m, "float", "int32_t", "Cast(z, x, " + mode + ", n);"));
    batch.push_back(statement(std::string("s") + m, "float", "int16_t", "Cast(z, x, " + mode + ", n);"));
    batch.push_back(statement(std::string("f") + m, "float", "float", "Cast(z, x, " + mode + ", n);"));
    batch.push_back(statement(std::string("h") + m, "float", "half", "Cast(z, x, " + mode + ", n);"));
    batch.push_back(statement(std::string("b") + m, "float", "bfloat16_t", "Cast(z, x, " + mode + ", n);"));
  }
  batch.push_back(statement("hODD", "float", "half", "Cast(z, x, RoundMode::CAST_ODD, n);"));
  const Program p = Program::compile(batch);
  const std::vector<float> x{-1.5f, 0.5f, 1.5f, 2.5f, -2.5f, 0.25f, -0.75f, 3e9f, -3e9f, 0x1p22f + 0.5f, NAN};
  const int32_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min(), big = 1 << 22;
  const std::vector<int32_t> want[] = {{-2, 0, 2, 2, -2, 0, -1, most, least, big, 0},
                                       {-2, 0, 1, 2, -3, 0, -1, most, least, big, 0},
                                       {-1, 1, 2, 3, -2, 1, 0, most, least, big + 1, 0},
                                       {-2, 1, 2, 3, -3, 0, -1, most, least, big + 1, 0},
                                       {-1, 0, 1, 2, -2, 0, 0, most, least, big, 0}};
  for (int m = 0; m < 5; ++m) {
    const std::vector<int32_t> got = run<float, int32_t>(p, std::string("i") + modes[m], x, x, x.size());
    EXPECT_EQ(got, want[m]) << modes[m];
    const std::vector<int16_t> narrow = run<float, int16_t>(p, std::string("s") + modes[m], x, x, x.size());
    const std::vector<float> whole = run<float, float>(p, std::string("f") + modes[m], x, x, x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(narrow[i], std::clamp(want[m][i], -32768, 32767)) << modes[m] << ' ' << x[i];
      if (std::fabs(x[i]) < 100) {
        EXPECT_EQ(whole[i], static_cast<float>(want[m][i])) << modes[m] << ' ' << x[i];
      }
    }
  }
  // The documentation's examples: 0.5 + 2^-12 to half, 0.5 + 2^-9 + 2^-11 to bf16.
  const float h = 0.5f + 0x1p-12f, up = 0.5f + 0x1p-11f;
  for (const char* m : {"RINT", "FLOOR", "CEIL", "ROUND", "TRUNC", "ODD"}) {
    const bool rises = !strcmp(m, "CEIL") || !strcmp(m, "ROUND") || !strcmp(m, "ODD");
    EXPECT_EQ(half_to_float(run<float, uint16_t>(p, std::string("h") + m, {h}, {h}, 1)[0]), rises ? up : 0.5f) << m;
  }
  const float g = 0.5f + 0x1p-9f + 0x1p-11f;
  for (const char* m : modes) {
    const bool rises = !strcmp(m, "CEIL") || !strcmp(m, "ROUND") || !strcmp(m, "RINT");
    const uint16_t bits = run<float, uint16_t>(p, std::string("b") + m, {g}, {g}, 1)[0];
    EXPECT_EQ(bits, rises ? 0x3f01 : 0x3f00) << m;
  }
}

TEST(EngineVector, HalfConversionsAgreeForEveryCode) {
  for (int code = 0; code < 65536; ++code) {
    const uint16_t h = static_cast<uint16_t>(code);
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    const double sign = h & 0x8000 ? -1 : 1;
    const float f = half_to_float(h);
    if (exponent == 31) {
      EXPECT_TRUE(mantissa ? std::isnan(f) : std::isinf(f));
      continue;
    }
    const double value = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    ASSERT_EQ(static_cast<double>(f), sign * value);
    ASSERT_EQ(float_to_half(f), h);
    if (code % 7 || exponent == 30) continue;
    const float next = half_to_float(static_cast<uint16_t>(h + 1));  // half way: to the even code
    ASSERT_EQ(float_to_half((f + next) / 2), h % 2 ? h + 1 : h) << code;
  }
}

TEST(EngineVector, TheDeviceHalfConvertsLikeTheHost) {
  const Program p = Program::compile(
      {statement("through", "float", "half", "for (int32_t i = 0; i < n; ++i) z.SetValue(i, half(x.GetValue(i)));"),
       statement("back", "half", "float", "for (int32_t i = 0; i < n; ++i) z.SetValue(i, float(x.GetValue(i)));"),
       statement("bf", "float", "bfloat16_t",
                 "for (int32_t i = 0; i < n; ++i) z.SetValue(i, bfloat16_t(x.GetValue(i)));")});
  std::mt19937 rng(4);
  std::vector<float> x;
  for (int i = 0; i < 2000; ++i)
    x.push_back(
        std::ldexp(static_cast<float>(static_cast<int>(rng() % 4097) - 2048), static_cast<int>(rng() % 40) - 34));
  for (float f : {0.0f, -0.0f, 65519.0f, -65519.0f, 0x1p-25f, 0x1.8p-25f}) x.push_back(f);
  const std::vector<uint16_t> h = run<float, uint16_t>(p, "through", x, x, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::fabs(x[i]) < 65520) {
      ASSERT_EQ(h[i], float_to_half(x[i])) << x[i];
    }
  }
  const std::vector<float> back = run<uint16_t, float>(p, "back", h, h, h.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(back[i], half_to_float(h[i]));
  const std::vector<uint16_t> b =
      run<float, uint16_t>(p, "bf", {1.0f, 1.0f + 0x1p-8f, 1.0f + 0x1.8p-7f, NAN}, {1, 1, 1, 1}, 4);
  EXPECT_EQ(b[0], 0x3f80);
  EXPECT_EQ(b[1], 0x3f80);
  EXPECT_EQ(b[2], 0x3f82);
  EXPECT_EQ(b[3] & 0x7fff, 0x7fc0);
}

}  // namespace
}  // namespace tilewright::engine
