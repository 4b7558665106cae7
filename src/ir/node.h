#pragma once
// What every IR node has: a kind, a structural hash, a list of typed fields. TW_NODE declares the list and the text
// form once; children, rewriting, equality, hashing, printing and parsing all follow from it (walk.h, text.h).
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/ref.h"
#include "tilewright/dtype.h"
#include "tilewright/error.h"

namespace tilewright::ir {

#define TW_EXPR_NODES(X) X(Const) X(Var) X(Unary) X(Binary) X(Select) X(Fma) X(Cast) X(Load)
#define TW_STMT_NODES(X)                                                                                            \
  X(Seq)                                                                                                            \
  X(Grid)                                                                                                           \
  X(For)                                                                                                            \
  X(When)                                                                                                           \
  X(Let)                                                                                                            \
  X(Alloc) X(Store) X(Copy) X(Fill) X(Gemm) X(Reduce) X(Covers) X(Barrier) X(Shuffle) X(Mma) X(OnEngine) X(SetFlag) \
      X(WaitFlag) X(EngineBarrier)
#define TW_OTHER_NODES(X) X(Buffer) X(Region) X(Kernel)
#define TW_ALL_NODES(X) TW_EXPR_NODES(X) TW_STMT_NODES(X) TW_OTHER_NODES(X)

enum class Kind : uint8_t {
#define TW_X(T) T,
  TW_ALL_NODES(TW_X)
#undef TW_X
};

/// The base of all nodes. Nodes are made by make<T>() and never change afterwards.
class Node {
 public:
  Kind kind;
  uint64_t hash = 0;  // structural; locations take no part
  mutable std::atomic<uint32_t> refs{0};

 protected:
  explicit Node(Kind k) : kind(k) {}
  Node(const Node& o) : kind(o.kind) {}
  ~Node() = default;
};

/// A scalar value. `dtype` follows from the fields.
class ExprNode : public Node {
 public:
  DType dtype;

 protected:
  using Node::Node;
};

/// Something that happens. `at` is the user's line.
class StmtNode : public Node {
 public:
  Location at;

 protected:
  using Node::Node;
};

/// Buffer, Region and Kernel: neither value nor statement.
class DeclNode : public Node {
 public:
  Location at;

 protected:
  using Node::Node;
};

using Any = Ref<Node>;
using Expr = Ref<ExprNode>;
using Stmt = Ref<StmtNode>;
using Exprs = std::vector<Expr>;
using Stmts = std::vector<Stmt>;

template <class M>
struct Field {
  std::string_view name;
  M member;
};
template <class M>
constexpr Field<M> field(std::string_view name, M member) {
  return {name, member};
}

// TW_EACH(f, T, a, b, c) is f(T, a), f(T, b), f(T, c).
#define TW_PARENS ()
#define TW_EXPAND(...) TW_EXPAND2(TW_EXPAND2(TW_EXPAND2(__VA_ARGS__)))
#define TW_EXPAND2(...) TW_EXPAND1(TW_EXPAND1(TW_EXPAND1(__VA_ARGS__)))
#define TW_EXPAND1(...) __VA_ARGS__
#define TW_EACH(f, T, ...) __VA_OPT__(TW_EXPAND(TW_EACH_STEP(f, T, __VA_ARGS__)))
#define TW_EACH_STEP(f, T, x, ...) f(T, x) __VA_OPT__(, TW_EACH_AGAIN TW_PARENS(f, T, __VA_ARGS__))
#define TW_EACH_AGAIN() TW_EACH_STEP
#define TW_FIELD(T, x) field(#x, &T::x)

/// TW_NODE(Name, "text form", fields...). In the text form {x} is field x, `[ words {x}]` is left out when x has its
/// default value (form.h); expressions, buffers and kernels have their own syntax and an empty form (text.h).
#define TW_NODE(T, form, ...)                                                              \
  static constexpr Kind kKind = Kind::T;                                                   \
  static constexpr std::string_view kName = #T;                                            \
  static constexpr std::string_view kForm = form;                                          \
  static constexpr auto fields() { return std::tuple{TW_EACH(TW_FIELD, T, __VA_ARGS__)}; } \
  T() : Base(kKind) {}

/// The node as T, or nullptr when it is of another kind.
template <class T>
const T* as(const Node* node) {
  return node && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}
template <class T, class U>
const T* as(const Ref<U>& node) {
  return as<T>(static_cast<const Node*>(node.get()));
}
/// A counted handle on a node that is already shared.
template <class T>
Ref<T> ref(const T* node) {
  return Ref<T>(node);
}

constexpr bool is_expr(Kind k) { return k <= Kind::Load; }
constexpr bool is_stmt(Kind k) { return k > Kind::Load && k < Kind::Buffer; }

}  // namespace tilewright::ir
