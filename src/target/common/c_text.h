#pragma once
// The C-family printer: expressions and statements of the final forms as C++ text. What differs between dialects is
// data and a few functions in a Dialect; each target prints its own kernel signature and its own statements.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/bounds.h"

namespace tilewright {

class CText;

struct Dialect {
  std::string rules;  // prefix of the functions that have the language's rules: "tw::"
  std::string (*type_name)(DType type);
  /// The element `offset` (in elements) of a buffer as a value of its storage type, and a statement that stores one.
  std::string (*read)(const ir::Buffer& buffer, const std::string& offset);
  std::string (*write)(const ir::Buffer& buffer, const std::string& offset, const std::string& value);
  /// A value of a narrow float's storage type as float, and back.
  std::string (*widen)(DType from, const std::string& value);
  std::string (*narrow)(DType to, const std::string& value, Overflow overflow);
  /// Prints a statement that only this dialect knows; false when it is none of its own.
  bool (*statement)(const ir::Stmt& statement, CText& out);
  /// The C++ type, of 32 bits, for integers of type i64 whose range fits it; empty: they stay i64.
  std::string short_index = {};
};

/// Text with indentation, and the printing of what all dialects share.
class CText {
 public:
  explicit CText(const Dialect& dialect) : dialect_(dialect) {}

  void line(const std::string& text);
  void open(const std::string& head);  // head {
  void close(const std::string& tail = "}");
  void reopen(const std::string& text);  // } else {
  void statement(const ir::Stmt& s);

  /// A value. Parts that are used twice, or lie deep, become constants on lines before; so a statement asks for its
  /// values before it prints its own line. Built-in operators where the known ranges show that they do not overflow.
  std::string value(const ir::Expr& e);
  /// An integer that is known not to overflow: plain operators.
  std::string index(const ir::Expr& e);
  /// The element offset of an access: sum of index * stride.
  std::string offset(const ir::Buffer& buffer, const ir::Exprs& indices);

  /// What is known of integers at this place. A target binds the scalars of its kernel first.
  ir::Context& known() { return known_; }
  /// The C++ type of a variable that the next line declares, with values in `range` (of integers).
  std::string declare(const ir::Ref<ir::Var>& v, ir::Range range);
  /// The C++ type of a variable that holds the value, and whether it is the dialect's short_index.
  std::pair<std::string, bool> type_of(const ir::Expr& e) const;
  bool is_short(const ir::Var& v) const { return short_.contains(v.name); }
  /// A name for a constant of the printer's own.
  std::string fresh_constant();

  const Dialect& dialect() const { return dialect_; }
  const std::string& text() const { return text_; }
  /// The user's line of each line of the text: that of the statement that was printed.
  const std::vector<Location>& lines() const { return lines_; }

 private:
  const Dialect& dialect_;
  std::string text_;
  std::vector<Location> lines_;
  Location at_;
  int depth_ = 0;
  int constants_ = 0;
  ir::Context known_;
  std::set<std::string> short_;  // variables declared as short_index
};

/// A constant as a C++ literal of its type.
std::string c_literal(Scalar value, const Dialect& dialect);

}  // namespace tilewright
