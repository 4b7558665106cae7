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
class CValue {
 public:
  explicit CValue(CText& out) : out_(out), dialect_(out.dialect()) {}

  /// The text, in parentheses when it is an operator.
  std::string run(const ir::ExprNode& root);
  /// The element offset of an access: sum of index * stride, with plain operators: an access is in range.
  std::string run_offset(const ir::Buffer& buffer, const ir::Exprs& indices);

 private:
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

  const std::string& text(const ir::Expr& e) const { return *texts_.find(e.get()); }
  std::string operand(const ir::Expr& e, const ir::Expr& sibling) const;
  std::string print(const ir::ExprNode& node) const;
  std::string binary(const ir::Binary& n) const;
  std::string unary(const ir::Unary& n) const;
  std::string cast(const ir::Cast& n) const;
  std::string offset(const ir::Buffer& buffer, const ir::Exprs& indices) const;
  std::string call(std::string_view name, std::initializer_list<std::string> arguments) const;
  std::string as(DType to, DType from, const std::string& text) const;
  bool fits(const ir::Binary& n) const;

  CText& out_;
  const Dialect& dialect_;
  PointerMap<Plan> plans_;
  PointerMap<std::string> texts_;
  PointerMap<bool> named_;  // what is a constant of this block or of one around it
};

}  // namespace tilewright
