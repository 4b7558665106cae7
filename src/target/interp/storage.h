#pragma once
// The memory of one buffer while a kernel is interpreted, with what checked mode must remember of each element.
#include <vector>

#include "numeric/scalar.h"

namespace tilewright::interp {

/// Who touched an element within one scope whose members are unordered: the iterations of a parallel loop, or the
/// blocks of a grid. `scope` names the execution of the loop; a mark of another scope is stale.
struct Mark {
  uint64_t scope = 0;
  int64_t writer = -1, reader = -1;  // the member that wrote or read last
  bool many_readers = false;
};

struct ElementState {
  bool written = false;    // holds a value: the caller's or the kernel's
  bool by_kernel = false;  // the kernel wrote it
  Mark iteration, block;
};

struct Storage {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape, strides;  // strides in elements
  void* data = nullptr;
  bool is_global = false;
  std::vector<uint8_t> owned;        // of tiles
  std::vector<ElementState> states;  // checked mode: one an element of the span

  /// The element offset of an index; false when it lies outside the shape.
  bool locate(const int64_t* indices, int64_t& offset) const {
    offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (indices[d] < 0 || indices[d] >= shape[d]) return false;
      offset += indices[d] * strides[d];
    }
    return true;
  }
};

}  // namespace tilewright::interp
