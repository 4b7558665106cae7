#pragma once
// One mistake a case: the kernel must be refused with exactly this message, at exactly this line.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dsl/trace.h"
#include "tilewright/dsl.h"

namespace tilewright::refused {

struct Expected {
  std::string message;
  std::vector<std::string> notes = {};
};

/// `body(line)` sets `line` to that of its mistake before it makes it.
template <class F>
void expect_error(const Expected& expected, F body) {
  unsigned line = 0;
  try {
    body(line);
    ADD_FAILURE() << "accepted; it must be refused: " << expected.message;
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), expected.message);
    EXPECT_EQ(e.location().line, line) << e.what();
    std::vector<std::string> notes;
    for (const Note& n : e.notes()) notes.push_back(n.text);
    EXPECT_EQ(notes, expected.notes) << e.what();
  }
}

/// Traces `body(A, x, line)` as a whole kernel. A (M, N) f32 with run-time strides, x (8, 16) f16.
template <class F>
void refuse_kernel(const Expected& expected, F body, Location at = Here::current()) {
  expect_error(expected, [&](unsigned& line) {
    trace(
        "wrong", signature(tensor("A", f32, {"M", "N"}), tensor("x", f16, {8, 16})),
        [&](Buffer A, Buffer x) { body(A, x, line); }, at);
  });
}

/// The same inside a grid.
template <class F>
void refuse(const Expected& expected, F body, Location at = Here::current()) {
  auto in_a_grid = [&](Buffer A, Buffer x, unsigned& line) {
    for (Var b : grid(1, threads{32})) body(A, x, b, line);
  };
  refuse_kernel(expected, in_a_grid, at);
}

/// Inside a grid, with tiles v (8) and w (8), shared f32.
template <class F>
void refuse_tiles(const Expected& expected, F body, Location at = Here::current()) {
  auto with_tiles = [&](Buffer, Buffer, unsigned& line) {
    for (Var b : grid(1, threads{32})) {
      auto v = shared(f32, {8}), w = shared(f32, {8});
      (void)b;
      body(v, w, line);
    }
  };
  refuse_kernel(expected, with_tiles, at);
}

}  // namespace tilewright::refused
