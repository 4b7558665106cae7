#include "target/common/c_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "base/pointer_map.h"
#include "ir/build.h"
#include "ir/walk.h"

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

namespace {

constexpr int kDeepest = 24;  // levels of one expression on a line

/// Prints one expression. Shared and deep parts without memory reads become constants first.
class Value {
 public:
  Value(CText& out, int& constants, bool index)
      : out_(out), dialect_(out.dialect()), constants_(constants), index_(index) {}

  std::string run(const Expr& root) {
    std::vector<const Node*> order;
    PointerMap<int> uses;
    post_order(root, [&](const Node& node) {
      if (!is_expr(node.kind)) return;
      order.push_back(&node);
      std::vector<const Node*> children;
      append_children(node, children);
      for (const Node* c : children) ++uses[c];
    });
    for (const Node* node : order) {
      Part part = print(*node);
      bool leaf = node->kind == Kind::Const || node->kind == Kind::Var;
      int* count = uses.find(node);
      if (!leaf && !part.reads && ((count && *count > 1) || part.depth >= kDeepest)) {
        std::string name = fmt::format("v{}", constants_++);
        out_.line(fmt::format("const {} {} = {};", dialect_.type_name(static_cast<const ExprNode*>(node)->dtype), name,
                              bare(part.text)));
        part = {name, 0, false};
      }
      parts_.insert(node, std::move(part));
    }
    return part(root).text;
  }

 private:
  struct Part {
    std::string text;
    int depth = 0;
    bool reads = false;
  };

  const Part& part(const Expr& e) const { return *parts_.find(e.get()); }

  /// Without the outer parentheses.
  static std::string bare(const std::string& s) {
    if (s.size() < 2 || s.front() != '(' || s.back() != ')') return s;
    int open = 0;
    for (size_t i = 0; i < s.size(); ++i) {
      open += s[i] == '(' ? 1 : s[i] == ')' ? -1 : 0;
      if (open == 0 && i + 1 < s.size()) return s;
    }
    return s.substr(1, s.size() - 2);
  }

  Part join(std::string text, std::initializer_list<const Expr*> operands) const {
    Part result{std::move(text), 0, false};
    for (const Expr* e : operands) {
      result.depth = std::max(result.depth, part(*e).depth);
      result.reads |= part(*e).reads;
    }
    ++result.depth;
    return result;
  }

  std::string call(std::string_view name, std::initializer_list<std::string> arguments) const {
    std::string list;
    for (const std::string& a : arguments) list += (list.empty() ? "" : ", ") + bare(a);
    return fmt::format("{}{}({})", dialect_.rules, name, list);
  }

  /// The type that an operator computes in: integers below 32 bits are widened, and cut after.
  static DType computed(DType t) { return t.is_int() && t.bits < 32 ? (t.is_signed_int() ? i32 : u32) : t; }
  std::string as(DType to, DType from, const std::string& text) const {
    return to == from ? text : fmt::format("{}({})", dialect_.type_name(to), bare(text));
  }

  /// An operand of a rule, which is overloaded: an index constant says that it has 64 bits.
  std::string argument(const Expr& e, const std::string& text) const {
    const auto* constant = ir::as<Const>(e);
    return constant && constant->value.type == i64 ? c_literal(constant->value, dialect_) : text;
  }

  std::string binary_text(const Binary& n) const {
    DType type = n.a->dtype, wide = computed(type);
    std::string a = as(wide, type, part(n.a).text), b = as(wide, type, part(n.b).text);
    auto plain = [&](const char* op) { return fmt::format("({} {} {})", a, op, b); };
    auto rule = [&] { return call(name_of(n.op), {argument(n.a, a), argument(n.b, b)}); };
    auto cut = [&](std::string text) { return as(type, wide, text); };
    bool wraps = type.is_int() && !index_;
    switch (n.op) {
      case BinaryOp::add:
        return wraps ? cut(call("add", {a, b})) : plain("+");
      case BinaryOp::sub:
        return wraps ? cut(call("sub", {a, b})) : plain("-");
      case BinaryOp::mul:
        return wraps ? cut(call("mul", {a, b})) : plain("*");
      case BinaryOp::div:
        return plain("/");
      case BinaryOp::bit_and:
        return cut(plain("&"));
      case BinaryOp::bit_or:
        return cut(plain("|"));
      case BinaryOp::bit_xor:
        return cut(plain("^"));
      case BinaryOp::logical_and:
        return plain("&&");
      case BinaryOp::logical_or:
        return plain("||");
      case BinaryOp::eq:
        return plain("==");
      case BinaryOp::ne:
        return plain("!=");
      case BinaryOp::lt:
        return plain("<");
      case BinaryOp::le:
        return plain("<=");
      case BinaryOp::gt:
        return plain(">");
      case BinaryOp::ge:
        return plain(">=");
      case BinaryOp::shl:
      case BinaryOp::shr:
        // The amount's limit is the width of the declared type, not of the type that the operator computes in.
        if (wide != type)
          return cut(n.op == BinaryOp::shl
                         ? fmt::format("(({} < 0 || {} >= {}) ? 0 : {})", b, b, int(type.bits), call("shl", {a, b}))
                         : call("shr", {a, b}));
        return rule();
      default:
        return cut(rule());
    }
  }

