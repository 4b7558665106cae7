#include "ir/lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "numeric/ops.h"

namespace tilewright::ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

bool is_reserved(std::string_view name) {
  static constexpr std::string_view kWords[] = {"true", "false", "nan",    "inf", "and",
                                                "or",   "in",    "select", "fma", "cast"};
  return std::ranges::find(kWords, name) != std::end(kWords) ||
         std::ranges::find(kUnaryNames, name) != std::end(kUnaryNames) ||
         std::ranges::find(kBinaryNames, name) != std::end(kBinaryNames);
}

constexpr std::string_view kLongSigns[] = {"->", ":+", "==", "!=", "<=", ">=", "<<", ">>", "//"};
constexpr std::string_view kShortSigns = "()[]{},:=<>+-*/%&|^@";

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_name_char) && !is_reserved(name);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out.append({'\\', c});
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

void append_name(std::string& out, std::string_view name) {
  if (is_plain_name(name))
    out += name;
  else
    append_quoted(out, name);
}

std::string unquote(std::string_view inside) {
  auto digit = [](char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      out += inside[i];
    } else if (inside[i + 1] == 'x' && i + 3 < inside.size() && digit(inside[i + 2]) >= 0 &&
               digit(inside[i + 3]) >= 0) {
      out += static_cast<char>(digit(inside[i + 2]) * 16 + digit(inside[i + 3]));
      i += 3;
    } else {
      out += inside[++i];
    }
  }
  return out;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

Token Lexer::finish(Token t, size_t end) {
  if (t.text.empty()) t.text = text_.substr(at_, end - at_);
  at_ = end;
  return t;
}

Token Lexer::next() {
  skip_blanks();
  Token t;
  t.line = line_;
  t.column = static_cast<uint32_t>(at_ - line_start_ + 1);
  if (at_ == text_.size()) return t;
  auto peek = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  // ":f32" directly behind a constant is its type.
  auto with_type = [&](size_t end) {
    if (peek(end) != ':' || !is_letter(peek(end + 1))) return end;
    for (++end; is_letter(peek(end)) || is_digit(peek(end));) ++end;
    return end;
  };
  char c = text_[at_];
  size_t end = at_ + 1;
  if (is_letter(c)) {
    while (is_name_char(peek(end))) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    t.kind = TokenKind::word;
    if ((word == "inf" || word == "nan") && with_type(end) != end) {
      t.kind = TokenKind::number;
      end = with_type(end);
    }
    return finish(t, end);
  }
  if (is_digit(c)) {
    t.kind = TokenKind::number;
    for (; is_name_char(peek(end)); ++end)
      if ((peek(end) == 'e' || peek(end) == 'p') && (peek(end + 1) == '+' || peek(end + 1) == '-')) ++end;
    return finish(t, with_type(end));
  }
  if (c == '"') {
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"') throw UserError(location(t), "a quoted name has no closing quote");
    t.kind = TokenKind::word;
    t.quoted = true;
    t.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return t;
  }
  if (c == '%' && is_digit(peek(end))) {
    while (is_digit(peek(end))) ++end;
    t.kind = TokenKind::named;
    t.text = text_.substr(at_ + 1, end - at_ - 1);
    return finish(t, end);
  }
  t.kind = TokenKind::sign;
  for (std::string_view sign : kLongSigns)
    if (text_.substr(at_, 2) == sign) return finish(t, at_ + 2);
  if (kShortSigns.find(c) == std::string_view::npos || c == '\0') {
    unsigned char byte = static_cast<unsigned char>(c);
    throw UserError(location(t), byte >= 0x20 && byte < 0x7f
                                     ? fmt::format("the character '{}' means nothing here", c)
                                     : fmt::format("the byte 0x{:02x} means nothing here", byte));
  }
  return finish(t, end);
}

}  // namespace tilewright::ir
