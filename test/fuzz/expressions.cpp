#include "fuzz/expressions.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "target/interp/tape.h"

namespace tilewright::fuzz {

using namespace ir;

namespace {

constexpr UnaryOp kFloatFunctions[] = {UnaryOp::neg,   UnaryOp::abs,        UnaryOp::sqrt, UnaryOp::floor,
                                       UnaryOp::trunc, UnaryOp::round_even, UnaryOp::ceil};
constexpr BinaryOp kFloatOps[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div,     BinaryOp::min,
                                  BinaryOp::max, BinaryOp::add, BinaryOp::mul, BinaryOp::min_nan, BinaryOp::max_nan};
// Sums stand three times: most rules are about them.
constexpr BinaryOp kIntOps[] = {BinaryOp::add,      BinaryOp::add,      BinaryOp::add,      BinaryOp::sub,
                                BinaryOp::sub,      BinaryOp::mul,      BinaryOp::mul,      BinaryOp::min,
                                BinaryOp::max,      BinaryOp::bit_and,  BinaryOp::bit_or,   BinaryOp::bit_xor,
                                BinaryOp::shl,      BinaryOp::shr,      BinaryOp::min_nan,  BinaryOp::max_nan,
                                BinaryOp::floordiv, BinaryOp::floordiv, BinaryOp::floormod, BinaryOp::floormod,
                                BinaryOp::truncdiv, BinaryOp::truncmod, BinaryOp::ceildiv};
constexpr BinaryOp kComparisons[] = {BinaryOp::eq, BinaryOp::ne, BinaryOp::lt,
                                     BinaryOp::le, BinaryOp::gt, BinaryOp::ge};

template <class T, size_t N>
T one_of(Random& random, const T (&list)[N]) {
  return list[random.below(N)];
}

/// Elements as a function of where they are.
class HashedMemory : public interp::ElementSource {
 public:
  explicit HashedMemory(uint64_t seed) : seed_(seed) {}
  Scalar read(const Load& load, const int64_t* indices) override {
    uint64_t h = hash_combine(seed_, hash_bytes(load.buffer->name));
    for (size_t d = 0; d < load.indices.size(); ++d) h = hash_combine(h, static_cast<uint64_t>(indices[d]));
    Random random(h);
    return random_value(random, load.dtype);
  }

