// Kernels, declarations and statements of the IR text. Statements follow the forms of their TW_NODE (form.h).
#include <fmt/format.h>

#include <algorithm>

#include "ir/build.h"
#include "ir/form.h"
#include "ir/parser.h"
#include "ir/rules.h"
#include "ir/text.h"

namespace tilewright::ir {
namespace {

/// The words and signs at the start of a form's literal, one token at a time.
Token first_token(std::string_view literal) { return Lexer(literal).next(); }

template <class T>
constexpr std::string_view keyword() {
  return T::kForm.substr(0, T::kForm.find(' '));
}

std::string joined(const std::string_view* words, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
  return text;
}

}  // namespace

// ---- tokens

void Parser::fail(const Token& at, const std::string& message, std::vector<Note> notes) {
  throw UserError(lexer_.location(at), message, std::move(notes));
}
std::string Parser::found() const {
  switch (token_.kind) {
    case TokenKind::end:
      return "the end of the text";
    case TokenKind::named:
      return fmt::format("`%{}`", token_.text);
    default:
      return token_.quoted ? fmt::format("`\"{}\"`", token_.text) : fmt::format("`{}`", token_.text);
  }
}
void Parser::fail_found(std::string_view wanted) {
  fail(token_, fmt::format("found {}, expected {}", found(), wanted));
}
void Parser::expect(std::string_view s, std::string_view where) {
  if (!accept(s)) fail_found(fmt::format("`{}` {}", s, where));
}
std::string Parser::name(std::string_view what) {
  if (token_.kind != TokenKind::word) fail_found(what);
  std::string result = token_.quoted ? unquote(token_.text) : std::string(token_.text);
  if (!token_.quoted && !is_plain_name(result))
    fail(token_,
         fmt::format("`{}` is a word of the expression syntax; as a name it is written \"{}\"", result, result));
  if (result.empty()) fail(token_, "a name must not be empty");
  advance();
  return result;
}
int64_t Parser::integer(std::string_view what) {
  const Token at = token_;
  std::string text;
  if (accept("-")) text += '-';
  Scalar value;
  if (token_.kind != TokenKind::number) fail_found(what);
  text += token_.text;
  if (!parse_scalar(text, value) || value.type != i64)
    fail(at, fmt::format("found `{}`, expected {}, a 64-bit integer", text, what));
  advance();
  return value.as_int();
}
DType Parser::dtype() {
  DType type;
  if (token_.kind != TokenKind::word || token_.quoted || !parse_dtype(token_.text, type))
    fail_found("an element type such as f32, i64 or bool");
  advance();
  return type;
}
template <size_t N>
int Parser::one_of(const std::string_view (&words)[N], std::string_view what) {
  for (size_t i = 0; i < N; ++i)
    if (accept(words[i])) return static_cast<int>(i);
  fail_found(fmt::format("{}: {}", what, joined(words, N)));
}

// ---- names

void Parser::bind(Pending p) {
  const std::string& name = p.var ? p.var->name : p.buffer->name;
  auto [slot, is_new] = symbols_.try_emplace(name, Symbol{p.var, p.buffer, p.at, true});
  if (!is_new)
    fail(p.at, fmt::format("the name {} is bound twice; names are unique in a kernel", name),
         {{lexer_.location(slot->second.at), fmt::format("{} is first bound here", name)}});
  scope_.push_back(name);
}
void Parser::bind_pending() {
  for (Pending& p : pending_) bind(std::move(p));
  pending_.clear();
}
void Parser::declare(const Ref<Var>& v, const Token& at) { bind({v, nullptr, at}); }
void Parser::declare(const Ref<Buffer>& b, const Token& at) { bind({nullptr, b, at}); }
void Parser::leave_scope(size_t size) {
  for (; scope_.size() > size; scope_.pop_back()) symbols_.at(scope_.back()).visible = false;
}
const Parser::Symbol& Parser::symbol() {
  const Token at = token_;
  std::string text = name("a name");
  auto known = symbols_.find(text);
  if (known == symbols_.end()) fail(at, fmt::format("the name {} is not known here", text));
  if (!known->second.visible)
    fail(at, fmt::format("{} is used outside the block that binds it", text),
         {{lexer_.location(known->second.at), fmt::format("{} is bound here", text)}});
  return known->second;
}

// ---- declarations

Ref<Buffer> Parser::buffer_use() {
  const Token at = token_;
  const Symbol& s = symbol();
  if (!s.buffer) fail(at, fmt::format("{} is a variable; a buffer is needed here", s.var->name));
  return s.buffer;
}

Ref<Var> Parser::binding(std::optional<DType> given) {
  const Token at = token_;
  std::string text = name("the name of a variable");
  DType type = given.value_or(i64);
  if (accept(":")) type = dtype();
  Ref<Var> v = make<Var>(std::move(text), type);
  pending_.push_back({v, nullptr, at});
  return v;
}

Ref<Buffer> Parser::declaration() {
  const Token at = token_;
  auto* node = new Buffer;
  Ref<Buffer> buffer(node);
  node->name = name("the name of a buffer");
  expect(":", "and an element type");
  node->dtype = dtype();
  if (!accept("[")) fail_found("`[`, the shape of the buffer");
  node->shape = list_until("]");
  for (size_t i = 0; i < std::size(kSpaceNames); ++i)
    if (accept(kSpaceNames[i])) {
      node->space = static_cast<Space>(i);
      break;
    }
  if (accept("strides")) {
    if (!accept("[")) fail_found("`[`, the strides of the buffer");
    node->strides = list_until("]");
  }
  if (accept("memory")) node->memory = name("the name of a memory");
  if (accept("offset")) node->offset = integer("a byte offset");
  if (accept("layout")) node->layout = name("a layout, in quotes");
  node->at = lexer_.location(at);
  finish(node);
  refuse(*node, at);
  pending_.push_back({nullptr, buffer, at});
  return buffer;
}

Ref<Region> Parser::region() {
  const Token at = token_;
  Ref<Buffer> buffer = buffer_use();
  Exprs offset, extent;
  if (!accept("[")) fail_found(fmt::format("`[`, a region of {} such as {}[0:+16, 0:+16]", buffer->name, buffer->name));
  if (!accept("]")) {
    do {
      offset.push_back(integer_expr("the first index of a region"));
      expect(":+", "and the extent of the region");
      extent.push_back(integer_expr("the extent of a region"));
    } while (accept(","));
    if (!token_.is("]")) fail_found("`,` or `]`");
    advance();
  }
  Ref<Region> result = make_at<Region>(lexer_.location(at), buffer, std::move(offset), std::move(extent));
  refuse(*result, at);
  return result;
}

/// @"file":line:column when it stands here, else the place of `fallback`.
Location Parser::location(const Token& fallback) {
  if (!accept("@")) return lexer_.location(fallback);
  if (token_.kind != TokenKind::word || !token_.quoted) fail_found("a file name in quotes");
  std::string file = unquote(token_.text);
  advance();
  expect(":", "and a line");
  const int64_t line = integer("a line");
  expect(":", "and a column");
  const int64_t column = integer("a column");
  return Location(intern_file(file), static_cast<uint32_t>(line), static_cast<uint32_t>(column));
}

// ---- statements

void Parser::refuse(const Node& node, const Token& at) {
  if (std::string fault = broken_rule(node); !fault.empty()) fail(at, fault);
}

void Parser::literal(std::string_view words) {
  Lexer form(words);
  for (Token want = form.next(); want.kind != TokenKind::end; want = form.next())
    if (!accept(want.text)) fail_found(fmt::format("`{}`", want.text));
}

template <class T, class V>
void Parser::field(T& node, V& value, std::string_view name, bool bracketed, Location* at) {
  if constexpr (std::is_same_v<V, Expr>) {
    value = expr();
  } else if constexpr (std::is_same_v<V, Exprs>) {
    if (bracketed) {
      if (token_.is("]")) return;
    } else if (token_.is("(") && peek().is(")")) {
      advance();
      advance();
      return;
    }
    do value.push_back(expr());
    while (accept(","));
  } else if constexpr (std::is_same_v<V, Ref<Var>>) {
    value = binding();
  } else if constexpr (std::is_same_v<V, std::vector<Ref<Var>>>) {
    if (accept("(")) return expect(")", "for no variable");
    do value.push_back(binding());
    while (accept(","));
  } else if constexpr (std::is_same_v<V, Ref<Buffer>>) {
    value = T::kKind == Kind::Alloc ? declaration() : buffer_use();
  } else if constexpr (std::is_same_v<V, Ref<Region>>) {
    value = region();
  } else if constexpr (std::is_same_v<V, Stmt>) {
    value = block(at);
  } else if constexpr (std::is_same_v<V, std::string>) {
    value = this->name(fmt::format("a name, the {} of {}", name, keyword<T>()));
  } else if constexpr (std::is_same_v<V, bool>) {
    value = one_of({"false", "true"}, name);
  } else if constexpr (std::is_same_v<V, int64_t>) {
    value = integer(name);
  } else if constexpr (std::is_same_v<V, LoopKind>) {
    value = static_cast<LoopKind>(one_of(kLoopNames, "a kind of loop"));
  } else if constexpr (std::is_same_v<V, ReduceOp>) {
    value = static_cast<ReduceOp>(one_of(kReduceNames, "a reduction"));
  } else if constexpr (std::is_same_v<V, Precision>) {
    value = static_cast<Precision>(one_of(kPrecisionNames, "a precision"));
  }
  (void)node;
}

template <class T>
Stmt Parser::by_form(const Token& at) {
  auto* node = new T;
  Ref<T> owner(node);
  Location where;
  bool skipping = false, group = false;
  each_part(T::kForm, [&](FormPart part) {
    switch (part.kind) {
      case FormPart::open_group:
        group = true;
        return;
      case FormPart::close_group:
        group = skipping = false;
        return;
      case FormPart::literal:
        if (group) skipping = !token_.is(first_token(part.text).text);
        group = false;
        if (!skipping) literal(part.text);
        return;
      case FormPart::field:
        if (!skipping)
          each_field(*node, [&](std::string_view name, auto& value) {
            if (name == part.text) field(*node, value, name, part.bracketed, &where);
          });
    }
  });
  if (!where) where = location(at);
  node->at = where;
  if constexpr (T::kKind == Kind::Alloc) const_cast<Buffer*>(node->buffer.get())->at = where;
  finish(node);
  refuse(*node, at);
  bind_pending();
  return owner;
}

Stmt Parser::statement() {
  const Token at = token_;
  if (token_.kind == TokenKind::sign && std::ranges::find(kBinarySpellings, token_.text) != std::end(kBinarySpellings))
    fail_found("a statement; an operator and its operands stand in parentheses: (a + b)");
  if (token_.kind != TokenKind::word || token_.quoted) fail_found("a statement");
  if (stmt_depth_ > kMaxStmtDepth)
    fail(token_, fmt::format("the statements nest deeper than {} levels", kMaxStmtDepth));
  if (token_.is("seq")) {
    advance();
    Location where;
    ++stmt_depth_;
    expect("{", "behind seq");
    if (token_.is("@")) where = location(at);
    const size_t outer = scope_.size();
    Stmt body = statements_until_brace(true);
    leave_scope(outer);
    --stmt_depth_;
    if (!where) where = location(at);
    const_cast<StmtNode*>(body.get())->at = where;
    return body;
  }
#define TW_X(T) \
  if (!T::kForm.empty() && token_.is(keyword<T>())) return by_form<T>(at);
  TW_STMT_NODES(TW_X)
#undef TW_X
  fail_found("a statement");
}

Stmt Parser::block(Location* at) {
  expect("{", "to open a block");
  if (token_.is("@")) {
    Location where = location(token_);
    if (at && !*at) *at = where;
  }
  ++stmt_depth_;
  const size_t outer = scope_.size();
  bind_pending();
  Stmt body = statements_until_brace(false);
  leave_scope(outer);
  --stmt_depth_;
  return body;
}

Stmt Parser::statements_until_brace(bool always_seq) {
  const Token at = token_;
  Stmts stmts;
  named_lines();
  while (!token_.is("}")) {
    if (token_.kind == TokenKind::end) fail_found("a statement or `}`");
    stmts.push_back(statement());
    named_lines();
  }
  advance();
  if (stmts.size() == 1 && !always_seq) return stmts[0];
  return make_at<Seq>(lexer_.location(at), std::move(stmts));
}

Ref<Kernel> Parser::kernel() {
  const Token at = token_;
  auto* node = new Kernel;
  Ref<Kernel> result(node);
  if (!accept("kernel")) fail_found("`kernel`");
  node->name = name("the name of the kernel");
  expect("stage", "and a stage");
  node->stage = static_cast<Stage>(one_of(kStageNames, "a stage"));
  expect("{", "to open the kernel");
  node->at = location(at);
  for (;;) {
    named_lines();
    const Token line = token_;
    if (accept("scalar")) {
      Ref<Var> v = binding();
      if (v->type.lanes != 1) fail(line, fmt::format("scalar {} is {}", v->name, to_string(v->type)));
      node->scalars.push_back(v);
    } else if (accept("param")) {
      Ref<Buffer> b = declaration();
      const_cast<Buffer*>(b.get())->at = location(line);
      node->params.push_back(b);
    } else {
      break;
    }
    bind_pending();
  }
  node->body = statements_until_brace(false);
  if (token_.kind != TokenKind::end) fail_found("the end of the text");
  finish(node);
  refuse(*node, at);
  return result;
}

Ref<Kernel> parse_kernel(std::string_view text, const char* file_name) {
  return Parser(text, intern_file(file_name)).kernel();
}

}  // namespace tilewright::ir
