#pragma once
// Ref<T>: a shared, immutable IR node. Intrusive counts, so that a handle is one pointer and the public headers can
// hold nodes without seeing them. Destruction keeps its own worklist: freeing a chain of a million nodes does not
// recurse.
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tilewright::ir {

class Node;
void retain(const Node* node) noexcept;
void release(const Node* node) noexcept;

template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  explicit Ref(const T* node) : node_(node) {
    if (node_) retain(node_);
  }
  Ref(const Ref& o) : Ref(o.node_) {}
  Ref(Ref&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  template <class U>
    requires(!std::is_same_v<T, U> && std::is_base_of_v<T, U>)
  Ref(const Ref<U>& o) : Ref(static_cast<const T*>(o.get())) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~Ref() {
    if (node_) release(node_);
  }
  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  const T& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  /// The same node. Structural equality is ir::equal().
  friend bool same(const Ref& a, const Ref& b) { return a.node_ == b.node_; }

 private:
  const T* node_ = nullptr;
};

}  // namespace tilewright::ir
