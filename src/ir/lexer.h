#pragma once
// Tokens of the IR text (text.h has the syntax).
#include <string>
#include <string_view>

#include "tilewright/error.h"

namespace tilewright::ir {

enum class TokenKind : uint8_t {
  end,
  word,    // identifier, keyword, or a quoted name
  number,  // "5", "0.5:f32", "nan:f32": a constant without its sign
  named,   // "%3"
  sign,    // punctuation and operators
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool quoted = false;    // a word in quotes: never a keyword
  std::string_view text;  // as written; of a quoted word without the quotes, of a named expression without the %
  uint32_t line = 1, column = 1;

  bool is(std::string_view s) const {
    return text == s && !quoted && (kind == TokenKind::sign || kind == TokenKind::word);
  }
};

/// Whether `name` can be written without quotes.
bool is_plain_name(std::string_view name);
/// `name` as the text writes it: plain, or in quotes.
void append_name(std::string& out, std::string_view name);
void append_quoted(std::string& out, std::string_view text);
/// The characters that the inside of a pair of quotes stands for.
std::string unquote(std::string_view inside);

class Lexer {
 public:
  explicit Lexer(std::string_view text, const char* file = "") : text_(text), file_(file) {}
  /// The next token. Characters that start no token, and quotes without an end, are UserErrors.
  Token next();
  Location location(const Token& t) const { return Location(file_, t.line, t.column); }

 private:
  void skip_blanks();
  Token finish(Token t, size_t end);

  std::string_view text_;
  const char* file_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace tilewright::ir
