#include "ir/rules.h"

#include <fmt/format.h>

#include <optional>

#include "ir/build.h"
#include "tilewright/layout.h"

namespace tilewright::ir {
namespace {

std::string indices_fault(const Exprs& list, std::string_view what) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i]) return fmt::format("{} {} is missing", what, i);
    if (!list[i]->dtype.is_int())
      return fmt::format("{} {} is {}; it must be an integer", what, i, to_string(list[i]->dtype));
  }
  return {};
}

/// Extents, strides and offsets: passes compute with them in i64.
std::string measures_fault(const Exprs& list, std::string_view what) {
  if (std::string f = indices_fault(list, what); !f.empty()) return f;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i]->dtype != i64) return fmt::format("{} {} is {}; it must be i64", what, i, to_string(list[i]->dtype));
  return {};
}

std::string fault_of(const Buffer& b) {
  if (b.name.empty()) return "a buffer has no name";
  if (std::string f = measures_fault(b.shape, fmt::format("{}: extent", b.name)); !f.empty()) return f;
  if (std::string f = measures_fault(b.strides, fmt::format("{}: stride", b.name)); !f.empty()) return f;
  for (const Expr& e : b.shape)
    if (int64_t n; is_constant(e, &n) && n < 0) return fmt::format("{}: the extent {} is negative", b.name, n);
  if (!b.strides.empty() && b.space != Space::global)
    return fmt::format("{}: only a global buffer has strides, this one is {}", b.name,
                       kSpaceNames[static_cast<int>(b.space)]);
  if (!b.strides.empty() && b.strides.size() != b.shape.size())
    return fmt::format("{}: {} strides for rank {}", b.name, b.strides.size(), b.shape.size());
  if (b.offset < -1) return fmt::format("{}: the offset {} is negative", b.name, b.offset);
  if (!b.layout.empty()) {
    try {
      const Coord shape = parse_layout(b.layout).shape();
      bool same = shape.size() == b.shape.size();
      for (size_t i = 0; same && i < shape.size(); ++i) same = is_constant_equal(b.shape[i], shape[i]);
      if (!same) return fmt::format("{}: the layout {} has another shape", b.name, b.layout);
    } catch (const UserError& e) {
      return fmt::format("{}: {}", b.name, e.message());
    }
  }
  return {};
}

std::string access_fault(const Ref<Buffer>& b, const Exprs& at, std::string_view what) {
  if (!b) return fmt::format("{}: no buffer", what);
  if (at.size() != b->shape.size())
    return fmt::format("{} {}: {} indices, but its rank is {}", what, b->name, at.size(), b->shape.size());
  return indices_fault(at, fmt::format("{} {}: index", what, b->name));
}

std::string fault_of(const Region& r, std::string_view role = "region") {
  if (!r.buffer) return fmt::format("{}: no buffer", role);
  const Buffer& b = *r.buffer;
  if (r.offset.size() != b.shape.size() || r.extent.size() != b.shape.size())
    return fmt::format("{}: {} offsets and {} extents, but {} has rank {}", role, r.offset.size(), r.extent.size(),
                       b.name, b.shape.size());
  if (std::string f = measures_fault(r.offset, fmt::format("{}: offset", role)); !f.empty()) return f;
  if (std::string f = measures_fault(r.extent, fmt::format("{}: extent", role)); !f.empty()) return f;
  for (const Expr& e : r.extent)
    if (int64_t n; is_constant(e, &n) && n < 0) return fmt::format("{}: the extent {} is negative", role, n);
  return {};
}
std::string fault_of(const Ref<Region>& r, std::string_view role) {
  return r ? fault_of(*r, role) : fmt::format("{}: no region", role);
}

std::string loop_fault(const std::vector<Ref<Var>>& vars, const Exprs& extents, const Stmt& body,
                       std::string_view what) {
  if (vars.size() != extents.size())
    return fmt::format("{}: {} variables for {} extents", what, vars.size(), extents.size());
  for (const auto& v : vars) {
    if (!v) return fmt::format("{}: a variable is missing", what);
    if (!v->type.is_int())
      return fmt::format("{}: {} is {}; a loop variable must be an integer", what, v->name, to_string(v->type));
  }
  if (!body) return fmt::format("{}: no body", what);
  return measures_fault(extents, fmt::format("{}: extent", what));
}

