#pragma once
// Passes on kernels that are written as text.
#include <string>

#include "ir/text.h"
#include "pass/passes.h"

namespace tilewright::test {

using PassFunction = KernelRef (*)(const KernelRef&, PassContext&);

/// The text after the passes.
inline std::string after(const std::string& text, const Target& target, std::initializer_list<PassFunction> passes) {
  PassContext context{target, {}};
  KernelRef kernel = ir::parse_kernel(text, "test");
  for (PassFunction pass : passes) kernel = pass(kernel, context);
  return ir::print(kernel);
}

/// What one of the passes has to say, a line each.
inline std::string remarks_of(std::string_view pass_name, const std::string& text, const Target& target,
                              std::initializer_list<PassFunction> passes) {
  PassContext context{target, {}};
  KernelRef kernel = ir::parse_kernel(text, "test");
  for (PassFunction pass : passes) kernel = pass(kernel, context);
  std::string lines;
  for (const Remark& r : context.remarks)
    if (r.pass == pass_name) lines += r.text + "\n";
  return lines;
}

/// What the first pass that refuses says.
inline std::string refusal(const std::string& text, const Target& target, std::initializer_list<PassFunction> passes) {
  try {
    after(text, target, passes);
  } catch (const UserError& e) {
    return e.message();
  }
  return "accepted";
}

/// A tile turned round: copied in by one engine, read by another, copied out.
inline const char* const kCopyIn = R"(
kernel k stage traced {
  scalar n: i64
  param A: f32[n] strides [1]
  param B: f32[n] strides [1]
  grid b in ceildiv(n, 8) threads 4 {
    alloc a: f32[8] shared
    alloc r: f32[8] shared
    copy A[(b * 8):+8] -> a[0:+8]
    for parallel i in 8 {
      store r[i] = a[(7 - i)]
    }
    copy r[0:+8] -> B[(b * 8):+8]
  }
})";

}  // namespace tilewright::test
