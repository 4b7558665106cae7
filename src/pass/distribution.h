#pragma once
// A tile held by the threads of a block together: which element lies with which thread, in which of its slots. Internal
// to src/pass.
#include <optional>
#include <string>
#include <vector>

#include "ir/nodes.h"
#include "tilewright/layout.h"

namespace tilewright {

/// One digit of a coordinate. It is a digit of the thread number (`threads` > 0: (thread / threads) % extent), or
/// counts slots of the thread.
struct Digit {
  int64_t extent = 1, threads = 0, slots = 0;

  bool operator==(const Digit&) const = default;
  bool of_thread() const { return threads > 0; }
  /// The same part of the thread number; slots may be numbered in any order.
  bool same_place(const Digit& o) const { return extent == o.extent && threads == o.threads; }
};

struct Distribution {
  struct Axis {
    int64_t extent = 1;
    std::vector<Digit> digits;  // most significant first; their extents multiply to `extent` or more
    int64_t padded() const;
    bool is_padded() const { return padded() > extent; }
  };
  std::vector<Axis> axes;
  std::vector<Digit> copies;  // parts of the thread number that the place of an element does not depend on

  static Distribution of(const Layout& layout);
  Layout layout(int64_t element_bits) const;

  /// The distribution of row-major `shape` over `threads` threads, `lanes` to a warp: lanes and then warps along the
  /// last axis, where the rows do not need the warps; the next axis takes the others; all else is slots. Neighbouring
  /// elements lie with neighbouring threads.
  static Distribution rows(const std::vector<int64_t>& shape, int64_t threads, int64_t lanes);

  /// Without all axes but `kept`, in that order: every thread that holds an element of them keeps it.
  Distribution project(const std::vector<size_t>& kept) const;
  /// Every element lies with the same threads.
  bool same_places(const Distribution& other) const;
  int64_t slots() const;
};

/// How a parallel loop is dealt out to the threads: by a distributed tile whose axes run with all its variables, one
/// axis of the result a variable. Nothing: iteration i runs on thread i % threads.
std::optional<Distribution> dealing_of(const ir::For& loop);

}  // namespace tilewright
