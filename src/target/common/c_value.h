#pragma once
// One expression as C++ text. Private to the C-family printer.
#include <string>
#include <vector>

#include "base/pointer_map.h"
#include "ir/nodes.h"
#include "target/common/c_text.h"

namespace tilewright {

/// Prints expressions at one place of a CText. What is used twice, or lies deep, becomes a constant on a line before; a
/// select whose chosen side is too big for an operator becomes an if statement on lines before. Memory reads of a side
/// that is not chosen never happen.
///
/// Integers: a built-in operator where the ranges show that it does not overflow, else a rule. A value of type i64
/// whose range fits 32 bits may have the C++ type int ("short"); two of these are computed in 32 bits where the result
/// fits.
class CValue {
 public:
  /// `exact`: the caller knows that no integer operator overflows.
  explicit CValue(CText& out, bool exact = false) : out_(out), dialect_(out.dialect()), exact_(exact) {}

  std::string run(const ir::ExprNode& root);
  /// The element offset of an access: sum of index * stride, with built-in operators: an access is in range.
  std::string run_offset(const ir::Buffer& buffer, const ir::Exprs& indices);

 private:
  /// How tightly the outermost operator of a text binds, from tight to loose.
  enum Level : uint8_t { kPrimary, kUnary, kProduct, kSum, kOrder, kEquality, kBits, kAnd, kOr, kChoice };
  struct Text {
    std::string text;
    Level level = kPrimary;
    bool is_short = false;  // of type i64, but a C++ int
  };
  /// What is decided about a node before anything is printed.
  struct Plan {
    int uses = 0;
    bool always = false;     // evaluated whenever the root is
    bool hoisted = false;    // becomes a constant on a line before
    bool statement = false;  // a select that becomes an if statement
    bool reads = false;      // reads memory where it is printed
    int depth = 0, size = 0;
  };

  void plan(const std::vector<const ir::ExprNode*>& roots);
  void print(const std::vector<const ir::ExprNode*>& roots);
  void print_choice(const ir::ExprNode& node, const std::string& name);
  std::vector<const ir::ExprNode*> order(const std::vector<const ir::ExprNode*>& roots, bool planned) const;

  const Text& text(const ir::Expr& e) const { return *texts_.find(e.get()); }
  static std::string within(const Text& t, Level loosest);
  std::string long_text(const ir::Expr& e) const;
  Text print(const ir::ExprNode& node) const;
  Text binary(const ir::Binary& n) const;
  Text arithmetic(const ir::Binary& n) const;
  Text infix(const ir::Binary& n, Level level) const;
  Text rule(const ir::Binary& n) const;
  Text unary(const ir::Unary& n) const;
  Text cast(const ir::Cast& n) const;
  std::string offset(const ir::Buffer& buffer, const ir::Exprs& indices) const;
  std::string call(std::string_view name, const std::vector<std::string>& arguments) const;
  std::string converted(DType to, DType from, const Text& t) const;
  ir::Range exact_range(const ir::Binary& n) const;

  CText& out_;
  const Dialect& dialect_;
  bool exact_;
  PointerMap<Plan> plans_;
  PointerMap<Text> texts_;
  PointerMap<bool> named_;  // what is a constant of this block or of one around it
};

}  // namespace tilewright
