// The language's rules in the device header against the scalar operators that folding and the interpreter use.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels.h"
#include "numeric/scalar.h"

namespace tilewright::simt {
namespace {
using Limits32 = std::numeric_limits<int32_t>;
using Limits64 = std::numeric_limits<int64_t>;

constexpr BinaryOp kIntOps[] = {BinaryOp::add,      BinaryOp::sub,      BinaryOp::mul,      BinaryOp::floordiv,
                                BinaryOp::floormod, BinaryOp::truncdiv, BinaryOp::truncmod, BinaryOp::ceildiv,
                                BinaryOp::min,      BinaryOp::max,      BinaryOp::shl,      BinaryOp::shr};
constexpr BinaryOp kFloatOps[] = {BinaryOp::min, BinaryOp::max, BinaryOp::min_nan, BinaryOp::max_nan};
constexpr UnaryOp kIntUnary[] = {UnaryOp::neg, UnaryOp::abs};
// The first kExactUnary have one right result; the others come from the host's mathematical library.
constexpr UnaryOp kFloatUnary[] = {UnaryOp::abs,        UnaryOp::sqrt,  UnaryOp::floor, UnaryOp::ceil, UnaryOp::trunc,
                                   UnaryOp::round_even, UnaryOp::rsqrt, UnaryOp::exp,   UnaryOp::exp2, UnaryOp::log,
                                   UnaryOp::log2,       UnaryOp::sin,   UnaryOp::cos,   UnaryOp::tanh, UnaryOp::erf};
constexpr size_t kExactUnary = 6;

/// Kernel `name`: out[k * n + i] = the k-th operator of the lists, of a[i] and b[i].
std::string operators_text(const char* name, const char* type, std::span<const BinaryOp> binary,
                           std::span<const UnaryOp> unary) {
  std::string text = fmt::format(R"(
__global__ void {0}(tw::global<const {1}> a, tw::global<const {1}> b, tw::global<{1}> out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  {1} x = a[i], y = b[i];
)",
                                 name, type);
  int k = 0;
  for (BinaryOp op : binary) text += fmt::format("  out[{} * n + i] = tw::{}(x, y);\n", k++, name_of(op));
  for (UnaryOp op : unary) text += fmt::format("  out[{} * n + i] = tw::{}(x);\n", k++, name_of(op));
  return text + "}";
}

struct Format {
  const char* name;
  DType type;
};
constexpr Format kFormats[] = {{"f16", f16},           {"bf16", bf16}, {"e5m6", e5m6}, {"e4m3", e4m3},
                               {"e4m3fnuz", e4m3fnuz}, {"e5m2", e5m2}, {"e8m0", e8m0}, {"e5m2fnuz", e5m2fnuz},
                               {"e3m2", e3m2},         {"e2m3", e2m3}, {"e2m1", e2m1}};

std::string narrow_text(const char* format) {
  return fmt::format(R"(
__global__ void narrow_{0}(tw::global<const double> x, tw::global<const long long> v, tw::global<unsigned> out, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double d = x[i];
  long long k = v[i];
  out[i] = tw::narrow<tw::{0}>(d).bits;
  out[n + i] = tw::narrow<tw::{0}, false>(d).bits;
  out[2 * n + i] = tw::narrow<tw::{0}>(float(d)).bits;
  out[3 * n + i] = tw::narrow<tw::{0}>(k).bits;
  out[4 * n + i] = tw::narrow<tw::{0}>((unsigned long long)k).bits;
}})",
                     format);
}

std::string widen_text(const char* format) {
  return fmt::format(R"(
__global__ void widen_{0}(tw::global<float> out) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tw::{0} x;
  x.bits = i;
  out[i] = tw::to_f32(x);
}})",
                     format);
}

struct IntType {
  const char* name;
  DType type;
};
constexpr IntType kIntTypes[] = {{"i8", i8}, {"i16", i16}, {"i32", i32}, {"i64", i64},
                                 {"u8", u8}, {"u16", u16}, {"u32", u32}, {"u64", u64}};

std::string to_int_text() {
  std::string text = R"(
__global__ void to_int(tw::global<const double> x, tw::global<long long> out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double d = x[i];
  float f = float(d);
)";
  int k = 0;
  for (const IntType& t : kIntTypes)
    for (const char* from : {"d", "f"})
      text += fmt::format("  out[{} * n + i] = (long long)tw::to_int<tw::{}>({});\n", k++, t.name, from);
  return text + "}";
}

