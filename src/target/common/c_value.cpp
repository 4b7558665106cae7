#include "target/common/c_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "ir/bounds.h"
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
    std::string name = out_.fresh_constant();
    auto [type, is_short] = out_.type_of(Expr(node));
    if (p.statement) {
      out_.line(fmt::format("{} {};", type, name));
      print_choice(*node, name);
    } else {
      out_.line(fmt::format("const {} {} = {};", type, name, print(*node).text));
    }
    texts_[node] = {name, kPrimary, is_short};
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
    CValue inner(out_, exact_);
    inner.texts_ = texts_;
    inner.named_ = named_;
    std::string text = inner.run(*value);
    out_.line(fmt::format("{} = {};", name, text));
  };
  bool is_or = logical && logical->op == BinaryOp::logical_or;
  out_.open(fmt::format("if ({})", texts_.find(values[0])->text));
  side(is_or ? nullptr : values[1], "true");
  out_.reopen("} else {");
  side(logical ? (is_or ? values[1] : nullptr) : values[2], "false");
  out_.close();
}

std::string CValue::run(const ExprNode& root) {
  print({&root});
  return texts_.find(&root)->text;
}

std::string CValue::run_offset(const Buffer& buffer, const Exprs& indices) {
  std::vector<const ExprNode*> roots;
  for (const Expr& e : indices) roots.push_back(e.get());
  for (const Expr& e : buffer.strides) roots.push_back(e.get());
  print(roots);
  return offset(buffer, indices);
}

// ---- texts of single nodes ------------------------------------------------------------------------------------------

/// In parentheses when its operator is looser than `loosest`.
std::string CValue::within(const Text& t, Level loosest) {
  return t.level > loosest ? fmt::format("({})", t.text) : t.text;
}

std::string CValue::call(std::string_view name, const std::vector<std::string>& arguments) const {
  return fmt::format("{}{}({})", dialect_.rules, name, fmt::join(arguments, ", "));
}

std::string CValue::converted(DType to, DType from, const Text& t) const {
  return to == from ? t.text : fmt::format("{}({})", dialect_.type_name(to), t.text);
}

/// A value of type i64 as a C++ value of that type.
std::string CValue::long_text(const Expr& e) const {
  const Text& t = text(e);
  if (!t.is_short) return t.text;
  const auto* c = ir::as<Const>(e);
  return c ? c_literal(c->value, dialect_) : fmt::format("{}({})", dialect_.type_name(i64), t.text);
}

