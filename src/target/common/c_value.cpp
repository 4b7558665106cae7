#include "target/common/c_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ir/build.h"

namespace tilewright {
namespace {

using namespace ir;

constexpr int kDeepest = 24;  // operators inside each other on one line
constexpr int kLargest = 64;  // nodes of a side of a select that reads memory
constexpr int kHuge = 1 << 20;

/// The values that the text of a node is made of. A load's are its indices and the strides of a global tensor.
void append_values(const ExprNode& node, std::vector<const ExprNode*>& out) {
  switch (node.kind) {
    case Kind::Unary:
      out.push_back(static_cast<const Unary&>(node).a.get());
      break;
    case Kind::Binary:
      out.push_back(static_cast<const Binary&>(node).a.get());
      out.push_back(static_cast<const Binary&>(node).b.get());
      break;
    case Kind::Select: {
      const auto& n = static_cast<const Select&>(node);
      for (const Expr* e : {&n.cond, &n.a, &n.b}) out.push_back(e->get());
      break;
    }
    case Kind::Fma: {
      const auto& n = static_cast<const Fma&>(node);
      for (const Expr* e : {&n.a, &n.b, &n.c}) out.push_back(e->get());
      break;
    }
    case Kind::Cast:
      out.push_back(static_cast<const Cast&>(node).a.get());
      break;
    case Kind::Load: {
      const auto& n = static_cast<const Load&>(node);
      for (const Expr& e : n.indices) out.push_back(e.get());
      for (const Expr& e : n.buffer->strides) out.push_back(e.get());
      break;
    }
    default:
      break;
  }
}

/// The first of a node's values that is evaluated only sometimes; all after it are too.
size_t first_conditional(const ExprNode& node, size_t count) {
  const auto* b = as<Binary>(&node);
  return node.kind == Kind::Select || (b && is_logical(b->op)) ? 1 : count;
}

bool is_leaf(const ExprNode& node) { return node.kind == Kind::Const || node.kind == Kind::Var; }

/// The type that an operator computes in: integers below 32 bits are widened, and cut after.
DType computed(DType t) { return t.is_int() && t.bits < 32 ? (t.is_signed_int() ? i32 : u32) : t; }

/// What an access multiplies index `d` with: the product of the extents behind it.
int64_t row_major_stride(const Buffer& buffer, size_t d) {
  int64_t stride = 1, extent = 1;
  for (size_t k = d + 1; k < buffer.shape.size(); ++k) {
    TW_CHECK(is_constant(buffer.shape[k], &extent), "C text: the extent of a tile is not a constant");
    stride *= extent;
  }
  return stride;
}

}  // namespace

/// Values before the values made of them, each once. `planned`: not those that an if statement prints in its own block.
std::vector<const ExprNode*> CValue::order(const std::vector<const ExprNode*>& roots, bool planned) const {
  std::vector<const ExprNode*> done, children;
  std::vector<std::pair<const ExprNode*, bool>> stack;
  PointerMap<bool> seen;
  for (size_t i = roots.size(); i-- > 0;) stack.emplace_back(roots[i], false);
  while (!stack.empty()) {
    auto [node, leaving] = stack.back();
    stack.pop_back();
    if (leaving) {
      done.push_back(node);
      continue;
    }
    if (!seen.insert(node, true).second) continue;
    stack.emplace_back(node, true);
    if (named_.contains(node)) continue;
    children.clear();
    append_values(*node, children);
    size_t count = children.size();
    if (planned && plans_.find(node)->statement) count = 1;
    for (size_t i = count; i-- > 0;) stack.emplace_back(children[i], false);
  }
  return done;
}

void CValue::plan(const std::vector<const ExprNode*>& roots) {
  std::vector<const ExprNode*> nodes = order(roots, false), children;
  for (const ExprNode* node : nodes) plans_[node] = Plan();
  for (const ExprNode* root : roots) plans_[root].always = true;
  for (size_t k = nodes.size(); k-- > 0;) {  // users before what they use
    if (named_.contains(nodes[k])) continue;
    bool always = plans_[nodes[k]].always;
    children.clear();
    append_values(*nodes[k], children);
    size_t conditional = first_conditional(*nodes[k], children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      Plan& child = plans_[children[i]];
      ++child.uses;
      child.always |= always && i < conditional;
    }
  }
  for (const ExprNode* node : nodes) {
    if (is_leaf(*node) || named_.contains(node)) continue;
    children.clear();
    append_values(*node, children);
    Plan p = plans_[node];
    p.reads = node->kind == Kind::Load;
    p.size = 1;
    size_t conditional = first_conditional(*node, children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      const Plan& child = *plans_.find(children[i]);
      p.reads |= child.reads;
      p.depth = std::max(p.depth, child.depth);
      p.size = std::min(kHuge, p.size + child.size);
      p.statement |= i >= conditional && child.reads && (child.size > kLargest || child.depth >= kDeepest);
    }
    ++p.depth;
    if (p.statement) p.size = kHuge;  // so that a choice around one that is not always made becomes a statement too
    p.hoisted = (p.always || !p.reads) && (p.statement || p.uses > 1 || p.depth >= kDeepest);
    if (p.hoisted) p.reads = false, p.depth = 0, p.size = 1;
    plans_[node] = p;
  }
}

void CValue::print(const std::vector<const ExprNode*>& roots) {
  plan(roots);
  for (const ExprNode* node : order(roots, true)) {
    if (named_.contains(node)) continue;
    Plan p = *plans_.find(node);
    TW_CHECK(!p.statement || p.hoisted, "C text: a choice in a place that has no line");
    if (!p.hoisted) {
      texts_[node] = print(*node);
      continue;
    }
    std::string name = out_.fresh_constant(), type = dialect_.type_name(node->dtype);
    if (p.statement) {
      out_.line(fmt::format("{} {};", type, name));
      print_choice(*node, name);
    } else {
      out_.line(fmt::format("const {} {} = {};", type, name, CText::bare(print(*node))));
    }
    texts_[node] = name;
    named_[node] = true;
  }
}

/// if (cond) { name = a; } else { name = b; }, each side in a block with constants of its own.
void CValue::print_choice(const ExprNode& node, const std::string& name) {
  std::vector<const ExprNode*> values;
  append_values(node, values);
  const auto* logical = as<Binary>(&node);
  auto side = [&](const ExprNode* value, const char* otherwise) {
    if (!value) return out_.line(fmt::format("{} = {};", name, otherwise));
    CValue inner(out_);
    inner.texts_ = texts_;
    inner.named_ = named_;
    std::string text = inner.run(*value);
    out_.line(fmt::format("{} = {};", name, CText::bare(text)));
  };
  bool is_or = logical && logical->op == BinaryOp::logical_or;
  out_.open(fmt::format("if ({})", CText::bare(*texts_.find(values[0]))));
  side(is_or ? nullptr : values[1], "true");
  out_.reopen("} else {");
  side(logical ? (is_or ? values[1] : nullptr) : values[2], "false");
  out_.close();
}

std::string CValue::run(const ExprNode& root) {
  print({&root});
  return *texts_.find(&root);
}

std::string CValue::run_offset(const Buffer& buffer, const Exprs& indices) {
  std::vector<const ExprNode*> roots;
  for (const Expr& e : indices) roots.push_back(e.get());
  for (const Expr& e : buffer.strides) roots.push_back(e.get());
  print(roots);
  return offset(buffer, indices);
}

// ---- texts of single nodes ------------------------------------------------------------------------------------------

std::string CValue::call(std::string_view name, std::initializer_list<std::string> arguments) const {
  std::string list;
  for (const std::string& a : arguments) list += (list.empty() ? "" : ", ") + CText::bare(a);
  return fmt::format("{}{}({})", dialect_.rules, name, list);
}

std::string CValue::as(DType to, DType from, const std::string& text) const {
  return to == from ? text : fmt::format("{}({})", dialect_.type_name(to), CText::bare(text));
}

/// An operand of a built-in operator: a literal needs no suffix beside a value that is none.
std::string CValue::operand(const Expr& e, const Expr& sibling) const {
  const auto* c = ir::as<Const>(e);
  bool plain = c && c->value.type == i64 && c->value.as_int() >= 0 && !ir::as<Const>(sibling);
  return plain ? fmt::format("{}", c->value.as_int()) : text(e);
}

/// Whether the exact result of a sum, difference or product is a value of the type, so that the built-in operator,
/// which may not overflow, has it.
bool CValue::fits(const Binary& n) const {
  if (!n.dtype.is_signed_int()) return true;  // unsigned operators wrap
  Range a = out_.known().range(n.a), b = out_.known().range(n.b), type = range_of_type(n.dtype), result;
  if (n.op == BinaryOp::add) {
    result = {a.lo + b.lo, a.hi + b.hi};
  } else if (n.op == BinaryOp::sub) {
    result = {a.lo - b.hi, a.hi - b.lo};
  } else {
    Wide corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    result = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  return result.within(type);
}

std::string CValue::binary(const Binary& n) const {
  DType type = n.a->dtype, wide = computed(type);
  auto plain = [&](std::string_view op) {
    return fmt::format("({} {} {})", as(wide, type, operand(n.a, n.b)), op, as(wide, type, operand(n.b, n.a)));
  };
  auto rule = [&](std::string_view name) { return call(name, {as(wide, type, text(n.a)), as(wide, type, text(n.b))}); };
  auto cut = [&](const std::string& text) { return as(type, wide, text); };
  switch (n.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
      if (type.is_int() && wide == type && !fits(n)) return rule(name_of(n.op));
      return type == wide ? plain(spelling_of(n.op)) : cut(rule(name_of(n.op)));
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
      if (wide == type && out_.known().range(n.a).lo >= 0 && out_.known().range(n.b).lo > 0)
        return plain(n.op == BinaryOp::floordiv ? "/" : "%");
      return cut(rule(name_of(n.op)));
    case BinaryOp::logical_and:
      return plain("&&");
    case BinaryOp::logical_or:
      return plain("||");
    case BinaryOp::div:
      return plain("/");
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return cut(plain(spelling_of(n.op)));
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return plain(spelling_of(n.op));
    default:  // shifts too: by the width of a narrow type or more, the cut leaves 0, or the sign
      return cut(rule(name_of(n.op)));
  }
}

std::string CValue::unary(const Unary& n) const {
  DType type = n.a->dtype, wide = computed(type);
  std::string a = as(wide, type, text(n.a));
  switch (n.op) {
    case UnaryOp::logical_not:
      return "!" + a;
    case UnaryOp::bit_not:
      return as(type, wide, "(~" + a + ")");
    case UnaryOp::neg:
      return type.is_float() ? "(-" + a + ")" : as(type, wide, call("neg", {a}));
    case UnaryOp::is_nan:
      return call("is_nan", {a});
    default:
      return as(type, wide, call(name_of(n.op), {a}));
  }
}

std::string CValue::cast(const Cast& n) const {
  DType from = n.a->dtype, to = n.type;
  std::string a = text(n.a);
  if (from == to) return a;
  if (from.is_narrow_float()) {
    a = dialect_.widen(from, CText::bare(a));
    from = f32;
  }
  if (to == from) return a;
  if (to.is_narrow_float()) return dialect_.narrow(to, CText::bare(a), n.overflow);
  if (to.is_bool()) return fmt::format("({} != 0)", a);
  if (from.is_float() && to.is_int())
    return fmt::format("{}to_int<{}>({})", dialect_.rules, dialect_.type_name(to), CText::bare(a));
  return as(to, from, a);
}

std::string CValue::offset(const Buffer& buffer, const Exprs& indices) const {
  std::string sum;
  auto integer = [&](const Expr& e) {
    int64_t v = 0;
    return is_constant(e, &v) && v >= 0 ? fmt::format("{}", v) : as(i64, e->dtype, text(e));
  };
  int64_t constant = 0;
  for (size_t d = 0; d < indices.size(); ++d) {
    int64_t at = 0, stride = 0;
    bool known_stride = buffer.space != Space::global || is_constant(buffer.strides[d], &stride);
    if (buffer.space != Space::global) stride = row_major_stride(buffer, d);
    bool known_index = is_constant(indices[d], &at);
    if ((known_index && at == 0) || (known_stride && stride == 0)) continue;
    if (known_index && known_stride) {
      constant += at * stride;
      continue;
    }
    std::string term = known_stride ? fmt::format("{}", stride) : integer(buffer.strides[d]);
    if (known_index && at == 1)
      ;
    else if (known_stride && stride == 1)
      term = integer(indices[d]);
    else
      term = fmt::format("{} * {}", integer(indices[d]), term);
    sum += (sum.empty() ? "" : " + ") + term;
  }
  if (sum.empty()) return fmt::format("{}", constant);
  return constant ? fmt::format("{} + {}", sum, constant) : CText::bare(sum);
}

std::string CValue::print(const ExprNode& node) const {
  switch (node.kind) {
    case Kind::Const:
      return c_literal(static_cast<const Const&>(node).value, dialect_);
    case Kind::Var:
      return static_cast<const Var&>(node).name;
    case Kind::Unary:
      return unary(static_cast<const Unary&>(node));
    case Kind::Binary:
      return binary(static_cast<const Binary&>(node));
    case Kind::Select: {
      const auto& n = static_cast<const Select&>(node);
      return fmt::format("({} ? {} : {})", text(n.cond), text(n.a), text(n.b));
    }
    case Kind::Fma: {
      const auto& n = static_cast<const Fma&>(node);
      return call("fma", {text(n.a), text(n.b), text(n.c)});
    }
    case Kind::Cast:
      return cast(static_cast<const Cast&>(node));
    case Kind::Load: {
      const auto& n = static_cast<const Load&>(node);
      return dialect_.read(*n.buffer, offset(*n.buffer, n.indices));
    }
    default:
      TW_CHECK(false, "C text: not an expression");
      return {};
  }
}

}  // namespace tilewright
