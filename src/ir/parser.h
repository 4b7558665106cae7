#pragma once
// The parser of the IR text. Private to parse.cpp (kernels, statements) and parse_expr.cpp (expressions).
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/lexer.h"
#include "ir/nodes.h"

namespace tilewright::ir {

class Parser {
 public:
  Parser(std::string_view text, const char* file) : lexer_(text, file) { advance(); }

  Ref<Kernel> kernel();
  /// An expression with the lines before it that name its parts, and nothing behind it.
  Expr whole_expr();
  void declare(const Ref<Var>& v, const Token& at);
  void declare(const Ref<Buffer>& b, const Token& at);

 private:
  static constexpr int kMaxExprDepth = 200, kMaxStmtDepth = 400;

  struct Symbol {
    Ref<Var> var;  // one of the two
    Ref<Buffer> buffer;
    Token at;
    bool visible = false;
  };
  /// A name that becomes visible when the head of the statement that binds it is complete.
  struct Pending {
    Ref<Var> var;
    Ref<Buffer> buffer;
    Token at;
  };

  // ---- tokens
  void advance() {
    token_ = next_ ? *next_ : lexer_.next();
    next_.reset();
  }
  const Token& peek() {
    if (!next_) next_ = lexer_.next();
    return *next_;
  }
  bool accept(std::string_view s) {
    if (!token_.is(s)) return false;
    advance();
    return true;
  }
  void expect(std::string_view s, std::string_view where);
  [[noreturn]] void fail(const Token& at, const std::string& message, std::vector<Note> notes = {});
  [[noreturn]] void fail_found(std::string_view wanted);
  std::string found() const;
  std::string name(std::string_view what);
  int64_t integer(std::string_view what);
  DType dtype();
  template <size_t N>
  int one_of(const std::string_view (&words)[N], std::string_view what);

  // ---- names
  void bind(Pending p);
  void bind_pending();
  void leave_scope(size_t size);
  const Symbol& symbol();

  // ---- expressions
  Expr expr();
  Expr primary();
  Expr constant();
  Expr parenthesised();
  Expr call(const Token& at);
  Expr cast(const Token& at);
  Expr reference();
  Expr binary(BinaryOp op, const Expr& a, const Expr& b, const Token& at);
  Exprs list_until(std::string_view close);
  Expr integer_expr(std::string_view what);
  Exprs indices(const Buffer& buffer);
  void named_line();
  void named_lines() {
    while (token_.kind == TokenKind::named) named_line();
  }

  // ---- declarations
  Ref<Buffer> buffer_use();
  Ref<Buffer> declaration();
  Ref<Var> binding(std::optional<DType> given = {});
  Ref<Region> region();
  Location location(const Token& fallback);

  // ---- statements
  Stmt statement();
  Stmt block(Location* at);
  Stmt statements_until_brace(bool always_seq);
  template <class T>
  Stmt by_form(const Token& at);
  void literal(std::string_view words);
  template <class T, class V>
  void field(T& node, V& value, std::string_view name, bool bracketed, Location* at);
  void refuse(const Node& node, const Token& at);

  Lexer lexer_;
  Token token_;
  std::optional<Token> next_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::vector<std::string> scope_;  // visible names, inner ones last
  std::vector<Pending> pending_;
  std::unordered_map<std::string_view, Expr> named_;
  int expr_depth_ = 0, stmt_depth_ = 0;
};

}  // namespace tilewright::ir
