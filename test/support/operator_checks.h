#pragma once
// Every operator and cast of a machine against numeric/scalar.h: exact ones bit by bit, functions within units in the
// last place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "ir/build.h"
#include "numeric/scalar.h"
#include "pass/passes.h"

namespace tilewright::test {

/// Values where rules change: ends of ranges, neighbours of powers of two, special floats; all codes of narrow floats.
inline std::vector<Scalar> edge_values(DType t) {
  std::vector<Scalar> values;
  if (t.is_bool()) return {Scalar::of_int(t, 0), Scalar::of_int(t, 1)};
  if (t.is_narrow_float()) {
    for (uint64_t code = 0; code < uint64_t{1} << t.bits; code += t.bits > 8 ? 7 : 1)
      values.push_back(Scalar{t, std::bit_cast<uint64_t>(decode(t, code))});
  } else if (t.is_int()) {
    for (int64_t v : {0, 1, 2, 3, 7, 100})
      for (int64_t sign : {1, -1}) values.push_back(Scalar::of_int(t, sign * v));
    for (int shift : {7, 8, 15, 16, 31, 32, 63})
      for (int64_t d : {-1, 0, 1})
        values.push_back(Scalar::of_int(t, static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(d))));
  } else {
    constexpr double kEdges[] = {0.0,       0.5,          1.0,       1.5,       2.5,      3.14159,      100.25,
                                 127.5,     255.5,        448.0,     464.0,     465.0,    57344.0,      61440.0,
                                 65504.0,   65519.0,      65520.0,   0x1p23,    0x1p31,   0x1p32,       0x1p63,
                                 0x1p64,    1e-10,        0x1p-9,    0x1p-10,   0x1p-14,  2147483520.0, 0x1p-24,
                                 0x1p-25,   1e30,         0x1p-126,  0x1p-149,  0x1p-133, 0x1p-134,     0x1.8p-134,
                                 0x1.8p-25, 0x1p22 + 0.5, 0x1.004p0, 0x1.002p0, 0x1.01p0, 0x1.03p0,     0x1.fffffep127};
    for (double v : kEdges)
      for (double sign : {1.0, -1.0}) values.push_back(Scalar::of_float(t, sign * v));
    for (double v : {HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
      values.push_back(Scalar::of_float(t, v));
  }
  return values;
}

/// A kernel that stores expressions of the elements of its inputs, run on a device.
class Elementwise {
 public:
  Elementwise(const Target& target, Device& device, std::vector<std::vector<Scalar>> inputs)
      : target_(target), device_(device), inputs_(std::move(inputs)), n_(static_cast<int64_t>(inputs_[0].size())) {
    for (const auto& values : inputs_) add_param(fmt::format("in{}", params_.size()), values[0].type);
  }
  ir::Expr input(size_t j) const { return ir::load(params_[j], {at()}); }
  const Scalar& value(size_t j, int64_t i) const { return inputs_[j][static_cast<size_t>(i)]; }

  void store(const std::string& what, const ir::Expr& value) {
    add_param(fmt::format("out{}", what_.size()), value->dtype);
    stores_.push_back(ir::make<ir::Store>(params_.back(), ir::Exprs{at()}, value));
    what_.push_back(what);
  }

  /// Compares each output with wanted(output, element); NaNs are equal.
  void check(const std::function<Scalar(size_t output, int64_t i)>& wanted) {
    int wrong = 0;
    each_result([&](size_t o, int64_t i, Scalar got) {
      const Scalar want = wanted(o, i);
      const bool both_nan = got.type.is_float() && std::isnan(got.as_double()) && std::isnan(want.as_double());
      if (got == want || both_nan || ++wrong > 20) return;
      std::string operands;
      for (const auto& values : inputs_) operands += fmt::format(" {}", to_string(values[static_cast<size_t>(i)]));
      ADD_FAILURE() << what_[o] << operands << ": got " << to_string(got) << ", wanted " << to_string(want);
    });
  }

  void each_result(const std::function<void(size_t output, int64_t i, Scalar got)>& f) {
    constexpr int64_t kThreads = 128;
    using Vars = std::vector<ir::Ref<ir::Var>>;
    const ir::Stmt loop = ir::make<ir::For>(ir::LoopKind::parallel, Vars{i_}, ir::Exprs{ir::index(kTile)}, int64_t{0},
                                            ir::sequence(stores_));
    const ir::Stmt grid = ir::make<ir::Grid>(Vars{b_}, ir::Exprs{ir::index((n_ + kTile - 1) / kTile)}, kThreads, loop);
    const Compilation compiled =
        run_pipeline(ir::make<ir::Kernel>("elementwise", ir::Stage::traced, Vars{}, params_, grid), target_);
    const auto loaded = device_.load(target_.emit(compiled.final_stage, compiled.plan));
    std::vector<std::vector<char>> memory;
    std::vector<Argument> arguments;
    for (const auto& param : params_) {
      memory.emplace_back(static_cast<size_t>(param->dtype.bytes(n_)));
      if (memory.size() <= inputs_.size())
        for (int64_t i = 0; i < n_; ++i) store_element(memory.back().data(), i, value(memory.size() - 1, i));
      void* address = device_.allocate(static_cast<int64_t>(memory.back().size()));
      device_.copy_in(address, memory.back().data(), static_cast<int64_t>(memory.back().size()));
      arguments.emplace_back(Tensor{address, param->dtype, {n_}, {}});
    }
    loaded->launch(arguments, {});
    device_.synchronize();
    for (size_t p = 0; p < params_.size(); ++p) {
      device_.copy_out(memory[p].data(), arguments[p].tensor.data, static_cast<int64_t>(memory[p].size()));
      device_.release(arguments[p].tensor.data);
    }
    for (size_t o = 0; o < what_.size(); ++o)
      for (int64_t i = 0; i < n_; ++i)
        f(o, i, load_element(params_[inputs_.size() + o]->dtype, memory[inputs_.size() + o].data(), i));
  }

 private:
  static constexpr int64_t kTile = 256;

  ir::Expr at() const { return ir::add(ir::mul(b_, ir::index(kTile)), i_); }
  void add_param(const std::string& name, DType type) {
    params_.push_back(ir::make<ir::Buffer>(name, type, ir::Exprs{ir::index(n_)}, ir::Exprs{ir::index(1)}));
  }

  const Target& target_;
  Device& device_;
  std::vector<std::vector<Scalar>> inputs_;
  int64_t n_;
  ir::Ref<ir::Var> i_ = ir::make<ir::Var>("i", i64), b_ = ir::make<ir::Var>("b", i64);
  std::vector<ir::Ref<ir::Buffer>> params_;
  std::vector<std::string> what_;
  ir::Stmts stores_;
};

/// Every pair of edge values.
inline std::vector<std::vector<Scalar>> pairs_of(DType t) {
  std::vector<Scalar> a, b;
  for (Scalar x : edge_values(t))
    for (Scalar y : edge_values(t)) a.push_back(x), b.push_back(y);
  return {a, b};
}

inline void check_binary(const Target& target, Device& device, const std::vector<DType>& types) {
  for (DType t : types) {
    Elementwise kernel(target, device, pairs_of(t));
    std::vector<BinaryOp> ops;
    for (int op = 0; op <= static_cast<int>(BinaryOp::ge); ++op) {
      if (!is_defined(static_cast<BinaryOp>(op), t)) continue;
      ops.push_back(static_cast<BinaryOp>(op));
      kernel.store(fmt::format("{} {}", name_of(ops.back()), to_string(t)),
                   ir::make<ir::Binary>(ops.back(), kernel.input(0), kernel.input(1)));
    }
    kernel.check([&](size_t o, int64_t i) { return evaluate(ops[o], kernel.value(0, i), kernel.value(1, i)); });
  }
}

/// Whether the operator rounds as numeric/scalar.h does, on every machine.
inline bool is_exact(UnaryOp op) {
  for (UnaryOp function : {UnaryOp::rsqrt, UnaryOp::exp, UnaryOp::exp2, UnaryOp::log, UnaryOp::log2, UnaryOp::sin,
                           UnaryOp::cos, UnaryOp::tanh, UnaryOp::erf})
    if (op == function) return false;
  return true;
}

inline void check_unary(const Target& target, Device& device, const std::vector<DType>& types) {
  for (DType t : types) {
    Elementwise kernel(target, device, {edge_values(t)});
    std::vector<UnaryOp> ops;
    for (int op = 0; op <= static_cast<int>(UnaryOp::is_nan); ++op) {
      if (!is_defined(static_cast<UnaryOp>(op), t) || !is_exact(static_cast<UnaryOp>(op))) continue;
      ops.push_back(static_cast<UnaryOp>(op));
      kernel.store(fmt::format("{} {}", name_of(ops.back()), to_string(t)),
                   ir::make<ir::Unary>(ops.back(), kernel.input(0)));
    }
    kernel.check([&](size_t o, int64_t i) { return evaluate(ops[o], kernel.value(0, i)); });
  }
}

/// From each of the types to each of them.
inline void check_casts(const Target& target, Device& device, const std::vector<DType>& types) {
  for (DType from : types) {
    Elementwise kernel(target, device, {edge_values(from)});
    std::vector<std::pair<DType, Overflow>> made;
    for (DType to : types)
      for (Overflow overflow : {Overflow::saturate, Overflow::inf_nan}) {
        if (overflow == Overflow::inf_nan && !to.is_narrow_float()) continue;
        kernel.store(
            fmt::format("{} to {}{}", to_string(from), to_string(to), overflow == Overflow::saturate ? "" : " inf_nan"),
            ir::make<ir::Cast>(to, kernel.input(0), overflow));
        made.emplace_back(to, overflow);
      }
    kernel.check([&](size_t o, int64_t i) { return cast(kernel.value(0, i), made[o].first, made[o].second); });
  }
}

/// f32 functions against the host's in double: the largest distance in units in the last place is at most `ulps`.
inline void check_functions(const Target& target, Device& device,
                            const std::vector<std::pair<UnaryOp, double>>& functions) {
  std::vector<Scalar> values;
  for (double v = -100; v <= 100; v += 0.0371) values.push_back(Scalar::of_float(f32, v));
  for (double v = 0x1p-20; v < 0x1p20; v *= 1.037) values.push_back(Scalar::of_float(f32, v));
  Elementwise kernel(target, device, {values});
  for (auto [op, ulps] : functions) kernel.store(std::string(name_of(op)), ir::make<ir::Unary>(op, kernel.input(0)));
  std::vector<double> worst(functions.size());
  kernel.each_result([&](size_t o, int64_t i, Scalar got) {
    const double wanted =
        evaluate(functions[o].first, Scalar::of_float(f64, kernel.value(0, i).as_double())).as_double();
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(got.as_double()));
      return;
    }
    if (std::fabs(wanted) > std::numeric_limits<float>::max()) {
      EXPECT_TRUE(std::isinf(got.as_double()));
      return;
    }
    const double unit = std::ldexp(1.0, std::max(wanted == 0 ? -126 : std::ilogb(wanted), -126) - 23);
    worst[o] = std::max(worst[o], std::fabs(got.as_double() - wanted) / unit);
  });
  for (size_t o = 0; o < functions.size(); ++o) EXPECT_LE(worst[o], functions[o].second) << name_of(functions[o].first);
}

}  // namespace tilewright::test
