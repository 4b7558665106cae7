#include "fuzz/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "fuzz/expressions.h"
#include "ir/build.h"

namespace tilewright::fuzz {

using namespace ir;

namespace {

constexpr double kLargest = 8;

const std::vector<DType> kTileTypes = {f32, f32, f32, f16, bf16, f64, i32, i32, i64, i8, u8, u32, i16, e5m2};
const std::vector<DType> kTensorTypes = {f32, f32, f16, bf16, i32, i8, u8, i64, e4m3, i4, boolean};

const std::vector<DType> kCommonTypes = {f32, f32, f16, i32};

/// The type that values of `t` are computed in.
DType computed(DType t) { return t.is_narrow_float() || t.is_bool() ? f32 : t.bits < 8 ? i32 : t; }

/// The elements from `first` on.
Ref<Region> region(const Ref<Buffer>& b, Exprs first, Exprs extent) { return make<Region>(b, first, extent); }
Ref<Region> whole(const Ref<Buffer>& b) { return region(b, Exprs(b->shape.size(), ir::index(0)), b->shape); }

int64_t extent_of(const Ref<Buffer>& b, size_t axis) {
  int64_t n = 0;
  is_constant(b->shape[axis], &n);
  return n;
}
bool same_shape(const Ref<Buffer>& a, const Ref<Buffer>& b) {
  if (a->shape.size() != b->shape.size()) return false;
  for (size_t d = 0; d < a->shape.size(); ++d)
    if (extent_of(a, d) != extent_of(b, d)) return false;
  return true;
}

class Generator {
 public:
  Generator(Random& random, Types types) : random_(random), types_(types) {}

  Ref<Kernel> run() {
    rows_ = symbol("n"), columns_ = symbol("m");
    for (const char* name : {"X", "W", "Z"}) {
      const Ref<Var> stride = symbol(fmt::format("{}_s0", name));
      params_.push_back(make<Buffer>(name, random_.pick(types_ == Types::all ? kTensorTypes : kCommonTypes),
                                     Exprs{rows_, columns_}, Exprs{stride, ir::index(1)}, Space::global));
    }
    high_ = random_.in(1, 9), wide_ = random_.in(1, 11);
    by_ = name("by"), bx_ = name("bx");
    origin_ = {mul(by_, ir::index(high_)), mul(bx_, ir::index(wide_))};
    const Exprs extents{ceildiv(columns_, ir::index(wide_)), ceildiv(rows_, ir::index(high_))};

    Stmts body;
    // Shapes that statements can meet in: the block's tile, its transpose, rows, columns, a square.
    const std::vector<std::vector<int64_t>> shapes{{high_, wide_}, {wide_, high_}, {high_}, {wide_}, {high_, high_}};
    for (const auto& shape : shapes)
      for (int copies = 0; copies < 2; ++copies) declare(shape, body);
    for (int64_t n = random_.in(2, 7); n > 0; --n) statement(body, 2);
    const Ref<Buffer> result = with_shape({high_, wide_});
    body.push_back(make<Copy>(whole(result), tile_of(params_[2])));
    Stmts phases{grid(extents, body)};
    if (random_.chance(25)) phases.push_back(second_phase());
    return make<Kernel>("k", Stage::traced, scalars_, params_, sequence(std::move(phases)));
  }

 private:
  Ref<Var> name(std::string_view base) { return make<Var>(fmt::format("{}{}", base, count_++)); }
  Ref<Var> symbol(std::string_view text) {
    scalars_.push_back(make<Var>(std::string(text)));
    return scalars_.back();
  }

  Stmt grid(const Exprs& extents, const Stmts& body) {
    const int64_t threads = random_.chance(50) ? 32 * random_.in(1, 4) : random_.in(1, 40);
    return make<Grid>(std::vector<Ref<Var>>{bx_, by_}, extents, threads, make<Seq>(body));
  }

  /// Z *= 1 element by element: reads what the first phase wrote.
  Stmt second_phase() {
    const Ref<Var> row = name("row"), column = name("column");
    const Ref<Buffer>& z = params_[2];
    Stmt store =
        make<Store>(z, Exprs{row, column}, from_computed(clamped(to_computed(load(z, {row, column}))), z->dtype));
    Stmt loop = make<For>(LoopKind::parallel, std::vector<Ref<Var>>{column}, Exprs{columns_}, int64_t{0}, store);
    return make<Grid>(std::vector<Ref<Var>>{row}, Exprs{rows_}, int64_t{7}, loop);
  }