std::string fault_of(const Grid& n) {
  if (n.threads < 1) return fmt::format("grid: threads is {}; it must be at least 1", n.threads);
  return loop_fault(n.vars, n.extents, n.body, "grid");
}
std::string fault_of(const For& n) {
  // One iteration that one thread runs.
  if (n.vars.empty() && n.how != LoopKind::parallel) return "for: no variable";
  if (n.stages < 0) return fmt::format("for: stages is {}; it must not be negative", n.stages);
  if (n.stages > 0 && n.how != LoopKind::pipelined)
    return fmt::format("for: only a pipelined loop has stages, this one is {}", kLoopNames[static_cast<int>(n.how)]);
  return loop_fault(n.vars, n.extents, n.body, "for");
}
std::string fault_of(const When& n) {
  if (!n.cond || !n.cond->dtype.is_bool() || n.cond->dtype.lanes != 1)
    return fmt::format("when: the condition is {}; it must be bool", n.cond ? to_string(n.cond->dtype) : "missing");
  if (!n.then) return "when: no body";
  return {};
}
std::string fault_of(const Let& n) {
  if (!n.var || !n.value) return "let: the variable or the value is missing";
  if (n.var->type != n.value->dtype)
    return fmt::format("let: {} is {}, but its value is {}", n.var->name, to_string(n.var->type),
                       to_string(n.value->dtype));
  return {};
}
std::string fault_of(const Shuffle& n) {
  if (!n.var || !n.value) return "shuffle: the variable or the value is missing";
  if (n.var->type != n.value->dtype)
    return fmt::format("shuffle: {} is {}, but its value is {}", n.var->name, to_string(n.var->type),
                       to_string(n.value->dtype));
  if (n.mask < 1) return fmt::format("shuffle: the lane mask {} is below 1", n.mask);
  return {};
}
std::string fault_of(const Mma& n) {
  if (n.unit.empty()) return "mma: no unit";
  for (const auto& [buffer, at] : {std::pair(&n.a, &n.a_at), std::pair(&n.b, &n.b_at), std::pair(&n.c, &n.c_at)}) {
    if (!*buffer || !*at) return "mma: an operand is missing";
    if (std::string f = access_fault(*buffer, {*at}, "mma"); !f.empty()) return f;
  }
  return {};
}
std::string fault_of(const Alloc& n) {
  if (!n.buffer) return "alloc: no buffer";
  if (n.buffer->space == Space::global)
    return fmt::format("alloc: {} is global; global tensors are parameters (runtime memory is workspace)",
                       n.buffer->name);
  return fault_of(*n.buffer);
}

std::string type_fault(const Expr& value, DType want, std::string_view what, std::string_view buffer) {
  if (!value) return fmt::format("{} {}: no value", what, buffer);
  if (value->dtype == want) return {};
  return fmt::format("{} {}: the value is {}, but {} holds {}", what, buffer, to_string(value->dtype), buffer,
                     to_string(want));
}
std::string fault_of(const Store& n) {
  if (std::string f = access_fault(n.buffer, n.indices, "store to"); !f.empty()) return f;
  return type_fault(n.value, n.buffer->dtype, "store to", n.buffer->name);
}

/// The extents without those that are 1; nothing when one is no constant.
std::optional<std::vector<int64_t>> squeezed(const Exprs& extents) {
  std::vector<int64_t> result;
  for (const Expr& e : extents) {
    int64_t n;
    if (!is_constant(e, &n)) return std::nullopt;
    if (n != 1) result.push_back(n);
  }
  return result;
}

std::string fault_of(const Copy& n) {
  if (std::string f = fault_of(n.src, "copy: source"); !f.empty()) return f;
  if (std::string f = fault_of(n.dst, "copy: destination"); !f.empty()) return f;
  auto from = squeezed(n.src->extent), to = squeezed(n.dst->extent);
  if (from && to && *from != *to)
    return fmt::format("copy: the source is {} but the destination is {}",
                       shape_text(n.src->buffer->dtype, n.src->extent),
                       shape_text(n.dst->buffer->dtype, n.dst->extent));
  return n.fill ? type_fault(n.fill, n.src->buffer->dtype, "copy: fill of", n.src->buffer->name) : std::string();
}
std::string fault_of(const Fill& n) {
  if (std::string f = fault_of(n.dst, "fill: destination"); !f.empty()) return f;
  return type_fault(n.value, n.dst->buffer->dtype, "fill", n.dst->buffer->name);
}