void add(const char* prefix, const char* format, const std::string& text) {
  std::string name = fmt::format("{}{}", prefix, format);
  Batch::add(name.c_str(), name.c_str(), text);
}

const bool registered = [] {
  Batch::add("i32_rules", "i32_rules", operators_text("i32_rules", "int", kIntOps, kIntUnary));
  Batch::add("u32_rules", "u32_rules", operators_text("u32_rules", "unsigned", kIntOps, kIntUnary));
  Batch::add("i64_rules", "i64_rules", operators_text("i64_rules", "long long", kIntOps, kIntUnary));
  Batch::add("u64_rules", "u64_rules", operators_text("u64_rules", "unsigned long long", kIntOps, kIntUnary));
  Batch::add("f32_rules", "f32_rules", operators_text("f32_rules", "float", kFloatOps, kFloatUnary));
  Batch::add("f64_rules", "f64_rules", operators_text("f64_rules", "double", kFloatOps, kFloatUnary));
  for (const Format& f : kFormats) {
    add("narrow_", f.name, narrow_text(f.name));
    add("widen_", f.name, widen_text(f.name));
  }
  return Batch::add("to_int", "to_int", to_int_text());
}();

/// All pairs of `values` as two columns.
template <class T>
void all_pairs(const std::vector<T>& values, std::vector<T>& a, std::vector<T>& b) {
  for (T x : values)
    for (T y : values) {
      a.push_back(x);
      b.push_back(y);
    }
}

template <class T>
std::vector<T> run_operators(const char* key, std::vector<T> a, std::vector<T> b, size_t operators) {
  int n = static_cast<int>(a.size());
  std::vector<T> out(operators * a.size());
  Report report = launch(Batch::instance()[key], {(n + 255) / 256}, {256}, 0,
                         std::vector{buffer("a", a), buffer("b", b), buffer("out", out), Argument::i32(n)});
  EXPECT_EQ(report.total, 0);
  return out;
}

template <class T>
void check_integers(const char* key, DType type, std::vector<T> values) {
  for (int v = -9; v <= 9; ++v) values.push_back(static_cast<T>(v));
  for (int bits = static_cast<int>(8 * sizeof(T)), k = -1; k <= 1; ++k) values.push_back(static_cast<T>(bits + k));
  std::vector<T> a, b;
  all_pairs(values, a, b);
  size_t n = a.size(), operators = std::size(kIntOps) + std::size(kIntUnary);
  std::vector<T> out = run_operators(key, a, b, operators);
  for (size_t i = 0; i < n; ++i) {
    Scalar x = Scalar::of_int(type, static_cast<int64_t>(a[i])), y = Scalar::of_int(type, static_cast<int64_t>(b[i]));
    for (size_t k = 0; k < operators; ++k) {
      bool is_binary = k < std::size(kIntOps);
      Scalar want = is_binary ? evaluate(kIntOps[k], x, y) : evaluate(kIntUnary[k - std::size(kIntOps)], x);
      ASSERT_EQ(out[k * n + i], static_cast<T>(want.as_int()))
          << (is_binary ? name_of(kIntOps[k]) : name_of(kIntUnary[k - std::size(kIntOps)])) << " of " << a[i] << " and "
          << b[i];
    }
  }
}

TEST(SimtRules, IntegersOfAllSignPairsAndEdges) {
  check_integers<int32_t>("i32_rules", i32,
                          {Limits32::min(), Limits32::min() + 1, Limits32::max(), Limits32::max() - 1, 65536});
  check_integers<int64_t>(
      "i64_rules", i64, {Limits64::min(), Limits64::min() + 1, Limits64::max(), int64_t{1} << 32, -(int64_t{1} << 32)});
  check_integers<uint32_t>("u32_rules", u32, {0x80000000u, 0x7fffffffu, 65536u});
  check_integers<uint64_t>("u64_rules", u64, {uint64_t{1} << 63, (uint64_t{1} << 63) - 1, uint64_t{1} << 32});
}