  void declare(const std::vector<int64_t>& shape, Stmts& out) {
    Exprs extents;
    for (int64_t n : shape) extents.push_back(ir::index(n));
    auto tile =
        make<Buffer>(fmt::format("t{}", count_++), random_.pick(types_ == Types::all ? kTileTypes : kCommonTypes),
                     extents, Exprs{}, random_.chance(40) ? Space::shared : Space::fragment);
    tiles_.push_back(tile);
    out.push_back(make<Alloc>(tile));
    if (shape == std::vector<int64_t>{high_, wide_} && random_.chance(75))
      out.push_back(make<Copy>(tile_of(params_[static_cast<size_t>(random_.below(2))]), whole(tile)));
    else
      out.push_back(make<Fill>(whole(tile), small_constant(tile->dtype)));
  }

  /// The block's tile of a tensor, sometimes shifted, so that it reaches over any edge.
  Ref<Region> tile_of(const Ref<Buffer>& b) {
    Exprs first = origin_;
    if (b->name != "Z" && random_.chance(25))
      first[static_cast<size_t>(random_.below(2))] = add(origin_[0], ir::index(random_.in(-5, 5)));
    return region(b, first, {ir::index(high_), ir::index(wide_)});
  }

  Expr small_constant(DType t) { return ir::constant(small_number(random_, t)); }
  Ref<Buffer> tile() { return random_.pick(tiles_); }
  Ref<Buffer> with_shape(const std::vector<int64_t>& shape) {
    std::vector<Ref<Buffer>> fitting;
    for (const auto& t : tiles_) {
      std::vector<int64_t> extents;
      for (size_t d = 0; d < t->shape.size(); ++d) extents.push_back(extent_of(t, d));
      if (extents == shape) fitting.push_back(t);
    }
    return random_.pick(fitting);
  }

  // ---- values ----

  Expr to_computed(const Expr& e) { return cast_to(computed(e->dtype), e); }
  Expr from_computed(const Expr& e, DType t) { return cast_to(t, e); }
  /// Whole, and at most kLargest away from 0.
  Expr clamped(Expr e) {
    const DType t = e->dtype;
    auto number = [&](double v) { return ir::constant(Scalar::of_float(t, v)); };
    if (t.is_float()) e = unary(UnaryOp::floor, e);
    if (t.has_sign) e = make<Binary>(BinaryOp::max, e, number(-kLargest));
    return make<Binary>(BinaryOp::min, e, number(kLargest));
  }

  /// An element of a tile at the loop's position, or mirrored; a constant; the position itself.
  Expr operand(const Ref<Buffer>& into, const std::vector<Ref<Var>>& at, DType t) {
    const int64_t what = random_.below(10);
    if (what == 0) return small_constant(t);
    if (what == 1 && !at.empty()) return make<Cast>(t, random_.pick(std::vector<Expr>(at.begin(), at.end())));
    if (what == 2) return make<Cast>(t, bx_);
    std::vector<Ref<Buffer>> fitting;
    for (const auto& b : tiles_)
      if (same_shape(b, into)) fitting.push_back(b);
    const Ref<Buffer> from = random_.pick(fitting);
    Exprs indices(at.begin(), at.end());
    // Iterations are unordered: another element of the tile that the loop writes must not be read.
    if (from->name != into->name && random_.chance(30)) {
      const auto axis = static_cast<size_t>(random_.below(static_cast<int64_t>(indices.size())));
      indices[axis] = sub(ir::index(extent_of(from, axis) - 1), indices[axis]);
    }
    return cast_to(t, to_computed(load(from, indices)));
  }

  Expr element_value(const Ref<Buffer>& into, const std::vector<Ref<Var>>& at, int depth) {
    const DType t = computed(into->dtype);
    if (depth == 0) return operand(into, at, t);
    const Expr a = element_value(into, at, depth - 1), b = element_value(into, at, depth - 1);
    switch (random_.below(9)) {
      case 0:
        return make<Select>(less(a, b), a, b);
      case 1:
        return make<Binary>(BinaryOp::min, a, b);
      case 2:
        return make<Binary>(BinaryOp::max, a, b);
      case 3:
        return make<Binary>(BinaryOp::mul, a, b);
      case 4:
        return make<Binary>(BinaryOp::sub, a, b);
      case 5:
        return t.is_float() ? make<Binary>(BinaryOp::div, a, b) : make<Binary>(BinaryOp::floordiv, a, b);
      case 6:
        return t.is_float() ? make<Unary>(UnaryOp::abs, a) : Expr(make<Binary>(BinaryOp::floormod, a, b));
      default:
        return make<Binary>(BinaryOp::add, a, b);
    }
  }

  // ---- statements ----

