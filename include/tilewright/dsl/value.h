#pragma once
// Traced scalars. Building an expression is pure: it makes IR nodes and notes what the value depends on (its kernel,
// the loops whose variables it uses, the tile elements it reads). Only statements append to the kernel, and they refuse
// a value whose dependencies no longer hold.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tilewright/dtype.h"
#include "tilewright/error.h"

namespace tilewright::ir {
class Node;
void retain(const Node* node) noexcept;
void release(const Node* node) noexcept;
}  // namespace tilewright::ir

namespace tilewright {

/// The caller's line, as a default argument: `Location at = Here::current()`.
using Here = std::source_location;

namespace detail {

/// A counted pointer to an object that its header does not show.
template <class T>
class Counted {
 public:
  Counted() = default;
  explicit Counted(const T* p) : p_(p) {
    if (p_) retain(p_);
  }
  Counted(const Counted& o) : Counted(o.p_) {}
  Counted(Counted&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Counted& operator=(Counted o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Counted() {
    if (p_) release(p_);
  }
  const T* get() const { return p_; }

 private:
  const T* p_ = nullptr;
};

/// The tile elements that a value reads, one entry a tile with the oldest epoch; shared between values.
class Reads;
void retain(const Reads* reads) noexcept;
void release(const Reads* reads) noexcept;

/// An IR expression and what it depends on.
struct Value {
  Counted<ir::Node> node;  // null: a default-made or moved-from Expr
  Counted<Reads> reads;
  DType type;            // the nominal type; a narrow float is computed in f32, so the node may be f32
  bool literal = false;  // a host number: takes the other operand's type
  uint32_t trace = 0;    // 0: a constant
  uint32_t scope = 0;    // the innermost traced block whose names it uses, and its depth
  uint32_t depth = 0;
  uint32_t block = 0;  // the block that made its element reads; 0: it reads nothing
};

Value literal(bool v);
Value literal(int64_t v);
Value literal(uint64_t v);
Value literal(double v);
/// The innermost traced block; 0 outside a kernel.
uint32_t current_block();
/// An assignment to a host variable that was declared in `block`.
void check_assignable(uint32_t block, Location at);

template <class...>
inline constexpr bool always_false = false;

}  // namespace detail

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

template <int>
class BasicExpr;
template <int>
class BasicVar;
template <int>
class BasicCell;
/// A pure traced scalar.
using Expr = BasicExpr<0>;
/// A loop variable.
using Var = BasicVar<0>;
/// A mutable scalar made by var().
using Cell = BasicCell<0>;
class Element;
class Let;
class Truth;
class Buffer;
class Region;

template <class T>
concept NamedValue = std::same_as<T, Var> || std::same_as<T, Element> || std::same_as<T, Let> || std::same_as<T, Cell>;
template <class T>
concept Traced = NamedValue<T> || std::same_as<T, Expr> || std::same_as<T, Truth>;

/// A right-hand side or an operand: any traced value or host number, and the user's line.
class Operand {
 public:
  Operand(const Expr& e, Location at = Here::current());
  Operand(const Var& v, Location at = Here::current());
  Operand(const Element& e, Location at = Here::current());
  Operand(const Cell& c, Location at = Here::current());
  Operand(const Let& v, Location at = Here::current());
  Operand(const Truth& v, Location at = Here::current());
  template <Arithmetic T>
  Operand(T v, Location at = Here::current()) : at(at) {
    if constexpr (std::same_as<T, bool>)
      value = detail::literal(v);
    else if constexpr (std::floating_point<T>)
      value = detail::literal(static_cast<double>(v));
    else if constexpr (std::signed_integral<T>)
      value = detail::literal(static_cast<int64_t>(v));
    else
      value = detail::literal(static_cast<uint64_t>(v));
  }
  template <class T>
    requires std::same_as<std::remove_const_t<T>, Let>
  Operand(T&&, Location = {}) {
    static_assert(detail::always_false<T>, "the result of let(...) must be named: auto x = let(...); then use x");
  }
  template <class T>
    requires std::same_as<std::remove_const_t<T>, Cell>
  Operand(T&&, Location = {}) {
    static_assert(detail::always_false<T>, "the result of var(...) must be named: auto x = var(...); then use x");
  }
  template <class T>
    requires(std::same_as<std::remove_cvref_t<T>, Buffer> || std::same_as<std::remove_cvref_t<T>, Region>)
  Operand(T&&, Location = {}) {
    static_assert(detail::always_false<T>, "a tile is not a value: write t(i, j) for an element, copy(...) for a tile");
  }
  Operand(detail::Value v, Location at) : value(std::move(v)), at(at) {}

  detail::Value value;
  Location at;
};

// A traced value has no host value: `if (i < n)` stops here.
#define TW_DSL_NO_HOST_VALUE                                                                              \
  template <class B>                                                                                      \
    requires std::same_as<B, bool>                                                                        \
  explicit operator B() const {                                                                           \
    static_assert(detail::always_false<B>,                                                                \
                  "a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })"); \
    return false;                                                                                         \
  }

template <int>
class BasicExpr {
 public:
  BasicExpr() : scope_(detail::current_block()) {}
  BasicExpr(const BasicExpr& o) : value_(o.value_), scope_(detail::current_block()) {}
  BasicExpr(BasicExpr&& o) noexcept : value_(std::move(o.value_)), scope_(detail::current_block()) {}
  template <class T>
    requires(Arithmetic<std::remove_cvref_t<T>> ||
             (Traced<std::remove_cvref_t<T>> && !std::same_as<std::remove_cvref_t<T>, Expr>))
  BasicExpr(T&& v, Location at = Here::current()) : BasicExpr(Operand(std::forward<T>(v), at)) {}
  explicit BasicExpr(Operand o) : value_(std::move(o.value)), scope_(detail::current_block()) {}
  explicit BasicExpr(detail::Value v) : value_(std::move(v)), scope_(detail::current_block()) {}

