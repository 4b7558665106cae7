#include "target/ascend/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/build.h"
#include "ir/region.h"

namespace tilewright::ascend {
namespace {

using namespace ir;

bool is_global(const Region& r) { return r.buffer->space == Space::global; }

/// Elements of a unit.
int64_t per_unit(DType type) { return kUnit / type.bytes(); }

/// The largest power of two up to kMost that a reading of `depth` levels shows to divide the value.
int64_t divisor_of(const Expr& e, int depth = 8) {
  constexpr int64_t kMost = 1024;
  int64_t value = 0;
  if (is_constant(e, &value)) return std::gcd(value % kMost, kMost);
  const auto* b = as<Binary>(e);
  if (!b || depth == 0) return 1;
  const int64_t x = divisor_of(b->a, depth - 1), y = divisor_of(b->b, depth - 1);
  switch (b->op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::min:
    case BinaryOp::max:
      return std::gcd(x, y);
    case BinaryOp::mul:
      return std::min(x * y, kMost);
    default:
      return 1;
  }
}

bool is_multiple(const Expr& e, int64_t of) { return divisor_of(e) % of == 0; }

/// Whether the rows of the copy run along the last axis of the tile; else each element is a row of its own.
bool has_rows(const Region& tile) { return !is_constant_equal(tile.extent.back(), 1); }

std::string elements(const Expr& e, DType type) {
  int64_t n = 0;
  return is_constant(e, &n) ? fmt::format("{} elements ({} bytes)", n, type.bytes(n)) : "a number of elements";
}

/// The value as an unsigned type, whose range it is known to fit.
std::string narrowed(DType type, const Expr& e, CText& out) {
  return out.index(is_constant(e) ? e : make<Cast>(type, e));
}

/// Rows in UB that are not whole units.
std::optional<std::string> refuse_units(const Region& tile, bool loads) {
  const DType type = tile.buffer->dtype;
  const int64_t unit = per_unit(type);
  const Expr &first = tile.offset.back(), &length = tile.extent.back(), &width = tile.buffer->shape.back();
  if (!is_multiple(first, unit))
    return fmt::format(
        "rows of the copy begin {} into a row of {}; engines move units of {} bytes, so begin at a multiple of {} "
        "elements",
        elements(first, type), tile.buffer->name, kUnit, unit);
  int64_t begin = 0, count = 0, end = 0;
  const bool reaches_end =
      is_constant(first, &begin) && is_constant(length, &count) && is_constant(width, &end) && begin + count == end;
  if (loads && !reaches_end && !is_multiple(length, unit))
    return fmt::format(
        "the copy writes {} of each row of {}; engines move units of {} bytes and would overwrite what follows, so "
        "copy a multiple of {} elements or up to the end of the row",
        elements(length, type), tile.buffer->name, kUnit, unit);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_copy(const Copy& copy) {
  if (is_global(*copy.src) == is_global(*copy.dst)) return std::nullopt;
  const bool loads = is_global(*copy.src);
  const Region &global = loads ? *copy.src : *copy.dst, &tile = loads ? *copy.dst : *copy.src;
  const DType type = global.buffer->dtype;
  if (tile.offset.empty())
    return fmt::format("engines copy tiles, and {} is one value; use shared({}, {{1}})", tile.buffer->name,
                       to_string(type));
  // A copy that converts goes through a tile of its own, whose rows are whole.
  if (global.buffer->dtype == tile.buffer->dtype)
    if (auto why = refuse_units(tile, loads)) return why;
  if (has_rows(tile)) {
    const size_t inner = loop_axes(global).back();
    if (!is_constant_equal(global.buffer->strides[inner], 1))
      return fmt::format(
          "rows of the copy run along axis {} of {}, whose stride is not known to be 1; engines move contiguous rows, "
          "so declare the tensor contiguous() or its last stride 1, and copy along the last axis",
          inner, global.buffer->name);
  }
  if (loads && copy.fill && type.bytes() == 8 && !is_constant_equal(copy.fill, 0))
    return fmt::format("a copy of {} pads with 0 only; fill the tile's rest after the copy", to_string(type));
  return std::nullopt;
}

void print_copy(const Copy& copy, CText& out) {
  const bool loads = is_global(*copy.src);
  const Region &global = loads ? *copy.src : *copy.dst, &tile = loads ? *copy.dst : *copy.src;
  const DType type = tile.buffer->dtype;
  const int64_t unit = per_unit(type);
  const bool rows = has_rows(tile);
  const Expr first = tile.offset.back(), length = rows ? tile.extent.back() : index(1);
  if (!loads && !is_multiple(first, unit))
    throw UserError(copy.at, fmt::format("ascend: the copy may write before the start of {}: its first element in {} "
                                         "need not lie at a multiple of {} bytes then; write from the start on",
                                         global.buffer->name, tile.buffer->name, kUnit));

  // Loops over the rows.
  std::vector<size_t> tile_axes = loop_axes(tile), global_axes = loop_axes(global);
  if (rows) tile_axes.pop_back(), global_axes.pop_back();
  Exprs at_tile = tile.offset, at_global = global.offset;
  for (size_t i = 0; i < tile_axes.size(); ++i) {
    Ref<Var> row = make<Var>(fmt::format("row{}_", i), i64);
    const Expr& rows_here = tile.extent[tile_axes[i]];
    const std::string extent = out.index(rows_here);
    const std::string type_name = out.declare(row, {0, std::max<Wide>(0, out.known().range(rows_here).hi - 1)});
    out.open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", type_name, row->name, extent));
    at_tile[tile_axes[i]] = add(at_tile[tile_axes[i]], row);
    at_global[global_axes[i]] = add(at_global[global_axes[i]], row);
  }

  // The block begins `before` elements into its first unit; `after` elements are left of its last.
  const Expr before = is_multiple(first, unit) ? index(0) : floormod(first, index(unit));
  const Expr last = add(before, length);
  const Expr after = is_multiple(last, unit) ? index(0) : floormod(sub(index(0), last), index(unit));
  at_tile.back() = sub(at_tile.back(), before);
  const std::string local = fmt::format("{}[{}]", tile.buffer->name, out.offset(*tile.buffer, at_tile));
  const std::string in_global = fmt::format("{}[{}]", global.buffer->name, out.offset(*global.buffer, at_global));
  const std::string block =
      fmt::format("AscendC::DataCopyExtParams{{1, {}, 0, 0, 0}}", narrowed(u32, mul(length, index(type.bytes())), out));
  if (!loads) {
    out.line(fmt::format("AscendC::DataCopyPad({}, {}, {});", in_global, local, block));
  } else {
    const bool pads = !is_constant_equal(before, 0) || !is_constant_equal(after, 0);
    const std::string fill = out.value(copy.fill ? copy.fill : constant(Scalar::of_int(type, 0)));
    const std::string padding =
        fmt::format("AscendC::DataCopyPadExtParams<{}>{{{}, {}, {}, {}}}", out.dialect().type_name(type), pads,
                    narrowed(u8, before, out), narrowed(u8, after, out), fill);
    out.line(fmt::format("AscendC::DataCopyPad({}, {},", local, in_global));
    out.line(fmt::format("                     {},", block));
    out.line(fmt::format("                     {});", padding));
  }
  for (size_t i = 0; i < tile_axes.size(); ++i) out.close();
}

}  // namespace tilewright::ascend
