#include "target/ascend/refuse.h"

#include <fmt/format.h>

#include "ir/walk.h"
#include "target/ascend/scalar_rules.h"
#include "target/ascend/transfer.h"

namespace tilewright::ascend {
namespace {

using namespace ir;

bool is_wide_integer(DType t) { return t.is_int() && t.bits >= 32; }

std::string double_rounding(DType from, DType to) {
  return fmt::format(
      "{0} to {1} in one step is not there: the scalar unit goes through f32, which rounds twice; cast to f32 first if "
      "that is what you want",
      to_string(from), to_string(to));
}

std::optional<std::string> refuse_value(const Node& node) {
  if (const auto* l = as<Load>(&node); l && l->buffer->space == Space::global)
    return fmt::format(
        "this reads an element of {0}, which is global memory; a core reaches global memory by tile copies only: copy "
        "a tile of {0} to shared(...) first",
        l->buffer->name);
  if (const auto* u = as<Unary>(&node); u && u->dtype.is_float() && u->op != UnaryOp::neg && !has_scalar_rule(u->op))
    return fmt::format(
        "{} is computed element by element on the scalar unit, which has no such function; it has abs, floor, ceil, "
        "trunc, round_even, sqrt, rsqrt, exp and exp2",
        name_of(u->op));
  if (node.kind == Kind::Fma) return "fma rounds once; the scalar unit has no such instruction; write a * b + c";
  if (const auto* c = as<Cast>(&node); c && c->type.is_narrow_float() && is_wide_integer(c->a->dtype))
    return double_rounding(c->a->dtype, c->type);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuse_statement(const StmtNode& s) {
  std::vector<const Node*> children;
  append_children(s, children);
  std::optional<std::string> why;
  for (const Node* child : children)
    if (is_expr(child->kind))
      post_order(Any(child), [&](const Node& node) {
        if (!why) why = refuse_value(node);
      });
  if (why) return why;
  switch (s.kind) {
    case Kind::Store: {
      const auto& store = static_cast<const Store&>(s);
      if (store.buffer->space != Space::global) return std::nullopt;
      return fmt::format(
          "this writes an element of {0}, which is global memory; a core reaches global memory by tile copies only: "
          "write a tile in shared(...) and copy that to {0}",
          store.buffer->name);
    }
    case Kind::Copy: {
      const auto& copy = static_cast<const Copy&>(s);
      const DType from = copy.src->buffer->dtype, to = copy.dst->buffer->dtype;
      if (is_wide_integer(from) && to.is_narrow_float()) return double_rounding(from, to);
      return refuse_copy(copy);
    }
    case Kind::Fill: {
      const Buffer& dst = *static_cast<const Fill&>(s).dst->buffer;
      if (dst.space != Space::global) return std::nullopt;
      return fmt::format(
          "fill works on tiles of a core, and {0} is global memory; fill a tile in shared(...) and copy that to {0}",
          dst.name);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace tilewright::ascend
