#pragma once
// The IR as text. print() and the parsers are inverse: parse(print(x)) is structurally equal to x and shares the same
// expressions, and print(parse(text)) is the canonical form of `text`.
//
//   kernel scale stage traced {
//     scalar n: i64
//     param A: f32[n] strides [A_s0]
//     grid bx in ceildiv(n, 128) threads 128 {
//       alloc a: f32[128] shared
//       %0 = (bx * 128)
//       copy A[%0:+128] -> a[0:+128]
//       for parallel i in 128 {
//         store a[i] = (a[i] * 2:f32)
//       }
//       copy a[0:+128] -> A[%0:+128]
//     }
//   }
//
// Statements are written by the form of their TW_NODE. A block { } of exactly one statement is that statement, any
// other is a Seq; `seq { ... }` is a Seq where a block would not be one. Expressions:
//   5  -3:i32  0.5:f32  true                     constants, as to_string(Scalar)
//   x  A[i, j]                                   variable, load
//   (a + b)  max(a, b)  exp(x)                   operators by spelling, or by name when they have none
//   select(c, a, b)  fma(a, b, c)  cast<f16>(x)  cast<f16, inf_nan>(x)
//   %3                                           a subtree named before by a line `%3 = ...`
// `%3 = ...` is only a name in the text: it computes nothing. The printer names every expression (constants and
// variables aside) that has two or more uses, and parts of an expression deeper than 64 levels. A region is
// `A[first:+extent, ...]`. Names that are no identifiers, or are words of the expression syntax, stand in quotes:
// "and".
// `#` starts a comment. With PrintOptions::locations each declaration and statement ends its first line with
// @"file":line:column, which the parsers restore; a statement without one gets its place in the text.
#include <string>
#include <string_view>
#include <vector>

#include "ir/nodes.h"

namespace tilewright::ir {

struct PrintOptions {
  bool locations = false;  // the text without locations is the content key of a kernel
  bool bodies = true;      // false: a block prints as {...}, for messages (such text does not parse)
};

/// The text of any node. Kernels and statements end with a newline; expressions, buffers and regions do not.
std::string print(const Any& node, PrintOptions options = {});

/// The kernel that `text` describes. A mistake is a UserError at file_name:line:column.
Ref<Kernel> parse_kernel(std::string_view text, const char* file_name = "<text>");

/// An expression (with lines `%0 = ...` before it, when it has shared parts) over the given variables and buffers.
Expr parse_expr(std::string_view text, const std::vector<Ref<Var>>& variables,
                const std::vector<Ref<Buffer>>& buffers = {});

}  // namespace tilewright::ir