/// Where the exact sum, difference or product lies.
Range CValue::exact_range(const Binary& n) const {
  const Range a = out_.known().range(n.a), b = out_.known().range(n.b);
  if (n.op == BinaryOp::add) return {a.lo + b.lo, a.hi + b.hi};
  if (n.op == BinaryOp::sub) return {a.lo - b.hi, a.hi - b.lo};
  const Wide corners[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// a op b. The right operand of an operator of the same level keeps its parentheses: rounding has an order.
CValue::Text CValue::infix(const Binary& n, Level level) const {
  const DType type = n.a->dtype, wide = computed(type);
  const Text &a = text(n.a), &b = text(n.b);
  auto operand = [&](const Text& t, Level loosest) {
    return wide == type ? within(t, loosest) : converted(wide, type, t);
  };
  Level left = level, right = static_cast<Level>(level - 1);
  if (level == kBits) left = right = kPrimary;  // readers do not know how tightly these bind
  if (level == kOrder || level == kEquality) left = right = kSum;
  return {fmt::format("{} {} {}", operand(a, left), spelling_of(n.op), operand(b, right)), level,
          type == i64 && n.dtype == i64 && a.is_short && b.is_short};
}

CValue::Text CValue::rule(const Binary& n) const {
  const DType type = n.a->dtype, wide = computed(type);
  const Text &a = text(n.a), &b = text(n.b);
  if (type != i64)
    return {converted(n.dtype, wide, {call(name_of(n.op), {converted(wide, type, a), converted(wide, type, b)})})};
  const bool is_short = a.is_short && b.is_short && out_.known().range(ref(&n)).within(range_of_type(i32));
  if (is_short) return {call(name_of(n.op), {a.text, b.text}), kPrimary, true};
  return {call(name_of(n.op), {long_text(n.a), long_text(n.b)})};
}

/// +, -, *.
CValue::Text CValue::arithmetic(const Binary& n) const {
  const Level level = n.op == BinaryOp::mul ? kProduct : kSum;
  if (n.dtype.is_float()) return infix(n, level);
  if (computed(n.dtype) != n.dtype) return rule(n);
  if (!n.dtype.is_signed_int()) return infix(n, level);  // unsigned operators wrap
  const Range range = exact_range(n);
  if (!exact_ && !range.within(range_of_type(n.dtype))) return rule(n);
  Text result = infix(n, level);
  if (!result.is_short || range.within(range_of_type(i32))) return result;
  return {fmt::format("{} {} {}", long_text(n.a), spelling_of(n.op), within(text(n.b), static_cast<Level>(level - 1))),
          level};
}

CValue::Text CValue::binary(const Binary& n) const {
  const DType type = n.a->dtype;
  auto cut = [&](const Text& t) { return computed(type) == type ? t : Text{converted(type, computed(type), t)}; };
  switch (n.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul:
      return arithmetic(n);
    case BinaryOp::floordiv:
    case BinaryOp::floormod: {
      if (computed(type) != type || out_.known().range(n.a).lo < 0 || out_.known().range(n.b).lo <= 0) return rule(n);
      Text result = infix(n, kProduct);
      const char* op = n.op == BinaryOp::floordiv ? "/" : "%";
      result.text = fmt::format("{} {} {}", within(text(n.a), kProduct), op, within(text(n.b), kUnary));
      return result;
    }
    case BinaryOp::div:
      return infix(n, kProduct);
    case BinaryOp::logical_and:
      return {fmt::format("{} && {}", within(text(n.a), kAnd), within(text(n.b), kEquality)), kAnd};
    case BinaryOp::logical_or:
      return {fmt::format("{} || {}", within(text(n.a), text(n.a).level == kOr ? kOr : kEquality),
                          within(text(n.b), kEquality)),
              kOr};
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      return cut(infix(n, kBits));
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return infix(n, kOrder);
    case BinaryOp::eq:
    case BinaryOp::ne:
      return infix(n, kEquality);
    case BinaryOp::shl:
      // The limit of the amount is the width of the declared type, not of the type that the operator computes in.
      if (computed(type) != type) {
        const std::string amount = converted(computed(type), type, text(n.b));
        return cut({fmt::format("{0} < 0 || {0} >= {1} ? 0 : {2}", amount, int(type.bits), rule(n).text), kChoice});
      }
      return rule(n);
    default:
      return rule(n);
  }
}

CValue::Text CValue::unary(const Unary& n) const {
  const DType type = n.a->dtype, wide = computed(type);
  const Text& a = text(n.a);
  switch (n.op) {
    case UnaryOp::logical_not:
      return {fmt::format("!{}", within(a, kPrimary)), kUnary};
    case UnaryOp::bit_not:
      if (wide != type) return {converted(type, wide, {fmt::format("~{}", converted(wide, type, a))})};
      return {fmt::format("~{}", within(a, kPrimary)), kUnary, a.is_short};
    case UnaryOp::neg:
      if (type.is_float()) return {fmt::format("-{}", within(a, kPrimary)), kUnary};
      break;
    case UnaryOp::is_nan:
      return {call("is_nan", {a.text})};
    default:
      break;
  }
  return {converted(type, wide, {call(name_of(n.op), {type == i64 ? long_text(n.a) : converted(wide, type, a)})})};
}

CValue::Text CValue::cast(const Cast& n) const {
  DType from = n.a->dtype;
  const DType to = n.type;
  Text a = text(n.a);
  if (from == to) return a;
  if (from.is_narrow_float()) {
    a = {dialect_.widen(from, a.text)};
    from = f32;
  }
  if (to == from) return a;
  if (to.is_narrow_float()) return {dialect_.narrow(to, from == i64 ? long_text(n.a) : a.text, n.overflow)};
  if (to.is_bool()) return {within(a, kOrder) + " != 0", kEquality};
  if (from.is_float() && to.is_int())
    return {fmt::format("{}to_int<{}>({})", dialect_.rules, dialect_.type_name(to), a.text)};
  return {converted(to, from, a)};
}

std::string CValue::offset(const Buffer& buffer, const Exprs& indices) const {
  std::vector<std::string> terms;
  const bool global = buffer.space == Space::global;
  int64_t constant = 0;
  Expr first;       // what the first term is, where it may be a C++ int
  Range short_sum;  // of the terms that may be
  for (size_t d = 0; d < indices.size(); ++d) {
    int64_t at = 0, stride = 0;
    const bool known_stride = !global || is_constant(buffer.strides[d], &stride);
    if (!global) stride = row_major_stride(buffer, d);
    const bool known_index = is_constant(indices[d], &at);
    if ((known_index && at == 0) || (known_stride && stride == 0)) continue;
    if (known_index && known_stride) {
      constant += at * stride;
      continue;
    }
    std::string term;
    if ((known_stride && stride == 1) || (known_index && at == 1)) {
      const Expr& alone = known_stride ? indices[d] : buffer.strides[d];
      term = within(text(alone), kSum);
      if (text(alone).is_short) {
        const Range range = out_.known().range(alone);
        short_sum = {short_sum.lo + range.lo, short_sum.hi + range.hi};
        if (terms.empty()) first = alone;
      }
    } else {
      // A tile holds fewer elements than 32 bits count; a tensor may hold more.
      const Text& index = text(indices[d]);
      const bool long_product = global && index.is_short && (known_stride || text(buffer.strides[d]).is_short);
      term = fmt::format("{} * {}", long_product ? long_text(indices[d]) : within(index, kProduct),
                         known_stride ? fmt::format("{}", stride) : within(text(buffer.strides[d]), kUnary));
    }
    terms.push_back(std::move(term));
  }
  if (terms.empty()) return fmt::format("{}", constant);
  // A sum is computed in 64 bits when its first term is.
  short_sum = {short_sum.lo + constant, short_sum.hi + constant};
  if (global && first && !short_sum.within(range_of_type(i32))) terms[0] = long_text(first);
  if (constant == 0) return fmt::format("{}", fmt::join(terms, " + "));
  return fmt::format("{} {} {}", fmt::join(terms, " + "), constant > 0 ? "+" : "-", std::abs(constant));
}

CValue::Text CValue::print(const ExprNode& node) const {
  switch (node.kind) {
    case Kind::Const: {
      const Scalar& v = static_cast<const Const&>(node).value;
      const bool is_short = v.type == i64 && v.as_int() > INT32_MIN && v.as_int() <= INT32_MAX;
      if (is_short)
        return {v.as_int() < 0 ? fmt::format("({})", v.as_int()) : fmt::format("{}", v.as_int()), kPrimary, true};
      return {c_literal(v, dialect_)};
    }
    case Kind::Var: {
      const auto& v = static_cast<const Var&>(node);
      return {v.name, kPrimary, out_.is_short(v)};
    }
    case Kind::Unary:
      return unary(static_cast<const Unary&>(node));
    case Kind::Binary:
      return binary(static_cast<const Binary&>(node));
    case Kind::Select: {
      const auto& n = static_cast<const Select&>(node);
      Text a = text(n.a), b = text(n.b);
      // C++ gives a choice one type: of a short and a long side it is the long one, in so many words.
      if (a.is_short && !b.is_short) a = {long_text(n.a)};
      if (b.is_short && !a.is_short) b = {long_text(n.b)};
      return {fmt::format("{} ? {} : {}", within(text(n.cond), kOr), within(a, kOr), within(b, kOr)), kChoice,
              a.is_short && b.is_short};
    }
    case Kind::Fma: {
      const auto& n = static_cast<const Fma&>(node);
      return {call("fma", {text(n.a).text, text(n.b).text, text(n.c).text})};
    }
    case Kind::Cast:
      return cast(static_cast<const Cast&>(node));
    case Kind::Load: {
      const auto& n = static_cast<const Load&>(node);
      return {dialect_.read(*n.buffer, offset(*n.buffer, n.indices))};
    }
    default:
      TW_CHECK(false, "C text: not an expression");
      return {};
  }
}

}  // namespace tilewright