  Stmt elements(const Ref<Buffer>& into) {
    std::vector<Ref<Var>> at;
    Exprs indices;
    for (size_t d = 0; d < into->shape.size(); ++d) {
      at.push_back(name("i"));
      indices.push_back(at.back());
    }
    Stmt store = make<Store>(into, indices, from_computed(clamped(element_value(into, at, 2)), into->dtype));
    if (random_.chance(25)) {
      const Expr cond = make<Binary>(BinaryOp::lt, operand(into, at, i64), operand(into, at, i64));
      store = make<When>(cond, store,
                         random_.chance(50) ? Stmt(make<Store>(into, indices, small_constant(into->dtype))) : Stmt());
    }
    return make<For>(LoopKind::parallel, at, into->shape, int64_t{0}, store);
  }

  /// The same with every value at most kLargest again.
  Stmt clamp(const Ref<Buffer>& into) {
    std::vector<Ref<Var>> at;
    Exprs indices;
    for (size_t d = 0; d < into->shape.size(); ++d) {
      at.push_back(name("i"));
      indices.push_back(at.back());
    }
    const Expr value = from_computed(clamped(to_computed(load(into, indices))), into->dtype);
    return make<For>(LoopKind::parallel, at, into->shape, int64_t{0}, make<Store>(into, indices, value));
  }

  void reduction(Stmts& out) {
    const Ref<Buffer> src = with_shape({high_, wide_});
    const int64_t axis = random_.below(2);
    const Ref<Buffer> dst = with_shape({axis == 0 ? wide_ : high_});
    if (src->dtype.is_float() != dst->dtype.is_float()) return;
    if (!src->dtype.is_float() && src->dtype != dst->dtype) return;
    const auto op = static_cast<ReduceOp>(random_.below(4));
    out.push_back(make<Reduce>(op, whole(src), whole(dst), axis, random_.chance(30), random_.chance(20)));
    out.push_back(clamp(dst));
  }

  void product(Stmts& out) {
    const Ref<Buffer> c = with_shape({high_, high_});
    const bool ta = random_.chance(40), tb = random_.chance(40);
    const Ref<Buffer> a = ta ? with_shape({wide_, high_}) : with_shape({high_, wide_});
    const Ref<Buffer> b = tb ? with_shape({high_, wide_}) : with_shape({wide_, high_});
    const bool floats = a->dtype.is_float() && b->dtype.is_float() && (c->dtype == f32 || c->dtype == f64);
    const bool ints = !a->dtype.is_float() && !b->dtype.is_float() && (c->dtype == i32 || c->dtype == i64);
    if ((!floats && !ints) || a->name == c->name || b->name == c->name) return;
    out.push_back(make<Gemm>(whole(a), whole(b), whole(c), ta, tb));
    out.push_back(clamp(c));
  }

  void statement(Stmts& out, int depth) {
    switch (random_.below(depth > 0 ? 10 : 8)) {
      case 0:
        out.push_back(
            make<Copy>(tile_of(params_[static_cast<size_t>(random_.below(2))]), whole(with_shape({high_, wide_}))));
        return;
      case 1: {
        const Ref<Buffer> from = tile();
        for (const auto& to : tiles_)
          if (same_shape(from, to) && to->name != from->name && random_.chance(50))
            return out.push_back(make<Copy>(whole(from), whole(to)));
        return;
      }
      case 2: {
        const Ref<Buffer> to = tile();
        return out.push_back(make<Fill>(whole(to), small_constant(to->dtype)));
      }
      case 3:
        return reduction(out);
      case 4:
      case 5:
        return product(out);
      case 8: {
        Stmts body;
        for (int64_t n = random_.in(1, 3); n > 0; --n) statement(body, depth - 1);
        if (body.empty()) return;
        const bool symbolic = random_.chance(30);
        const Expr extent =
            symbolic ? Expr(make<Binary>(BinaryOp::floormod, columns_, ir::index(3))) : ir::index(random_.in(0, 3));
        const LoopKind how = random_.chance(40) ? LoopKind::pipelined : LoopKind::serial;
        return out.push_back(make<For>(how, std::vector<Ref<Var>>{name("k")}, Exprs{extent},
                                       how == LoopKind::pipelined ? random_.in(0, 3) : int64_t{0}, make<Seq>(body)));
      }
      case 9: {
        Stmts then, otherwise;
        statement(then, depth - 1);
        if (then.empty()) return;
        if (random_.chance(50)) statement(otherwise, depth - 1);
        const Expr cond = less(random_.chance(50) ? Expr(bx_) : Expr(by_), ir::index(random_.in(0, 2)));
        return out.push_back(
            make<When>(cond, make<Seq>(then), otherwise.empty() ? Stmt() : Stmt(make<Seq>(otherwise))));
      }
      default:
        return out.push_back(elements(tile()));
    }
  }