TEST(SimtRules, DivisionsAtKnownPoints) {
  auto value = [](BinaryOp op, int a, int b) {
    auto out = run_operators<int>("i32_rules", {a}, {b}, std::size(kIntOps) + std::size(kIntUnary));
    return out[static_cast<size_t>(std::find(std::begin(kIntOps), std::end(kIntOps), op) - std::begin(kIntOps))];
  };
  EXPECT_EQ(value(BinaryOp::floordiv, -3, 4), -1);
  EXPECT_EQ(value(BinaryOp::floormod, -3, 4), 1);
  EXPECT_EQ(value(BinaryOp::truncdiv, -3, 4), 0);
  EXPECT_EQ(value(BinaryOp::truncmod, -3, 4), -3);
  EXPECT_EQ(value(BinaryOp::ceildiv, 7, -3), -2);
  EXPECT_EQ(value(BinaryOp::ceildiv, 7, 3), 3);
  EXPECT_EQ(value(BinaryOp::floordiv, Limits32::min(), -1), Limits32::min());
  EXPECT_EQ(value(BinaryOp::floormod, 7, 0), 0);
  EXPECT_EQ(value(BinaryOp::ceildiv, 7, 0), 0);
  EXPECT_EQ(value(BinaryOp::shl, 1, 32), 0);
  EXPECT_EQ(value(BinaryOp::shl, 1, -1), 0);
  EXPECT_EQ(value(BinaryOp::shr, -8, 40), -1);
  EXPECT_EQ(value(BinaryOp::shr, -8, 1), -4);
}

template <class T, class Bits>
void check_floats(const char* key, DType type, double tolerance) {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> values = {T(0),
                           T(-0.0),
                           T(1),
                           T(-1),
                           T(0.5),
                           T(-0.5),
                           T(1.5),
                           T(2.5),
                           T(-2.5),
                           T(3.7),
                           inf,
                           -inf,
                           nan,
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::max(),
                           T(1e-3),
                           T(20)};
  std::vector<T> a, b;
  all_pairs(values, a, b);
  size_t n = a.size(), operators = std::size(kFloatOps) + std::size(kFloatUnary);
  std::vector<T> out = run_operators(key, a, b, operators);
  auto scalar = [&](T v) { return Scalar{type, std::bit_cast<uint64_t>(static_cast<double>(v))}; };
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < operators; ++k) {
      bool is_binary = k < std::size(kFloatOps);
      bool is_exact = k < std::size(kFloatOps) + kExactUnary;
      Scalar result = is_binary ? evaluate(kFloatOps[k], scalar(a[i]), scalar(b[i]))
                                : evaluate(kFloatUnary[k - std::size(kFloatOps)], scalar(a[i]));
      T want = static_cast<T>(result.as_double()), got = out[k * n + i];
      auto what = [&] {
        return std::string(is_binary ? name_of(kFloatOps[k]) : name_of(kFloatUnary[k - std::size(kFloatOps)]));
      };
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << what() << " of " << a[i] << " and " << b[i] << " is " << got;
      } else if (is_exact || std::isinf(want)) {
        ASSERT_EQ(std::bit_cast<Bits>(got), std::bit_cast<Bits>(want)) << what() << " of " << a[i] << " and " << b[i];
      } else {
        ASSERT_LE(std::abs(got - want), tolerance * std::abs(want)) << what() << " of " << a[i];
      }
    }
  }
}

TEST(SimtRules, FloatsWithNanInfinityAndSignedZero) {
  check_floats<float, uint32_t>("f32_rules", f32, 0x1p-22);
  check_floats<double, uint64_t>("f64_rules", f64, 0x1p-51);
}

TEST(SimtRules, FloatToIntegerSaturatesAndNanGivesZero) {
  std::vector<double> x = {0.0,           -0.0,
                           0.9,           -0.9,
                           1.5,           -1.5,
                           126.9,         127.0,
                           127.5,         128.0,
                           -128.0,        -128.9,
                           -129.0,        255.0,
                           255.9,         256.0,
                           32767.5,       32768,
                           -32769,        65535.5,
                           65536,         2147483647.0,
                           2147483648.0,  -2147483648.0,
                           -2147483649.0, 4294967295.0,
                           4294967296.0,  0x1p63,
                           -0x1p63,       0x1.fffffffffffffp62,
                           0x1p64,        0x1.fffffffffffffp63,
                           1e300,         -1e300,
                           INFINITY,      -INFINITY,
                           NAN,           5e-324};
  int n = static_cast<int>(x.size());
  std::vector<int64_t> out(2 * std::size(kIntTypes) * x.size());
  Report report = launch(Batch::instance()["to_int"], {1}, {n}, 0,
                         std::vector{buffer("x", x), buffer("out", out), Argument::i32(n)});
  EXPECT_EQ(report.total, 0);
  for (size_t t = 0; t < std::size(kIntTypes); ++t)
    for (size_t i = 0; i < x.size(); ++i) {
      auto want = [&](DType from, double v) { return cast(Scalar::of_float(from, v), kIntTypes[t].type).as_int(); };
      EXPECT_EQ(out[(2 * t) * x.size() + i], want(f64, x[i])) << kIntTypes[t].name << " of " << x[i];
      EXPECT_EQ(out[(2 * t + 1) * x.size() + i], want(f32, static_cast<double>(static_cast<float>(x[i]))))
          << kIntTypes[t].name << " of float " << x[i];
    }
}