  // Never eligible: it replaces the implicit one, so that assignment goes through Operand and knows its line.
  BasicExpr& operator=(const BasicExpr&)
    requires false;
  /// Assigns the host variable; only in the traced block that declared it.
  BasicExpr& operator=(Operand o) {
    detail::check_assignable(scope_, o.at);
    value_ = std::move(o.value);
    return *this;
  }
  BasicExpr& operator+=(const Operand& o);
  BasicExpr& operator-=(const Operand& o);
  BasicExpr& operator*=(const Operand& o);
  BasicExpr& operator/=(const Operand& o);

  TW_DSL_NO_HOST_VALUE
  const detail::Value& value() const { return value_; }

 private:
  detail::Value value_;
  uint32_t scope_;
};

template <int>
class BasicVar {
 public:
  explicit BasicVar(detail::Value v) : value_(std::move(v)) {}
  BasicVar(const BasicVar&) = default;
  BasicVar& operator=(const BasicVar&)
    requires false;
  template <class T>
  void operator=(T&&) {
    static_assert(detail::always_false<T>, "a loop variable cannot be assigned");
  }
  TW_DSL_NO_HOST_VALUE
  const detail::Value& value() const { return value_; }

 private:
  detail::Value value_;
};

/// The value of a statement, used through its name.
class [[nodiscard]] Let {
 public:
  explicit Let(detail::Value v) : value_(std::move(v)) {}
  Let(const Let&) = default;
  template <class T>
  void operator=(T&&) {
    static_assert(detail::always_false<T>, "a let value cannot be assigned: use var(...)");
  }
  void operator=(const Let&) = delete;
  TW_DSL_NO_HOST_VALUE
  const detail::Value& value() const { return value_; }

 private:
  detail::Value value_;
};

// An element or cell that is stored to through any name but its own: refused.
#define TW_DSL_NAMED_ELEMENT(op)                                                                                    \
  template <class T>                                                                                                \
  void operator op(T&&)& {                                                                                          \
    static_assert(detail::always_false<T>, "this variable holds the value read, not the place: write t(i, j) = x"); \
  }

/// t(i, j): a read where a value is wanted, a store when assigned.
class Element {
 public:
  Element(detail::Value v, Location at) : value_(std::move(v)), at_(at) {}
  Element(const Element&) = default;  // the same read: `return x;` in a generic lambda
  void operator=(const Element& o) && { store('=', Operand(o, at_)); }
  void operator=(const Operand& o) && { store('=', o); }
  void operator+=(const Operand& o) && { store('+', o); }
  void operator-=(const Operand& o) && { store('-', o); }
  void operator*=(const Operand& o) && { store('*', o); }
  void operator/=(const Operand& o) && { store('/', o); }
  TW_DSL_NAMED_ELEMENT(=)
  TW_DSL_NAMED_ELEMENT(+=)
  TW_DSL_NAMED_ELEMENT(-=)
  TW_DSL_NAMED_ELEMENT(*=)
  TW_DSL_NAMED_ELEMENT(/=)
  TW_DSL_NO_HOST_VALUE
  const detail::Value& value() const { return value_; }
  Location location() const { return at_; }

 private:
  void store(char op, const Operand& o);
  detail::Value value_;  // its node is the Load
  Location at_;
};

#undef TW_DSL_NAMED_ELEMENT

namespace detail {
/// What a tile handle carries besides its dtype.
struct Place {
  Counted<ir::Node> node;  // the ir::Buffer
  uint32_t trace = 0, scope = 0, depth = 0, storage = 0;
};
void store_cell(const Place& place, char op, const Operand& o);
}  // namespace detail

/// var(dtype, init): `v = x` stores, using it reads.
template <int>
class [[nodiscard]] BasicCell {
 public:
  explicit BasicCell(detail::Place p) : place_(std::move(p)) {}
  BasicCell(const BasicCell&) = default;
  BasicCell& operator=(const BasicCell&)
    requires false;
  void operator=(const Operand& o) & { detail::store_cell(place_, '=', o); }
  void operator+=(const Operand& o) & { detail::store_cell(place_, '+', o); }
  void operator-=(const Operand& o) & { detail::store_cell(place_, '-', o); }
  void operator*=(const Operand& o) & { detail::store_cell(place_, '*', o); }
  void operator/=(const Operand& o) & { detail::store_cell(place_, '/', o); }
  TW_DSL_NO_HOST_VALUE
  const detail::Place& place() const { return place_; }

 private:
  detail::Place place_;
};

/// !x, x && true: C++ gives these operators no line, so that x is a bool is checked where the result becomes an operand
/// or an Expr.
class Truth {
 public:
  explicit Truth(detail::Value v, int negations = 0) : value_(std::move(v)), negations_(negations) {}
  TW_DSL_NO_HOST_VALUE
  /// What is negated, and how often.
  const detail::Value& value() const { return value_; }
  int negations() const { return negations_; }

 private:
  detail::Value value_;
  int negations_;
};

#undef TW_DSL_NO_HOST_VALUE

}  // namespace tilewright