std::string fault_of(const Gemm& n) {
  if (std::string f = fault_of(n.a, "gemm: a"); !f.empty()) return f;
  if (std::string f = fault_of(n.b, "gemm: b"); !f.empty()) return f;
  if (std::string f = fault_of(n.c, "gemm: c"); !f.empty()) return f;
  auto text = [](const Region& r) { return shape_text(r.buffer->dtype, r.extent); };
  for (const Ref<Region>* r : {&n.a, &n.b, &n.c}) {
    const Exprs& extent = (*r)->extent;
    if (extent.size() < 2) return fmt::format("gemm: {} is {}; a matrix is needed", (*r)->buffer->name, text(**r));
    for (size_t i = 0; i + 2 < extent.size(); ++i)
      if (!is_constant_equal(extent[i], 1))
        return fmt::format("gemm: {} is {}; all extents but the last two must be 1", (*r)->buffer->name, text(**r));
  }
  auto extent = [](const Ref<Region>& r, bool second) { return r->extent[r->extent.size() - (second ? 1 : 2)]; };
  auto differ = [](const Expr& x, const Expr& y) {
    int64_t m, k;
    return is_constant(x, &m) && is_constant(y, &k) && m != k;
  };
  std::string_view what;
  if (differ(extent(n.a, !n.transpose_a), extent(n.b, n.transpose_b))) what = "inner extents";
  if (differ(extent(n.a, n.transpose_a), extent(n.c, false))) what = "rows of a and c";
  if (differ(extent(n.b, !n.transpose_b), extent(n.c, true))) what = "columns of b and c";
  if (!what.empty())
    return fmt::format("gemm: a is {}{}, b is {}{} and c is {}: the {} differ", text(*n.a),
                       n.transpose_a ? " transposed" : "", text(*n.b), n.transpose_b ? " transposed" : "", text(*n.c),
                       what);
  if (n.c->buffer->dtype.is_bool() || n.a->buffer->dtype.is_bool() || n.b->buffer->dtype.is_bool())
    return "gemm: bool has no products";
  return {};
}

std::string fault_of(const Reduce& n) {
  if (std::string f = fault_of(n.src, "reduce: source"); !f.empty()) return f;
  if (std::string f = fault_of(n.dst, "reduce: destination"); !f.empty()) return f;
  const Exprs &from = n.src->extent, &to = n.dst->extent;
  if (n.axis < 0 || n.axis >= static_cast<int64_t>(from.size()))
    return fmt::format("reduce: axis {} of a source of rank {}", n.axis, from.size());
  Exprs without = from, with_one = from;
  without.erase(without.begin() + n.axis);
  with_one[n.axis] = index(1);
  auto agrees = [&](const Exprs& want) {
    if (want.size() != to.size()) return false;
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t x, y;
      if (is_constant(want[i], &x) && is_constant(to[i], &y) && x != y) return false;
    }
    return true;
  };
  if (!agrees(without) && !agrees(with_one))
    return fmt::format("reduce: the source is {}, its axis {} goes, but the destination is {}",
                       shape_text(n.src->buffer->dtype, from), n.axis, shape_text(n.dst->buffer->dtype, to));
  return {};
}

std::string fault_of(const Covers& n) {
  if (!n.buffer) return "covers: no buffer";
  if (n.buffer->space != Space::global) return fmt::format("covers: {} is not a tensor argument", n.buffer->name);
  return {};
}
std::string fault_of(const OnEngine& n) {
  if (n.engine.empty()) return "on: no engine";
  return n.body ? std::string() : "on: no body";
}
template <class Flag>
std::string flag_fault(const Flag& n, std::string_view what) {
  if (n.from.empty() || n.to.empty()) return fmt::format("{}: an engine is missing", what);
  if (n.from == n.to)
    return fmt::format("{}: from {} to itself; an engine needs an engine_barrier, not a flag", what, n.from);
  if (n.id < 0) return fmt::format("{}: the id {} is negative", what, n.id);
  return {};
}
std::string fault_of(const SetFlag& n) { return flag_fault(n, "set_flag"); }
std::string fault_of(const WaitFlag& n) { return flag_fault(n, "wait_flag"); }
std::string fault_of(const EngineBarrier& n) { return n.engine.empty() ? "engine_barrier: no engine" : ""; }

std::string fault_of(const Seq& n) {
  for (const Stmt& s : n.stmts)
    if (!s) return "seq: a statement is missing";
  return {};
}
std::string fault_of(const Kernel& k) {
  if (!k.body) return fmt::format("kernel {}: no body", k.name);
  for (const auto& b : k.params)
    if (!b) return fmt::format("kernel {}: a parameter is missing", k.name);
  for (const auto& b : k.params)
    if (b->space != Space::global)
      return fmt::format("{} is {}; a parameter must be global", b->name, kSpaceNames[static_cast<int>(b->space)]);
  for (const auto& v : k.scalars)
    if (!v) return fmt::format("kernel {}: a scalar is missing", k.name);
  return {};
}
template <class T>
std::string fault_of(const T&) {
  return {};
}

}  // namespace

std::string shape_text(DType dtype, const Exprs& extents) {
  std::string text = to_string(dtype) + "[";
  for (size_t i = 0; i < extents.size(); ++i) {
    int64_t n;
    if (i) text += ", ";
    text += is_constant(extents[i], &n) ? std::to_string(n) : "?";
  }
  return text + "]";
}

std::string broken_rule(const Node& node) {
  return dispatch(node, [](const auto& n) { return std::string(fault_of(n)); });
}

}  // namespace tilewright::ir
