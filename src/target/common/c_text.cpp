#include "target/common/c_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "target/common/c_value.h"

namespace tilewright {

using namespace ir;

std::string c_literal(Scalar v, const Dialect& dialect) {
  if (v.type.is_bool()) return v.as_bool() ? "true" : "false";
  if (v.type.is_int()) {
    if (v.type == i64)
      return v.as_int() == INT64_MIN ? "(-9223372036854775807LL - 1)" : fmt::format("{}LL", v.as_int());
    if (v.type == i32) return v.as_int() == INT32_MIN ? "(-2147483647 - 1)" : fmt::format("{}", v.as_int());
    if (v.type == u64) return fmt::format("{}ULL", v.bits);
    if (v.type == u32) return fmt::format("{}u", v.bits);
    return fmt::format("{}({})", dialect.type_name(v.type), v.as_int());
  }
  double d = v.as_double();
  if (v.type.is_narrow_float())
    return dialect.narrow(v.type, c_literal(Scalar::of_float(f32, d), dialect), Overflow::saturate);
  if (v.type == f32 && !std::isfinite(d))
    return fmt::format("{}hw::f32_of(0x{:08x}u)", dialect.rules, static_cast<uint32_t>(encode(f32, d)));
  if (!std::isfinite(d)) return std::isnan(d) ? "(0.0 / 0.0)" : d < 0 ? "(-1.0 / 0.0)" : "(1.0 / 0.0)";
  std::string text = v.type == f32 ? fmt::format("{}", static_cast<float>(d)) : fmt::format("{}", d);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (v.type == f32) text += "f";
  return std::signbit(d) ? "(" + text + ")" : text;
}

void CText::line(const std::string& text) {
  text_ += text.empty() ? "\n" : std::string(static_cast<size_t>(2 * depth_), ' ') + text + "\n";
  lines_.push_back(at_);
}
void CText::open(const std::string& head) {
  line(head.empty() ? "{" : head + " {");
  ++depth_;
}
void CText::close(const std::string& tail) {
  --depth_;
  line(tail);
}

void CText::reopen(const std::string& text) {
  close(text);
  ++depth_;
}

std::string CText::value(const Expr& e) { return CValue(*this).run(*e); }
std::string CText::index(const Expr& e) { return CValue(*this, true).run(*e); }
std::string CText::offset(const Buffer& buffer, const Exprs& indices) {
  return CValue(*this).run_offset(buffer, indices);
}

std::string CText::fresh_constant() { return fmt::format("v{}", constants_++); }

std::pair<std::string, bool> CText::type_of(const Expr& e) const {
  const Range fits{INT32_MIN, INT32_MAX - 1};  // a loop's variable is one more at the end
  const bool is_short = e->dtype == i64 && !dialect_.short_index.empty() && known_.range(e).within(fits);
  return {is_short ? dialect_.short_index : dialect_.type_name(e->dtype), is_short};
}

std::string CText::declare(const Ref<Var>& v, Range range) {
  if (v->type.is_int()) known_.bind(v, range);
  auto [type, is_short] = type_of(v);
  if (is_short) short_.insert(v->name);
  return type;
}

void CText::statement(const Stmt& s) {
  if (s->at) at_ = s->at;
  if (dialect_.statement(s, *this)) return;
  switch (s->kind) {
    case Kind::Seq:
      for (const Stmt& child : static_cast<const Seq&>(*s).stmts) statement(child);
      break;
    case Kind::For: {
      const auto& loop = static_cast<const For&>(*s);
      std::vector<std::string> extents;
      for (const Expr& e : loop.extents) extents.push_back(value(e));
      for (size_t d = 0; d < loop.vars.size(); ++d) {
        const Ref<Var>& v = loop.vars[d];
        const std::string& extent = extents[d];
        const std::string type = declare(v, {0, std::max<Wide>(0, known_.range(loop.extents[d]).hi - 1)});
        if (loop.how == LoopKind::unroll || loop.how == LoopKind::vectorized) line("#pragma unroll");
        open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", type, v->name, extent));
      }
      const size_t mark = known_.mark();
      for (size_t d = 0; d < loop.vars.size(); ++d)
        known_.assume(ir::binary(BinaryOp::lt, loop.vars[d], cast_to(loop.vars[d]->type, loop.extents[d])));
      statement(loop.body);
      known_.release(mark);
      for (size_t d = 0; d < loop.vars.size(); ++d) close();
      break;
    }
    case Kind::When: {
      const auto& when = static_cast<const When&>(*s);
      open(fmt::format("if ({})", value(when.cond)));
      const size_t mark = known_.mark();
      known_.assume(when.cond);
      statement(when.then);
      known_.release(mark);
      if (when.otherwise) {
        reopen("} else {");
        known_.assume(when.cond, false);
        statement(when.otherwise);
        known_.release(mark);
      }
      close();
      break;
    }
    case Kind::Let: {
      const auto& let = static_cast<const Let&>(*s);
      const std::string v = value(let.value);
      const std::string type = declare(let.var, let.var->type.is_int() ? known_.range(let.value) : Range{});
      if (let.var->type.is_int()) known_.assume(ir::binary(BinaryOp::eq, let.var, let.value));
      line(fmt::format("const {} {} = {};", type, let.var->name, v));
      break;
    }
    case Kind::Shuffle: {
      const auto& shuffle = static_cast<const Shuffle&>(*s);
      const std::string v = value(shuffle.value);
      const std::string type =
          declare(shuffle.var, shuffle.var->type.is_int() ? range_of_type(shuffle.var->type) : Range{});
      line(fmt::format("const {} {} = {}shuffle_xor({}, {});", type, shuffle.var->name, dialect_.rules, v,
                       shuffle.mask));
      break;
    }
    case Kind::Store: {
      const auto& store = static_cast<const Store&>(*s);
      const std::string v = value(store.value);
      line(dialect_.write(*store.buffer, offset(*store.buffer, store.indices), v));
      break;
    }
    default:
      throw InternalError(
          fmt::format("C text: a statement of kind {} is left in the final form", static_cast<int>(s->kind)), s->at);
  }
}

}  // namespace tilewright
