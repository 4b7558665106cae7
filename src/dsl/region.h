#pragma once
// A region as a statement sees it.
#include "dsl/state.h"

namespace tilewright {

/// Part of a tile. `extent` is empty while it waits for the other operand's; else both have the buffer's rank.
struct Region::Data {
  detail::Place place;
  ir::Exprs offset, extent;
  detail::Value uses;  // of the offsets; no node
  Location at;
  const ir::Buffer& buffer() const { return detail::buffer_of(place); }
  bool waits() const { return extent.empty() && !buffer().shape.empty(); }
};

}  // namespace tilewright