 private:
  uint64_t seed_;
};

}  // namespace

const std::vector<DType>& all_types() {
  static const std::vector<DType> types = {boolean, i4,       u4,   i8,   u8,   i16,  u16,  i32,  u32,
                                           i64,     u64,      f64,  f32,  tf32, f16,  bf16, e4m3, e4m3fnuz,
                                           e5m2,    e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};
  return types;
}

Scalar random_value(Random& random, DType type) {
  if (type.is_bool()) return Scalar::of_int(type, random.below(2));
  if (type.is_int()) {
    const int64_t power = static_cast<int64_t>(uint64_t{1} << random.below(type.bits));
    switch (random.below(6)) {
      case 0:
        return Scalar::of_int(type, random.in(-3, 3));
      case 1:
        return Scalar::of_int(type, power);
      case 2:
        return Scalar::of_int(type, static_cast<int64_t>(static_cast<uint64_t>(power) - 1));
      case 3:
        return Scalar::of_int(type, static_cast<int64_t>(0 - static_cast<uint64_t>(power)));
      case 4:
        return Scalar::of_int(type, random.in(-100, 100));
      default:
        return Scalar::of_int(type, static_cast<int64_t>(random.bits()));
    }
  }
  switch (random.below(8)) {
    case 0:
      return Scalar::of_float(type, std::numeric_limits<double>::quiet_NaN());
    case 1:
      return Scalar::of_float(type, random.chance(50) ? 0.0 : -0.0);
    case 2:
      return Scalar::of_float(type, random.chance(50) ? INFINITY : -INFINITY);
    case 3:
      return Scalar::of_float(type, std::ldexp(1.0, static_cast<int>(random.in(-150, 130))));
    case 4:
      return Scalar::of_float(type, std::bit_cast<double>(random.bits()));
    default:
      return Scalar::of_float(type, static_cast<double>(random.in(-64, 64)) / 4);
  }
}

Scalar random_value(Random& random, DType type, Range range) {
  const auto span = static_cast<unsigned __int128>(range.hi - range.lo);
  auto at = [&](unsigned __int128 offset) {
    return Scalar::of_int(type, static_cast<int64_t>(static_cast<uint64_t>(range.lo + static_cast<Wide>(offset))));
  };
  switch (random.below(4)) {
    case 0:
      return at(0);
    case 1:
      return at(span);
    case 2:
      return at(span < 8 ? span / 2 : static_cast<unsigned __int128>(random.below(8)));
    default:
      return at(span == ~uint64_t{0} ? random.bits() : random.bits() % static_cast<uint64_t>(span + 1));
  }
}

DType Expressions::arithmetic_type() {
  static const std::vector<DType> types = {i64, i64, i64, i32, i32, u32, u64, i16, u16, i8, u8, f32, f64, i4, u4};
  return types[static_cast<size_t>(random_.below(options_.nibbles ? 15 : 13))];
}

Expr Expressions::constant_of(DType type) {
  if (type.is_int() && random_.chance(60)) return constant(Scalar::of_int(type, random_.in(-2, 20)));
  return constant(random_value(random_, type));
}

Expr Expressions::leaf(DType type) {
  std::vector<Expr> choices, positions{ir::index(random_.below(4))};
  for (const auto& v : variables_) {
    if (v->type == type) choices.push_back(v);
    if (v->type == i64) positions.push_back(v);
  }
  if (options_.loads)
    for (const auto& b : buffers_)
      if (b->dtype == type) {
        Exprs indices;
        for (size_t d = 0; d < b->shape.size(); ++d) indices.push_back(random_.pick(positions));
        choices.push_back(load(b, indices));
      }
  if (choices.empty() || random_.chance(30)) return constant_of(type);
  return random_.pick(choices);
}

Expr Expressions::make(DType type, int depth) {
  if (random_.chance(options_.share_percent)) {
    std::vector<Expr> same_type;
    for (const Expr& e : made_)
      if (e->dtype == type) same_type.push_back(e);
    if (!same_type.empty()) return random_.pick(same_type);
  }
  if (depth == 0 || random_.chance(8)) return leaf(type);
  Expr e = type.is_bool() ? boolean_operation(depth - 1) : operation(type, depth - 1);
  made_.push_back(e);
  return e;
}

/// Mostly a small constant, as in tile programs.
Expr Expressions::divisor(DType type, int depth) {
  if (random_.chance(25)) return make(type, depth);
  return random_.chance(80) ? ir::constant(Scalar::of_int(type, random_.in(1, 16))) : constant_of(type);
}

Expr Expressions::operation(DType type, int depth) {
  if (type.is_narrow_float()) return ir::make<Cast>(type, make(random_.chance(50) ? f32 : arithmetic_type(), depth));
  const int64_t what = random_.below(20);
  if (what == 0) return ir::make<Select>(make(boolean, depth), make(type, depth), make(type, depth));
  if (what <= 2) {
    DType from = random_.chance(70) ? arithmetic_type() : random_.pick(all_types());
    if (from.bits == 4 && from.is_int() && !options_.nibbles) from = i8;
    return ir::make<Cast>(type, make(from, depth));
  }
  if (type.is_float()) {
    if (what == 3) return ir::make<Unary>(one_of(random_, kFloatFunctions), make(type, depth));
    if (what == 4) return ir::make<Fma>(make(type, depth), make(type, depth), make(type, depth));
    return ir::make<Binary>(one_of(random_, kFloatOps), make(type, depth), make(type, depth));
  }
  if (what == 3) {
    static constexpr UnaryOp kOps[] = {UnaryOp::neg, UnaryOp::bit_not, UnaryOp::abs};
    return ir::make<Unary>(one_of(random_, kOps), make(type, depth));
  }
  const BinaryOp op = one_of(random_, kIntOps);
  const Expr a = make(type, depth);
  const bool by_constant = (op >= BinaryOp::floordiv && op <= BinaryOp::ceildiv) || op == BinaryOp::shl ||
                           op == BinaryOp::shr || op == BinaryOp::mul;
  return ir::make<Binary>(op, a, by_constant ? divisor(type, depth) : make(type, depth));
}

Expr Expressions::boolean_operation(int depth) {
  switch (random_.below(10)) {
    case 0:
      return ir::make<Unary>(UnaryOp::logical_not, make(boolean, depth));
    case 1:
      return ir::make<Binary>(BinaryOp::logical_and, make(boolean, depth), make(boolean, depth));
    case 2:
      return ir::make<Binary>(BinaryOp::logical_or, make(boolean, depth), make(boolean, depth));
    case 3:
      return ir::make<Select>(make(boolean, depth), make(boolean, depth), make(boolean, depth));
    case 4:
      return ir::make<Cast>(boolean, make(arithmetic_type(), depth));
    case 5:
      return ir::make<Unary>(UnaryOp::is_nan, make(random_.chance(50) ? f32 : f64, depth));
    case 6:
      return ir::make<Binary>(random_.chance(50) ? BinaryOp::eq : BinaryOp::ne, make(boolean, depth),
                              make(boolean, depth));
    default: {
      const DType type = arithmetic_type();
      return ir::make<Binary>(one_of(random_, kComparisons), make(type, depth), make(type, depth));
    }
  }
}

std::string to_string(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, tilewright::to_string(value));
  return text;
}

Scalar value_at(const Expr& e, const Point& point, uint64_t memory) {
  interp::Slots slots;
  interp::Tape tape(e, slots);
  for (const auto& [name, slot] : slots.of_name) slots.values[static_cast<size_t>(slot)] = point.at(name);
  HashedMemory elements(memory);
  return tape.evaluate(slots, elements);
}

std::vector<Expr> parts_of(const Expr& e) {
  std::vector<Expr> parts;
  post_order(e, [&](const Node& node) {
    if (is_expr(node.kind)) parts.emplace_back(static_cast<const ExprNode*>(&node));
  });
  return parts;
}

}  // namespace tilewright::fuzz
