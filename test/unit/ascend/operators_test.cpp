// Every operator and cast that the scalar unit has, on the emulator, against numeric/scalar.h.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/build.h"
#include "pass/passes.h"
#include "target/ascend/ascend_target.h"
#include "target/ascend/emulator_device.h"
#include "target/ascend/scalar_rules.h"

namespace tilewright::ascend {
namespace {

using namespace ir;

constexpr int64_t kTile = 256;

/// Values where rules change: ends of ranges, neighbours of powers of two, special floats.
std::vector<Scalar> edge_values(DType t) {
  std::vector<Scalar> values;
  if (t.is_narrow_float()) {
    for (uint64_t code = 0; code < uint64_t{1} << 16; code += 7)
      values.push_back(Scalar{t, std::bit_cast<uint64_t>(decode(t, code))});
  } else if (t.is_int()) {
    for (int64_t v : {0, 1, 2, 3, 7, 100})
      for (int64_t sign : {1, -1}) values.push_back(Scalar::of_int(t, sign * v));
    for (int shift : {7, 8, 15, 16, 31, 32, 63})
      for (int64_t d : {-1, 0, 1})
        values.push_back(Scalar::of_int(t, static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(d))));
  } else {
    for (double v : {0.0,          0.5,      1.0,
                     1.5,          2.5,      3.14159,
                     100.25,       127.5,    255.5,
                     65504.0,      65519.0,  65520.0,
                     0x1p22 + 0.5, 0x1p23,   0x1p31,
                     0x1p32,       0x1p63,   0x1p64,
                     2147483520.0, 1e-10,    0x1p-126,
                     0x1p-149,     0x1p-25,  3.4028234663852886e38,
                     0x1.002p0,    0x1.01p0, std::numeric_limits<double>::infinity()})
      for (double sign : {1.0, -1.0}) values.push_back(Scalar::of_float(t, sign * v));
    values.push_back(Scalar::of_float(t, std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

bool same_value(Scalar got, Scalar wanted) {
  if (got.type.is_float() && std::isnan(got.as_double())) return std::isnan(wanted.as_double());
  return got == wanted;
}

/// A kernel that stores expressions of the elements of its inputs, a tile a block.
class Elementwise {
 public:
  explicit Elementwise(std::vector<std::vector<Scalar>> inputs) : inputs_(std::move(inputs)) {
    n_ = static_cast<int64_t>(inputs_[0].size());
    for (const auto& values : inputs_) load_tile(fmt::format("in{}", params_.size()), values[0].type);
  }
  Expr input(size_t j) const { return load(tiles_[j], {Expr(i_)}); }

  /// The result of a comparison is stored as u8.
  void store(const std::string& what, Expr value) {
    if (value->dtype.is_bool()) value = select(value, constant(Scalar::of_int(u8, 1)), constant(Scalar::of_int(u8, 0)));
    const Ref<Buffer> param = add_param(fmt::format("out{}", what_.size()), value->dtype);
    const Ref<Buffer> tile = add_tile(param);
    stores_.push_back(make<Store>(tile, Exprs{i_}, value));
    after_.push_back(make<Copy>(whole(tile), at_block(param), Expr()));
    what_.push_back(what);
  }

  /// Compares each output with wanted(output, element).
  template <class F>
  void run(F&& wanted) {
    int shown = 0;
    each_result([&](size_t o, int64_t i, Scalar got) {
      const Scalar want = wanted(o, i);
      if (same_value(got, want.type.is_bool() ? Scalar::of_int(u8, want.as_bool()) : want) || ++shown > 20) return;
      std::string operands;
      for (const auto& values : inputs_) operands += " " + to_string(values[static_cast<size_t>(i)]);
      ADD_FAILURE() << what_[o] << operands << ": got " << to_string(got) << ", wanted " << to_string(want);
    });
  }

  /// Runs the kernel and calls f(output, element, value) for each element of each output.
  template <class F>
  void each_result(F&& f) {
    Stmts body = before_;
    body.push_back(
        make<For>(LoopKind::parallel, std::vector<Ref<Var>>{i_}, Exprs{index(kTile)}, int64_t{0}, sequence(stores_)));
    body.insert(body.end(), after_.begin(), after_.end());
    const Ref<Kernel> kernel = make<Kernel>(
        "elementwise", Stage::traced, std::vector<Ref<Var>>{}, params_,
        make<Grid>(std::vector<Ref<Var>>{b_}, Exprs{index((n_ + kTile - 1) / kTile)}, int64_t{1}, sequence(body)));
    const AscendTarget target;
    const Compilation compiled = run_pipeline(kernel, target);
    auto loaded = EmulatorDevice(0).load(target.emit(compiled.final_stage, compiled.plan));
    std::vector<std::vector<char>> memory;
    std::vector<Argument> arguments;
    for (const auto& param : params_) {
      memory.emplace_back(static_cast<size_t>(param->dtype.bytes(n_)));
      if (memory.size() <= inputs_.size())
        for (int64_t i = 0; i < n_; ++i)
          store_element(memory.back().data(), i, inputs_[memory.size() - 1][static_cast<size_t>(i)]);
      arguments.emplace_back(Tensor{memory.back().data(), param->dtype, {n_}, {}});
    }
    loaded->launch(arguments, {});
    for (size_t o = 0; o < what_.size(); ++o)
      for (int64_t i = 0; i < n_; ++i)
        f(o, i, load_element(params_[inputs_.size() + o]->dtype, memory[inputs_.size() + o].data(), i));
  }
  const Scalar& value(size_t j, int64_t i) const { return inputs_[j][static_cast<size_t>(i)]; }

 private:
  Ref<Buffer> add_param(const std::string& name, DType type) {
    params_.push_back(make<Buffer>(name, type, Exprs{index(n_)}, Exprs{index(1)}));
    return params_.back();
  }
  Ref<Buffer> add_tile(const Ref<Buffer>& param) {
    const Ref<Buffer> tile =
        make<Buffer>(param->name + "_tile", param->dtype, Exprs{index(kTile)}, Exprs{}, Space::shared);
    before_.push_back(make<Alloc>(tile));
    return tile;
  }
  void load_tile(const std::string& name, DType type) {
    const Ref<Buffer> param = add_param(name, type);
    tiles_.push_back(add_tile(param));
    before_.push_back(make<Copy>(at_block(param), whole(tiles_.back()), Expr()));
  }
  Ref<Region> whole(const Ref<Buffer>& tile) const { return make<Region>(tile, Exprs{index(0)}, Exprs{index(kTile)}); }
  Ref<Region> at_block(const Ref<Buffer>& param) const {
    return make<Region>(param, Exprs{mul(b_, index(kTile))}, Exprs{index(kTile)});
  }

  std::vector<std::vector<Scalar>> inputs_;
  int64_t n_;
  Ref<Var> i_ = make<Var>("i", i64), b_ = make<Var>("b", i64);
  std::vector<Ref<Buffer>> params_, tiles_;
  std::vector<std::string> what_;
  Stmts before_, stores_, after_;
};

const DType kIntegers[] = {i8, i16, i32, i64, u8, u16, u32, u64};

TEST(AscendOperators, Binary) {
  for (DType t : {i8, i16, i32, i64, u8, u16, u32, u64, f32}) {
    std::vector<Scalar> a, b;
    for (Scalar x : edge_values(t))
      for (Scalar y : edge_values(t)) a.push_back(x), b.push_back(y);
    Elementwise kernel({a, b});
    std::vector<BinaryOp> ops;
    for (int op = 0; op <= static_cast<int>(BinaryOp::ge); ++op) {
      if (!is_defined(static_cast<BinaryOp>(op), t)) continue;
      ops.push_back(static_cast<BinaryOp>(op));
      kernel.store(fmt::format("{} {}", name_of(ops.back()), to_string(t)),
                   make<Binary>(ops.back(), kernel.input(0), kernel.input(1)));
    }
    kernel.run([&](size_t o, int64_t i) { return evaluate(ops[o], kernel.value(0, i), kernel.value(1, i)); });
  }
}

TEST(AscendOperators, Unary) {
  for (DType t : {i8, i16, i32, i64, u8, u16, u32, u64, f32}) {
    Elementwise kernel({edge_values(t)});
    std::vector<UnaryOp> ops;
    for (int op = 0; op <= static_cast<int>(UnaryOp::is_nan); ++op) {
      const UnaryOp unary = static_cast<UnaryOp>(op);
      const bool is_exact = unary != UnaryOp::exp && unary != UnaryOp::exp2 && unary != UnaryOp::rsqrt;
      if (!is_defined(unary, t) || !is_exact || (unary != UnaryOp::neg && !has_scalar_rule(unary))) continue;
      ops.push_back(unary);
      kernel.store(fmt::format("{} {}", name_of(unary), to_string(t)), make<Unary>(unary, kernel.input(0)));
    }
    kernel.run([&](size_t o, int64_t i) { return evaluate(ops[o], kernel.value(0, i)); });
  }
}

TEST(AscendOperators, Casts) {
  for (DType from : {i8, i16, i32, i64, u8, u16, u32, u64, f32, f16, bf16}) {
    Elementwise kernel({edge_values(from)});
    std::vector<DType> targets(std::begin(kIntegers), std::end(kIntegers));
    targets.push_back(f32);
    if (!from.is_int() || from.bits < 32) targets.insert(targets.end(), {f16, bf16});
    for (DType to : targets)
      kernel.store(fmt::format("{} to {}", to_string(from), to_string(to)), make<Cast>(to, kernel.input(0)));
    kernel.run([&](size_t o, int64_t i) { return cast(kernel.value(0, i), targets[o]); });
  }
}

/// Distance in units in the last place of f32.
double ulps(double got, double exact) {
  if (got == exact) return 0;
  return std::fabs(got - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

TEST(AscendOperators, ExponentialsAreWithinTwoUlps) {
  std::vector<Scalar> values;
  for (double v = -152; v < 128; v += 0.0123) values.push_back(Scalar::of_float(f32, v));
  for (double v : {-150.0, -149.0, -126.5, -104.0, -103.5, 0.0, 88.7, 88.722839, 127.999, 127.5})
    values.push_back(Scalar::of_float(f32, v));
  Elementwise kernel({values});
  kernel.store("exp2", make<Unary>(UnaryOp::exp2, kernel.input(0)));
  kernel.store("exp", make<Unary>(UnaryOp::exp, kernel.input(0)));
  kernel.store("rsqrt", make<Unary>(UnaryOp::rsqrt, kernel.input(0)));
  double worst[3] = {};
  kernel.each_result([&](size_t o, int64_t i, Scalar got) {
    const double x = kernel.value(0, i).as_double();
    if (o == 2 && x <= 0) return;
    const double exact = o == 0 ? std::exp2(x) : o == 1 ? std::exp(x) : 1 / std::sqrt(x);
    if (exact > std::numeric_limits<float>::max())
      EXPECT_TRUE(std::isinf(got.as_double())) << x;
    else
      worst[o] = std::max(worst[o], ulps(got.as_double(), exact));
  });
  EXPECT_LE(worst[0], 2);
  EXPECT_LE(worst[1], 2);
  EXPECT_LE(worst[2], 1.5);
  RecordProperty("worst", fmt::format("exp2 {} exp {} rsqrt {}", worst[0], worst[1], worst[2]));
}

}  // namespace
}  // namespace tilewright::ascend