  std::string unary_text(const Unary& n) const {
    DType type = n.a->dtype, wide = computed(type);
    std::string a = as(wide, type, part(n.a).text);
    switch (n.op) {
      case UnaryOp::logical_not:
        return "!" + a;
      case UnaryOp::bit_not:
        return as(type, wide, "(~" + a + ")");
      case UnaryOp::neg:
        return type.is_float() ? "(-" + a + ")" : as(type, wide, call("neg", {a}));
      default:
        return as(result_type(n.op, type), n.op == UnaryOp::is_nan ? boolean : wide, call(name_of(n.op), {a}));
    }
  }

  std::string cast_text(const Cast& n) const {
    DType from = n.a->dtype, to = n.type;
    std::string a = part(n.a).text;
    if (from.is_narrow_float()) {
      a = dialect_.widen(from, a);
      from = f32;
    }
    if (to == from) return a;
    if (to.is_narrow_float()) return dialect_.narrow(to, a, n.overflow);
    if (to.is_bool()) return fmt::format("({} != 0)", a);
    if (from.is_float() && to.is_int())
      return fmt::format("{}to_int<{}>({})", dialect_.rules, dialect_.type_name(to), bare(a));
    return fmt::format("{}({})", dialect_.type_name(to), bare(a));
  }

  Part print(const Node& node) const {
    switch (node.kind) {
      case Kind::Const: {
        const Scalar& v = static_cast<const Const&>(node).value;
        if (index_ && v.type == i64 && v.as_int() >= 0) return {fmt::format("{}", v.as_int()), 0, false};
        return {c_literal(v, dialect_), 0, false};
      }
      case Kind::Var:
        return {static_cast<const Var&>(node).name, 0, false};
      case Kind::Unary:
        return join(unary_text(static_cast<const Unary&>(node)), {&static_cast<const Unary&>(node).a});
      case Kind::Binary: {
        const auto& n = static_cast<const Binary&>(node);
        return join(binary_text(n), {&n.a, &n.b});
      }
      case Kind::Select: {
        const auto& n = static_cast<const Select&>(node);
        return join(fmt::format("({} ? {} : {})", part(n.cond).text, part(n.a).text, part(n.b).text),
                    {&n.cond, &n.a, &n.b});
      }
      case Kind::Fma: {
        const auto& n = static_cast<const Fma&>(node);
        return join(call("fma", {part(n.a).text, part(n.b).text, part(n.c).text}), {&n.a, &n.b, &n.c});
      }
      case Kind::Cast:
        return join(cast_text(static_cast<const Cast&>(node)), {&static_cast<const Cast&>(node).a});
      case Kind::Load: {
        const auto& n = static_cast<const Load&>(node);
        return {dialect_.read(*n.buffer, out_.offset(*n.buffer, n.indices)), 1, true};
      }
      default:
        TW_CHECK(false, "C text: not an expression");
        return {};
    }
  }

  CText& out_;
  const Dialect& dialect_;
  int& constants_;
  bool index_;
  PointerMap<Part> parts_;
};

bool reads_memory(const Expr& e) {
  bool found = false;
  post_order(e, [&](const Node& n) { found |= n.kind == Kind::Load; });
  return found;
}

}  // namespace

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

std::string CText::value(const Expr& e) { return Value(*this, constants_, false).run(e); }
std::string CText::index(const Expr& e) { return Value(*this, constants_, true).run(e); }

std::string CText::offset(const Buffer& buffer, const Exprs& indices) {
  Expr sum = ir::index(0), stride = ir::index(1);
  for (size_t d = indices.size(); d-- > 0;) {
    Expr step = buffer.space == Space::global ? buffer.strides[d] : stride;
    sum = add(mul(cast_to(i64, indices[d]), step), sum);
    if (buffer.space != Space::global) stride = mul(stride, buffer.shape[d]);
  }
  return index(sum);
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
      for (size_t d = 0; d < loop.vars.size(); ++d) {
        std::string extent = index(loop.extents[d]);
        if (loop.how == LoopKind::unroll || loop.how == LoopKind::vectorized) line("#pragma unroll");
        open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", dialect_.type_name(loop.vars[d]->type),
                         loop.vars[d]->name, extent));
      }
      statement(loop.body);
      for (size_t d = 0; d < loop.vars.size(); ++d) close();
      break;
    }
    case Kind::When: {
      const auto& when = static_cast<const When&>(*s);
      std::string cond = value(when.cond);
      open(fmt::format("if {}", cond.front() == '(' && cond.back() == ')' ? cond : "(" + cond + ")"));
      statement(when.then);
      if (when.otherwise) {
        close("} else {");
        ++depth_;
        statement(when.otherwise);
      }
      close();
      break;
    }
    case Kind::Let: {
      const auto& let = static_cast<const Let&>(*s);
      bool plain = let.value->dtype == i64 && !reads_memory(let.value);
      std::string v = plain ? index(let.value) : value(let.value);
      line(fmt::format("const {} {} = {};", dialect_.type_name(let.var->type), let.var->name, v));
      break;
    }
    case Kind::Store: {
      const auto& store = static_cast<const Store&>(*s);
      std::string v = value(store.value);
      line(dialect_.write(*store.buffer, offset(*store.buffer, store.indices), v));
      break;
    }
    default:
      throw InternalError(
          fmt::format("C text: a statement of kind {} is left in the final form", static_cast<int>(s->kind)), s->at);
  }
}

}  // namespace tilewright