TEST(SimtRules, EveryCodeOfEveryNarrowFormatWidensExactly) {
  for (const Format& f : kFormats) {
    int codes = 1 << f.type.bits, threads = std::min(codes, 256);
    std::vector<float> out(codes);
    Report report = launch(Batch::instance()[fmt::format("widen_{}", f.name)], {codes / threads}, {threads}, 0,
                           std::vector{buffer("out", out)});
    EXPECT_EQ(report.total, 0);
    for (int c = 0; c < codes; ++c) {
      auto want = static_cast<float>(decode(f.type, static_cast<uint64_t>(c)));
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(out[c])) << f.name << " code " << c;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[c]), std::bit_cast<uint32_t>(want)) << f.name << " code " << c;
      }
    }
  }
}

TEST(SimtRules, NarrowingRoundsToNearestEvenFromEveryType) {
  for (const Format& f : kFormats) {
    std::vector<double> x = {0.0,      -0.0,     INFINITY, -INFINITY, NAN,    1e300, -1e300, 5e-324,
                             0x1p-149, 0x1p-150, 65519.99, 65520.0,   -448.0, 464.0, 480.0};
    int codes = 1 << f.type.bits, step = codes > 4096 ? 37 : 1;
    for (int c = 0; c + 1 < codes; c += step) {  // each code, the midpoint to the next, and the midpoint's neighbours
      double low = decode(f.type, static_cast<uint64_t>(c)), high = decode(f.type, static_cast<uint64_t>(c + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      double middle = (low + high) / 2;
      for (double v : {low, middle, std::nextafter(middle, 1e300), std::nextafter(middle, -1e300),
                       static_cast<double>(std::nextafter(static_cast<float>(middle), 1e30f))})
        x.push_back(v);
    }
    std::vector<int64_t> v(x.size());
    for (size_t i = 0; i < v.size(); ++i) {
      uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u;
      v[i] = static_cast<int64_t>(i % 3 == 0 ? (uint64_t{0x101} << (i % 55)) + (i % 5) - 2 : bits >> (i % 64));
    }
    auto n = static_cast<int>(x.size());
    std::vector<unsigned> out(5 * x.size());
    Report report = launch(Batch::instance()[fmt::format("narrow_{}", f.name)], {(n + 255) / 256}, {256}, 0,
                           std::vector{buffer("x", x), buffer("v", v), buffer("out", out), Argument::i32(n)});
    EXPECT_EQ(report.total, 0);
    for (size_t i = 0; i < x.size(); ++i) {
      auto same = [&](uint64_t got, uint64_t want) {
        return got == want || (std::isnan(decode(f.type, got)) && std::isnan(decode(f.type, want)));
      };
      ASSERT_TRUE(same(out[i], encode(f.type, x[i]))) << f.name << " of " << x[i] << " gives " << out[i];
      ASSERT_TRUE(same(out[x.size() + i], encode(f.type, x[i], Overflow::inf_nan)))
          << f.name << " of " << x[i] << " gives " << out[x.size() + i];
      ASSERT_TRUE(same(out[2 * x.size() + i], encode(f.type, static_cast<double>(static_cast<float>(x[i])))))
          << f.name << " of float " << x[i];
      auto code_of = [&](DType from) { return encode(f.type, cast(Scalar::of_int(from, v[i]), f.type).as_double()); };
      ASSERT_EQ(out[3 * x.size() + i], code_of(i64)) << f.name << " of i64 " << v[i];
      ASSERT_EQ(out[4 * x.size() + i], code_of(u64)) << f.name << " of u64 " << v[i];
    }
  }
}

}  // namespace
}  // namespace tilewright::simt
