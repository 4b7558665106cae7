// Every operator and cast, vectorised and scalar, against numeric/scalar.h.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/build.h"
#include "unit/cpu/kernels.h"

namespace tilewright::cpu {
namespace {

using namespace ir;

const DType kIntegers[] = {i8, i16, i32, i64, u8, u16, u32, u64};
const DType kStored[] = {boolean, i8,  i16,  i32,  i64,      u8,   u16,      u32,  u64,  i4,   u4,   f64, f32,
                         tf32,    f16, bf16, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};

uint64_t random_bits(uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Values where rules change: ends of ranges, neighbours of powers of two, special floats.
std::vector<Scalar> edge_values(DType t) {
  std::vector<Scalar> values;
  if (t.is_bool()) return {Scalar::of_int(t, 0), Scalar::of_int(t, 1)};
  if (t.is_float() && t.bits < 32 && t.bits != 19) {  // every code
    for (uint64_t code = 0; code < uint64_t{1} << t.bits; code += t.bits == 16 ? 7 : 1)
      values.push_back(Scalar{t, std::bit_cast<uint64_t>(decode(t, code))});
    return values;
  }
  if (t.is_int()) {
    for (int64_t v : {0, 1, 2, 3, 5, 7, 8, 100})
      for (int64_t sign : {1, -1}) values.push_back(Scalar::of_int(t, sign * v));
    for (int shift : {3, 4, 7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63})
      for (int64_t d : {-1, 0, 1})
        values.push_back(Scalar::of_int(t, static_cast<int64_t>((uint64_t{1} << shift) + d)));
    uint64_t state = 7;
    for (int i = 0; i < 8; ++i) values.push_back(Scalar::of_int(t, static_cast<int64_t>(random_bits(state))));
    return values;
  }
  const double inf = std::numeric_limits<double>::infinity();
  for (double v : {0.0,
                   0.25,
                   0.5,
                   0.75,
                   1.0,
                   1.5,
                   2.0,
                   2.5,
                   3.0,
                   3.14159,
                   0.1,
                   100.25,
                   127.0,
                   127.5,
                   128.0,
                   255.0,
                   255.5,
                   256.0,
                   448.0,
                   464.0,
                   465.0,
                   57344.0,
                   61440.0,
                   65504.0,
                   65519.0,
                   65520.0,
                   65536.0,
                   0x1p31,
                   0x1p32,
                   0x1p63,
                   0x1p64,
                   2147483520.0,
                   1e10,
                   1e-10,
                   1e30,
                   1e-30,
                   0x1p-126,
                   0x1p-127,
                   0x1p-149,
                   0x1p-150,
                   0x1p127,
                   3.4028234663852886e38,
                   0x1p-24,
                   0x1p-25,
                   0x1.8p-25,
                   0x1p-14,
                   0x1.004p0,
                   0x1.002p0,
                   0x1.01p0,
                   0x1.03p0,
                   0x1.00200001p0,
                   0x1.0100000000001p0,
                   0x1p-133,
                   0x1p-134,
                   0x1.8p-134,
                   inf})
    for (double sign : {1.0, -1.0}) values.push_back(Scalar::of_float(t, sign * v));
  values.push_back(Scalar::of_float(t, std::numeric_limits<double>::quiet_NaN()));
  return values;
}

std::vector<char> storage_of(DType t, const std::vector<Scalar>& values) {
  std::vector<char> bytes(static_cast<size_t>(t.bytes(static_cast<int64_t>(values.size()))) + 64);
  for (size_t i = 0; i < values.size(); ++i) store_element(bytes.data(), static_cast<int64_t>(i), values[i]);
  return bytes;
}

/// Equal bits, or two NaNs.
bool same_value(Scalar got, Scalar wanted) {
  if (got.type.is_float() && std::isnan(got.as_double())) return std::isnan(wanted.as_double());
  return got == wanted;
}

/// The kernel of one `parallel` loop that stores each expression of load(input j, i) to an output of its own.
class ElementwiseKernel {
 public:
  ElementwiseKernel(std::vector<std::pair<DType, std::vector<Scalar>>> inputs) : inputs_(std::move(inputs)) {
    n_ = static_cast<int64_t>(inputs_[0].second.size());
    for (size_t j = 0; j < inputs_.size(); ++j) add_param(fmt::format("in{}", j), inputs_[j].first);
  }
  Expr input(size_t j) const { return load(params_[j], {Expr(i_)}); }

  void store(const std::string& what, const Expr& value) {
    Ref<Buffer> out = add_param(fmt::format("out{}", outputs_.size()), value->dtype);
    stores_.push_back(make<Store>(out, Exprs{i_}, value));
    outputs_.push_back({what, value->dtype});
  }

  /// Compares every output with wanted(output index, element index).
  template <class F>
  void run(LoopKind how, Options options, F&& wanted) {
    Stmt loop = make<For>(how, std::vector<Ref<Var>>{i_}, Exprs{index(n_)}, int64_t{0}, sequence(stores_));
    Stmt body =
        make<For>(LoopKind::blocks, std::vector<Ref<Var>>{make<Var>("b", i64)}, Exprs{index(1)}, int64_t{0}, loop);
    Ref<Kernel> kernel = make<Kernel>("elementwise", Stage::loops, std::vector<Ref<Var>>{}, params_, body);
    LaunchPlan plan = plan_of(kernel);
    options.verify = true;
    CpuDevice device(1);
    auto loaded = device.load(CpuTarget(options).emit(kernel, plan));
    std::vector<std::vector<char>> memory;
    for (auto& [type, values] : inputs_) memory.push_back(storage_of(type, values));
    for (auto& [what, type] : outputs_) memory.emplace_back(static_cast<size_t>(type.bytes(n_)) + 64, char(0x5a));
    std::vector<Argument> arguments;
    for (size_t p = 0; p < params_.size(); ++p)
      arguments.push_back(Tensor{memory[p].data(), params_[p]->dtype, {n_}, {}});
    loaded->launch(arguments, {});
    int shown = 0;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const auto& [what, type] = outputs_[o];
      const std::vector<char>& bytes = memory[inputs_.size() + o];
      for (size_t k = static_cast<size_t>(type.bytes(n_)); k < bytes.size(); ++k) ASSERT_EQ(bytes[k], 0x5a) << what;
      for (int64_t i = 0; i < n_; ++i) {
        Scalar got = load_element(type, bytes.data(), i);
        std::string why = wanted(o, i, got);
        if (why.empty() || ++shown > 20) continue;
        std::string operands;
        for (auto& [t, values] : inputs_) operands += fmt::format(" {}", to_string(values[static_cast<size_t>(i)]));
        ADD_FAILURE() << what << operands << ": got " << to_string(got) << ", wanted " << why;
      }
    }
    EXPECT_LE(shown, 20) << "more failures are not shown";
  }
  std::string check(Scalar got, Scalar want) const { return same_value(got, want) ? "" : to_string(want); }
  const Scalar& value(size_t j, int64_t i) const { return inputs_[j].second[static_cast<size_t>(i)]; }

 private:
  Ref<Buffer> add_param(const std::string& name, DType type) {
    params_.push_back(make<Buffer>(name, type, Exprs{index(n_)}, Exprs{index(1)}));
    return params_.back();
  }
  std::vector<std::pair<DType, std::vector<Scalar>>> inputs_;
  std::vector<std::pair<std::string, DType>> outputs_;
  int64_t n_;
  Ref<Var> i_ = make<Var>("i", i64);
  std::vector<Ref<Buffer>> params_;
  Stmts stores_;
};

std::pair<std::vector<Scalar>, std::vector<Scalar>> all_pairs(const std::vector<Scalar>& values) {
  std::pair<std::vector<Scalar>, std::vector<Scalar>> pairs;
  for (Scalar a : values)
    for (Scalar b : values) pairs.first.push_back(a), pairs.second.push_back(b);
  return pairs;
}

void check_binary(DType t, LoopKind how, Options options) {
  auto [a, b] = all_pairs(edge_values(t));
  ElementwiseKernel kernel({{t, a}, {t, b}});
  std::vector<BinaryOp> ops;
  for (int op = 0; op <= static_cast<int>(BinaryOp::ge); ++op) {
    if (!is_defined(static_cast<BinaryOp>(op), t)) continue;
    ops.push_back(static_cast<BinaryOp>(op));
    kernel.store(std::string(name_of(ops.back())) + " " + to_string(t),
                 make<Binary>(ops.back(), kernel.input(0), kernel.input(1)));
  }
  kernel.run(how, options, [&](size_t o, int64_t i, Scalar got) {
    return kernel.check(got, evaluate(ops[o], kernel.value(0, i), kernel.value(1, i)));
  });
}

TEST(CpuOperators, BinaryOnIntegers) {
  for (DType t : kIntegers) check_binary(t, LoopKind::parallel, {});
}
TEST(CpuOperators, BinaryOnFloats) {
  for (DType t : {f32, f64}) check_binary(t, LoopKind::parallel, {});
}
TEST(CpuOperators, BinaryOnBool) { check_binary(boolean, LoopKind::parallel, {}); }
TEST(CpuOperators, BinaryWithoutOptimisation) {
  for (DType t : {i32, u8, f32}) check_binary(t, LoopKind::serial, {.opt_level = 0});
}

TEST(CpuOperators, BinaryWithAConstantOperand) {
  for (DType t : {i8, i32, i64, u32, f32}) {
    std::vector<Scalar> values = edge_values(t);
    ElementwiseKernel kernel({{t, values}});
    std::vector<std::tuple<BinaryOp, Scalar, bool>> cases;
    for (int op = 0; op <= static_cast<int>(BinaryOp::ge); ++op)
      for (size_t v = 0; v < values.size(); v += 3)
        for (bool first : {true, false}) {
          if (!is_defined(static_cast<BinaryOp>(op), t)) continue;
          if (t.is_float() && !(op >= static_cast<int>(BinaryOp::min) && op <= static_cast<int>(BinaryOp::max_nan)))
            continue;
          if (t.is_int() && (op < static_cast<int>(BinaryOp::floordiv) || op > static_cast<int>(BinaryOp::shr)))
            continue;
          cases.push_back({static_cast<BinaryOp>(op), values[v], first});
        }
    for (auto& [op, c, first] : cases) {
      Expr x = kernel.input(0), k = constant(c);
      kernel.store(fmt::format("{} const {} {}", name_of(op), to_string(c), first),
                   first ? make<Binary>(op, k, x) : make<Binary>(op, x, k));
    }
    kernel.run(LoopKind::serial, {.opt_level = 0}, [&](size_t o, int64_t i, Scalar got) {
      auto& [op, c, first] = cases[o];
      Scalar x = kernel.value(0, i);
      return kernel.check(got, first ? evaluate(op, c, x) : evaluate(op, x, c));
    });
  }
}

/// Distance in units in the last place of f32 (the spacing of subnormals below the normal range).
double ulps(double got, double exact) {
  if (got == exact || (std::isnan(got) && std::isnan(exact))) return 0;
  if (std::isnan(got) || std::isnan(exact) || std::isinf(got) || std::isinf(exact)) return 1e9;
  int exponent = std::max(std::ilogb(exact), -126);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 23);
}

bool is_approximate(UnaryOp op) {
  return op == UnaryOp::exp || op == UnaryOp::exp2 || op == UnaryOp::log || op == UnaryOp::log2 ||
         op == UnaryOp::tanh || op == UnaryOp::sin || op == UnaryOp::cos || op == UnaryOp::erf;
}

TEST(CpuOperators, Unary) {
  for (DType t : {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64}) {
    ElementwiseKernel kernel({{t, edge_values(t)}});
    std::vector<UnaryOp> ops;
    for (int op = 0; op <= static_cast<int>(UnaryOp::is_nan); ++op) {
      if (!is_defined(static_cast<UnaryOp>(op), t)) continue;
      ops.push_back(static_cast<UnaryOp>(op));
      kernel.store(std::string(name_of(ops.back())) + " " + to_string(t), make<Unary>(ops.back(), kernel.input(0)));
    }
    kernel.run(LoopKind::parallel, {}, [&](size_t o, int64_t i, Scalar got) -> std::string {
      Scalar want = evaluate(ops[o], kernel.value(0, i));
      if (t == f32 && is_approximate(ops[o]) && ulps(got.as_double(), want.as_double()) <= 4) return "";
      return kernel.check(got, want);
    });
  }
}

TEST(CpuOperators, Fma) {
  for (DType t : {f32, f64}) {
    auto [a, b] = all_pairs(edge_values(t));
    std::vector<Scalar> c;
    for (size_t i = 0; i < a.size(); ++i) c.push_back(a[(i * 7 + 3) % a.size()]);
    ElementwiseKernel kernel({{t, a}, {t, b}, {t, c}});
    kernel.store("fma", make<Fma>(kernel.input(0), kernel.input(1), kernel.input(2)));
    kernel.run(LoopKind::parallel, {}, [&](size_t, int64_t i, Scalar got) {
      return kernel.check(got, fma(kernel.value(0, i), kernel.value(1, i), kernel.value(2, i)));
    });
  }
}

TEST(CpuOperators, NothingIsContracted) {
  // a * b + c differs from fma(a, b, c) here.
  ElementwiseKernel kernel({{f32, {Scalar::of_float(f32, 1 + 0x1p-12)}},
                            {f32, {Scalar::of_float(f32, 1 + 0x1p-12)}},
                            {f32, {Scalar::of_float(f32, -(1 + 0x1p-11))}}});
  kernel.store("a * b + c", make<Binary>(BinaryOp::add, make<Binary>(BinaryOp::mul, kernel.input(0), kernel.input(1)),
                                         kernel.input(2)));
  kernel.run(LoopKind::serial, {},
             [&](size_t, int64_t, Scalar got) { return kernel.check(got, Scalar::of_float(f32, 0)); });
}

TEST(CpuCasts, EveryPairOfTypes) {
  for (DType from : kStored) {
    std::vector<Scalar> values = edge_values(from);
    if (from == f32 || from == f64) {
      uint64_t state = 11;
      for (int i = 0; i < 3000; ++i) {
        // Exponents near the ranges of the formats, mantissas near their ties.
        double v = std::ldexp(1.0 + static_cast<double>(random_bits(state) % 256) / 256.0,
                              int(random_bits(state) % 320) - 160);
        if (i % 3 == 0) v *= 1 + 0x1p-40;
        if (i % 3 == 1) v *= 1 - 0x1p-22;
        values.push_back(Scalar::of_float(from, i % 2 ? v : -v));
      }
    }
    ElementwiseKernel kernel({{from, values}});
    std::vector<std::pair<DType, Overflow>> targets;
    for (DType to : kStored)
      for (Overflow overflow : {Overflow::saturate, Overflow::inf_nan}) {
        if (overflow == Overflow::inf_nan && !to.is_narrow_float()) continue;
        targets.push_back({to, overflow});
        kernel.store(to_string(from) + " to " + to_string(to), make<Cast>(to, kernel.input(0), overflow));
      }
    kernel.run(LoopKind::serial, {.opt_level = from == f32 || from == i64 ? 3 : 0},
               [&](size_t o, int64_t i, Scalar got) {
                 return kernel.check(got, cast(kernel.value(0, i), targets[o].first, targets[o].second));
               });
  }
}

TEST(CpuCasts, NarrowValuesAreRoundedWithoutBeingStored) {
  ElementwiseKernel kernel({{f32, edge_values(f32)}});
  std::vector<DType> narrow;
  for (DType t : kStored)
    if (t.is_narrow_float()) {
      narrow.push_back(t);
      kernel.store("through " + to_string(t), make<Cast>(f32, make<Cast>(t, kernel.input(0))));
    }
  kernel.run(LoopKind::parallel, {}, [&](size_t o, int64_t i, Scalar got) {
    return kernel.check(got, cast(cast(kernel.value(0, i), narrow[o]), f32));
  });
}

/// Every code of every narrow format to f32 and f64; and back to codes: at every value, at every midpoint and beside
/// it.
TEST(CpuCasts, NarrowFormatsExhaustively) {
  for (DType t : kStored) {
    if (!t.is_narrow_float() || t == tf32) continue;
    const uint64_t count = uint64_t{1} << t.bits;
    std::vector<Scalar> codes;
    for (uint64_t code = 0; code < count; ++code) codes.push_back(Scalar{t, std::bit_cast<uint64_t>(decode(t, code))});
    ElementwiseKernel widen({{t, codes}});
    for (DType wide : {f32, f64}) widen.store("widen " + to_string(t), make<Cast>(wide, widen.input(0)));
    widen.run(LoopKind::parallel, {}, [&](size_t o, int64_t i, Scalar got) {
      return widen.check(got, cast(widen.value(0, i), o == 0 ? f32 : f64));
    });
    for (DType wide : {f32, f64}) {
      std::vector<Scalar> reals;
      for (uint64_t code = 0; code < count; ++code) {
        double here = decode(t, code), next = decode(t, (code + 1) & (count - 1));
        reals.push_back(Scalar::of_float(wide, here));
        if (!std::isfinite(here) || !std::isfinite(next)) continue;
        double middle = here / 2 + next / 2;
        reals.push_back(Scalar::of_float(wide, middle));
        for (double towards : {here, next})
          reals.push_back(Scalar::of_float(
              wide, wide == f32 ? std::nextafter(static_cast<float>(middle), static_cast<float>(towards))
                                : std::nextafter(middle, towards)));
      }
      ElementwiseKernel round({{wide, reals}});
      for (Overflow overflow : {Overflow::saturate, Overflow::inf_nan})
        round.store(to_string(wide) + " to " + to_string(t), make<Cast>(t, round.input(0), overflow));
      round.run(LoopKind::parallel, {}, [&](size_t o, int64_t i, Scalar got) {
        return round.check(got, cast(round.value(0, i), t, o == 0 ? Overflow::saturate : Overflow::inf_nan));
      });
    }
  }
}

}  // namespace
}  // namespace tilewright::cpu