  Random& random_;
  Types types_;
  int count_ = 0;
  int64_t high_ = 1, wide_ = 1;  // the block's tile
  Ref<Var> rows_, columns_, bx_, by_;
  Exprs origin_;
  std::vector<Ref<Var>> scalars_;
  std::vector<Ref<Buffer>> params_, tiles_;
};

}  // namespace

Ref<ir::Kernel> random_program(Random& random, Types types) { return Generator(random, types).run(); }

Ref<ir::Kernel> expression_program(Random& random) {
  const Ref<Var> n = make<Var>("n"), block = make<Var>("block"), i = make<Var>("i");
  std::vector<Ref<Buffer>> params, tables;
  std::vector<Ref<Var>> values;
  Stmts body;
  auto tensor = [&](const std::string& name, DType type, const Expr& extent) {
    params.push_back(make<Buffer>(name, type, Exprs{extent}, Exprs{ir::index(1)}, Space::global));
    return params.back();
  };
  for (DType type : all_types()) {
    if (type == i4 || type == u4) continue;  // values of these are read from tables
    const std::string name = tilewright::to_string(type);
    values.push_back(make<Var>(fmt::format("v_{}", name), type));
    body.push_back(make<Let>(values.back(), load(tensor(fmt::format("V_{}", name), type, n), {i})));
  }
  for (DType type : {i64, f32, u8})
    tables.push_back(tensor(fmt::format("T_{}", tilewright::to_string(type)), type, ir::index(8)));
  Expressions expressions(random, values, tables, {.depth = 4, .nibbles = false});
  for (int outputs = 0; outputs < 4; ++outputs) {
    DType type = random.pick(all_types());
    if (type.bits == 4) type = i32;  // two elements a byte: iterations would conflict
    const Expr value = expressions.make(type);
    body.push_back(make<Store>(tensor(fmt::format("Y{}", outputs), type, n), Exprs{i}, value));
  }
  Stmt loop = make<For>(LoopKind::parallel, std::vector<Ref<Var>>{i}, Exprs{n}, int64_t{0}, make<Seq>(body));
  Stmt grid = make<Grid>(std::vector<Ref<Var>>{block}, Exprs{ir::index(1)}, int64_t{32}, loop);
  return ir::make<ir::Kernel>("expressions", Stage::traced, std::vector<Ref<Var>>{n}, params, grid);
}

Scalar small_number(Random& random, DType type) {
  const int64_t v = random.in(type.has_sign ? -3 : 0, 4);
  return type.is_float() ? Scalar::of_float(type, static_cast<double>(v)) : Scalar::of_int(type, v);
}

ProgramData::ProgramData(Random& random, const ir::Kernel& kernel, Scalar (*element)(Random&, DType)) {
  std::map<std::string, int64_t> symbols;
  for (const auto& param : kernel.params) {
    Array a{param->name, param->dtype, {}, {}, {}, 1};
    for (const Expr& extent : param->shape) {
      int64_t n = 0;
      if (!is_constant(extent, &n)) {
        const std::string& name = as<Var>(extent)->name;
        n = symbols.try_emplace(name, random.in(name == "n" ? 0 : 1, 22)).first->second;
      }
      a.shape.push_back(n);
    }
    a.strides.assign(a.shape.size(), 1);
    for (size_t d = a.shape.size(); d-- > 0;) {
      if (!is_constant(param->strides[d]) && random.chance(40)) a.count += random.in(1, 5);
      a.strides[d] = a.count;
      a.count *= a.shape[d];
    }
    a.bytes.assign(static_cast<size_t>(a.dtype.bytes(a.count) + 16), 0);
    for (int64_t i = 0; i < a.count; ++i) store_element(a.bytes.data(), i, element(random, a.dtype));
    arrays_.push_back(std::move(a));
  }
}

std::vector<Argument> ProgramData::arguments() {
  std::vector<Argument> list;
  for (Array& a : arrays_) list.emplace_back(Tensor{a.bytes.data(), a.dtype, a.shape, a.strides});
  return list;
}

std::vector<std::string> ProgramData::values() const {
  std::vector<std::string> list;
  for (const Array& a : arrays_)
    for (int64_t i = 0; i < a.count; ++i)
      list.push_back(fmt::format("{}.data[{}] = {}", a.name, i, to_string(load_element(a.dtype, a.bytes.data(), i))));
  return list;
}

std::string ProgramData::describe() const {
  std::string text;
  for (const Array& a : arrays_)
    text += fmt::format("{} ({}) strides ({})\n", a.name, fmt::join(a.shape, ", "), fmt::join(a.strides, ", "));
  return text;
}

}  // namespace tilewright::fuzz
