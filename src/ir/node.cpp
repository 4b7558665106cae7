// Lifetime of nodes, and what make() computes: the structural hash, the dtype and the type rules.
#include <fmt/format.h>

#include "base/check.h"
#include "base/hash.h"
#include "ir/nodes.h"

namespace tilewright::ir {

void retain(const Node* node) noexcept { node->refs.fetch_add(1, std::memory_order_relaxed); }

void release(const Node* node) noexcept {
  if (node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // Deleting a node releases its children; they wait in a list instead of on the call stack. The list runs through the
  // field `hash`, which nobody reads any more, so that freeing needs no memory.
  thread_local const Node* waiting = nullptr;
  thread_local bool draining = false;
  const_cast<Node*>(node)->hash = reinterpret_cast<uintptr_t>(waiting);
  waiting = node;
  if (draining) return;
  draining = true;
  while (waiting) {
    const Node* next = waiting;
    waiting = reinterpret_cast<const Node*>(static_cast<uintptr_t>(next->hash));
    dispatch(*next, [](const auto& n) { delete &n; });
  }
  draining = false;
}

namespace {

uint64_t hash_of(const std::string& v) { return hash_bytes(v); }
uint64_t hash_of(const Scalar& v) {
  uint64_t h = hash_combine(v.bits, v.type.bits);
  return hash_combine(h, static_cast<uint64_t>(v.type.exponent) << 8 | static_cast<uint64_t>(v.type.cls));
}
uint64_t hash_of(const DType& t) {
  uint64_t packed = static_cast<uint64_t>(t.cls) | uint64_t{t.bits} << 8 | uint64_t{t.exponent} << 16 |
                    uint64_t{t.mantissa} << 24 | uint64_t{t.lanes} << 32 | static_cast<uint64_t>(t.nan) << 40;
  return hash_combine(packed, static_cast<uint64_t>(t.bias));
}
template <class T>
uint64_t hash_of(const Ref<T>& v) {
  return v ? static_cast<const Node*>(v.get())->hash : 0;
}
template <class T>
uint64_t hash_of(const std::vector<T>& v) {
  uint64_t h = v.size();
  for (const T& x : v) h = hash_combine(h, hash_of(x));
  return h;
}
template <class T>
  requires(std::is_enum_v<T> || std::is_integral_v<T>)
uint64_t hash_of(T v) {
  return static_cast<uint64_t>(v);
}

DType type_of(const Const& n) { return n.value.type; }
DType type_of(const Var& n) { return n.type; }
DType type_of(const Unary& n) {
  TW_CHECK(n.a && is_defined(n.op, n.a->dtype),
           fmt::format("{} is not defined on {}", name_of(n.op), n.a ? to_string(n.a->dtype) : "nothing"));
  return result_type(n.op, n.a->dtype);
}
DType type_of(const Binary& n) {
  TW_CHECK(n.a && n.b && n.a->dtype == n.b->dtype,
           fmt::format("{}: operands are {} and {}", name_of(n.op), n.a ? to_string(n.a->dtype) : "nothing",
                       n.b ? to_string(n.b->dtype) : "nothing"));
  TW_CHECK(is_defined(n.op, n.a->dtype), fmt::format("{} is not defined on {}", name_of(n.op), to_string(n.a->dtype)));
  return result_type(n.op, n.a->dtype);
}
DType type_of(const Select& n) {
  TW_CHECK(n.cond && n.cond->dtype == boolean, "select: the condition must be bool");
  TW_CHECK(n.a && n.b && n.a->dtype == n.b->dtype, "select: the two sides differ in type");
  return n.a->dtype;
}
DType type_of(const Fma& n) {
  TW_CHECK(n.a && n.b && n.c && n.a->dtype == n.b->dtype && n.a->dtype == n.c->dtype && n.a->dtype.is_float() &&
               !n.a->dtype.is_narrow_float(),
           "fma: the operands must be three f32 or three f64");
  return n.a->dtype;
}
DType type_of(const Cast& n) {
  TW_CHECK(n.a, "cast: no operand");
  return n.type;
}
DType type_of(const Load& n) {
  TW_CHECK(n.buffer && n.indices.size() == n.buffer->shape.size(),
           "load: the number of indices is not the buffer's rank");
  for (const Expr& i : n.indices) TW_CHECK(i && i->dtype.is_int(), "load: an index must be an integer");
  return n.buffer->dtype;
}

}  // namespace

void finish(Node* node) {
  dispatch(*node, [&]<class T>(const T&) {
    T& n = static_cast<T&>(*node);
    uint64_t h = hash_mix(static_cast<uint64_t>(T::kKind) + 1);
    each_field(n, [&](std::string_view, const auto& value) { h = hash_combine(h, hash_of(value)); });
    n.hash = h;
    if constexpr (std::is_base_of_v<ExprNode, T>) n.dtype = type_of(n);
  });
}

}  // namespace tilewright::ir
