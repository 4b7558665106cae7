// Expressions of the IR text. Every type rule is checked here before a node is made.
#include <fmt/format.h>

#include <algorithm>

#include "ir/parser.h"
#include "ir/text.h"

namespace tilewright::ir {
namespace {

struct Depth {
  explicit Depth(int& d) : depth(d) { ++depth; }
  ~Depth() { --depth; }
  int& depth;
};

std::string spelled(BinaryOp op) { return std::string(spelling_of(op).empty() ? name_of(op) : spelling_of(op)); }

}  // namespace

Expr Parser::expr() {
  Depth depth(expr_depth_);
  if (expr_depth_ > kMaxExprDepth)
    fail(token_,
         fmt::format("the expression nests deeper than {} levels; name a part of it on a line `%0 = ...` before "
                     "the statement",
                     kMaxExprDepth));
  return primary();
}

Expr Parser::primary() {
  switch (token_.kind) {
    case TokenKind::number:
      return constant();
    case TokenKind::named: {
      auto known = named_.find(token_.text);
      if (known == named_.end())
        fail(token_, fmt::format("%{} is not defined; a line `%{} = ...` must come before", token_.text, token_.text));
      advance();
      return known->second;
    }
    case TokenKind::sign:
      if (token_.is("-")) return constant();
      if (token_.is("(")) return parenthesised();
      break;
    case TokenKind::word:
      if (token_.is("true") || token_.is("false")) return constant();
      if (!token_.quoted && token_.text == "cast" && peek().is("<")) return cast(token_);
      if (!token_.quoted && peek().is("(")) return call(token_);
      return reference();
    case TokenKind::end:
      break;
  }
  fail_found("an expression");
}

Expr Parser::constant() {
  Token at = token_;
  std::string text;
  if (accept("-")) text += '-';
  if (token_.kind != TokenKind::number && !(text.empty() && token_.kind == TokenKind::word)) fail_found("a number");
  text += token_.text;
  advance();
  Scalar value;
  if (!parse_scalar(text, value))
    fail(at, fmt::format("`{}` is no constant: write an integer as 5 or 5:i32, a float as 0.5:f32, in the range of its "
                         "type",
                         text));
  return make<Const>(value);
}

Expr Parser::parenthesised() {
  advance();
  Expr a = expr();
  Token at = token_;
  for (size_t i = 0; i < std::size(kBinarySpellings); ++i) {
    if (kBinarySpellings[i].empty() || !token_.is(kBinarySpellings[i])) continue;
    advance();
    Expr b = expr();
    if (!token_.is(")")) fail_found("`)`; an operator has two operands, in parentheses: ((a + b) + c)");
    advance();
    return binary(static_cast<BinaryOp>(i), a, b, at);
  }
  fail_found("an operator");
}

Expr Parser::binary(BinaryOp op, const Expr& a, const Expr& b, const Token& at) {
  if (a->dtype != b->dtype)
    fail(at, fmt::format("{}: the operands are {} and {}; they must have one type", spelled(op), to_string(a->dtype),
                         to_string(b->dtype)));
  if (!is_defined(op, a->dtype)) fail(at, fmt::format("{} is not defined on {}", spelled(op), to_string(a->dtype)));
  return make<Binary>(op, a, b);
}

Exprs Parser::list_until(std::string_view close) {
  Exprs list;
  if (accept(close)) return list;
  do list.push_back(expr());
  while (accept(","));
  if (!token_.is(close)) fail_found(fmt::format("`,` or `{}`", close));
  advance();
  return list;
}

Expr Parser::call(const Token& function) {
  const Token at = function;
  advance();
  advance();
  auto arguments = [&](size_t count) {
    Exprs args = list_until(")");
    if (args.size() != count) fail(at, fmt::format("{} takes {} operands, not {}", at.text, count, args.size()));
    return args;
  };
  if (at.text == "select") {
    Exprs args = arguments(3);
    if (args[0]->dtype != boolean)
      fail(at, fmt::format("select: the condition is {}; it must be bool", to_string(args[0]->dtype)));
    if (args[1]->dtype != args[2]->dtype)
      fail(at, fmt::format("select: the two sides are {} and {}; they must have one type", to_string(args[1]->dtype),
                           to_string(args[2]->dtype)));
    return make<Select>(args[0], args[1], args[2]);
  }
  if (at.text == "fma") {
    Exprs args = arguments(3);
    const DType t = args[0]->dtype;
    if (t != args[1]->dtype || t != args[2]->dtype || !t.is_float() || t.is_narrow_float())
      fail(at, fmt::format("fma: the operands are {}, {} and {}; they must be all f32 or all f64", to_string(t),
                           to_string(args[1]->dtype), to_string(args[2]->dtype)));
    return make<Fma>(args[0], args[1], args[2]);
  }
  for (size_t i = 0; i < std::size(kBinaryNames); ++i) {
    if (at.text != kBinaryNames[i]) continue;
    if (!kBinarySpellings[i].empty()) fail(at, fmt::format("{} is written (a {} b)", at.text, kBinarySpellings[i]));
    Exprs args = arguments(2);
    return binary(static_cast<BinaryOp>(i), args[0], args[1], at);
  }
  for (size_t i = 0; i < std::size(kUnaryNames); ++i) {
    if (at.text != kUnaryNames[i]) continue;
    Exprs args = arguments(1);
    const UnaryOp op = static_cast<UnaryOp>(i);
    if (!is_defined(op, args[0]->dtype))
      fail(at, fmt::format("{} is not defined on {}", at.text, to_string(args[0]->dtype)));
    return make<Unary>(op, args[0]);
  }
  fail(at, fmt::format("there is no function {}", at.text));
}

Expr Parser::cast(const Token& start) {
  const Token at = start;
  advance();
  advance();
  DType type = dtype();
  Overflow overflow = Overflow::saturate;
  if (accept(",")) {
    if (!accept("inf_nan")) fail_found("inf_nan");
    overflow = Overflow::inf_nan;
  }
  expect(">", "behind the type of a cast");
  expect("(", "before the operand of a cast");
  Expr a = expr();
  expect(")", "behind the operand of a cast");
  if (a->dtype.lanes != type.lanes)
    fail(at, fmt::format("cast: {} and {} differ in lanes", to_string(a->dtype), to_string(type)));
  return make<Cast>(type, a, overflow);
}

Expr Parser::reference() {
  const Symbol& s = symbol();
  if (s.var) {
    if (token_.is("[")) fail(token_, fmt::format("{} is a variable, not a buffer; it takes no index", s.var->name));
    return s.var;
  }
  Ref<Buffer> buffer = s.buffer;
  Exprs at = indices(*buffer);
  return make<Load>(buffer, std::move(at));
}

Exprs Parser::indices(const Buffer& buffer) {
  const Token at = token_;
  if (!token_.is("[")) fail_found(fmt::format("`[`, the indices of {}", buffer.name));
  advance();
  Exprs list = list_until("]");
  if (list.size() != buffer.shape.size())
    fail(at, fmt::format("{} has rank {}, but {} indices are given", buffer.name, buffer.shape.size(), list.size()));
  for (const Expr& e : list)
    if (!e->dtype.is_int())
      fail(at, fmt::format("an index of {} is {}; it must be an integer", buffer.name, to_string(e->dtype)));
  return list;
}

Expr Parser::integer_expr(std::string_view what) {
  const Token at = token_;
  Expr e = expr();
  if (!e->dtype.is_int()) fail(at, fmt::format("{} is {}; it must be an integer", what, to_string(e->dtype)));
  return e;
}

void Parser::named_line() {
  const Token at = token_;
  advance();
  expect("=", "behind the name of an expression");
  Expr value = expr();
  if (!named_.emplace(at.text, value).second) fail(at, fmt::format("%{} is defined twice", at.text));
}

Expr Parser::whole_expr() {
  Expr result;
  // A last line that is only a name, `%3`, is the expression itself.
  while (token_.kind == TokenKind::named && peek().is("=")) named_line();
  result = expr();
  if (token_.kind != TokenKind::end) fail_found("the end of the text; write (a + b) with parentheses");
  return result;
}

Expr parse_expr(std::string_view text, const std::vector<Ref<Var>>& variables,
                const std::vector<Ref<Buffer>>& buffers) {
  Parser parser(text, intern_file("<text>"));
  for (const auto& v : variables) parser.declare(v, {});
  for (const auto& b : buffers) parser.declare(b, {});
  return parser.whole_expr();
}

}  // namespace tilewright::ir
