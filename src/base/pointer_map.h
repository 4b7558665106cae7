#pragma once
// A hash map keyed by address, for memo tables of passes: insert, find, clear; no erase and no iteration (its order
// would depend on addresses). References to values hold until the next insertion.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace tilewright {

/// Open addressing with linear probing; at most half full. V is movable and default-constructible. Keys are not null.
template <class V>
class PointerMap {
 public:
  /// Adds the pair unless the key is present. The value of the key, and whether it was added.
  std::pair<V&, bool> insert(const void* key, V value) {
    Slot& slot = slot_for(key);
    const bool added = slot.key == nullptr;
    if (added) {
      slot.key = key;
      slot.value = std::move(value);
      ++size_;
    }
    return {slot.value, added};
  }

  /// The value of the key, added as V() when missing.
  V& operator[](const void* key) {
    Slot& slot = slot_for(key);
    if (slot.key == nullptr) {
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }

  /// Null when the key is missing.
  V* find(const void* key) {
    if (size_ == 0) return nullptr;
    Slot& slot = slots_[probe(key)];
    return slot.key != nullptr ? &slot.value : nullptr;
  }
  const V* find(const void* key) const { return const_cast<PointerMap*>(this)->find(key); }

  bool contains(const void* key) const { return find(key) != nullptr; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Removes everything; the memory is kept.
  void clear() {
    if (size_ != 0) slots_.assign(slots_.size(), Slot());
    size_ = 0;
  }

  /// Makes room for this many keys.
  void reserve(size_t count) {
    size_t capacity = slots_.empty() ? kLeastCapacity : slots_.size();
    while (capacity < 2 * count) capacity *= 2;
    if (capacity > slots_.size()) rehash(capacity);
  }

 private:
  struct Slot {
    const void* key = nullptr;
    V value{};
  };

  static constexpr size_t kLeastCapacity = 16;

  /// The slot of the key, or the empty slot where it belongs. The table has an empty slot.
  size_t probe(const void* key) const {
    const size_t mask = slots_.size() - 1;
    // Nodes made one after the other lie side by side, and so do their slots: the page is hashed (Fibonacci hashing),
    // the place in the page is kept.
    const auto address = reinterpret_cast<uintptr_t>(key);
    size_t i = static_cast<size_t>(((address >> 12) * 0x9e3779b97f4a7c15u >> shift_) + (address >> 4)) & mask;
    while (slots_[i].key != key && slots_[i].key != nullptr) i = (i + 1) & mask;
    return i;
  }

  /// The same, after growing the table if the key could make it more than half full.
  Slot& slot_for(const void* key) {
    TW_CHECK(key != nullptr, "PointerMap: a null key");
    if (2 * (size_ + 1) > slots_.size()) rehash(slots_.empty() ? kLeastCapacity : 2 * slots_.size());
    return slots_[probe(key)];
  }

  void rehash(size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    shift_ = 64;
    for (size_t n = capacity; n > 1; n /= 2) --shift_;
    for (Slot& slot : old) {
      if (slot.key != nullptr) slots_[probe(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, or empty
  size_t size_ = 0;
  int shift_ = 64;  // 64 - log2(slots)
};

}  // namespace tilewright
