// What the compiler made of a kernel: its text after any pass, the generated source, and what it has to remark.
#include <cstdio>
#include <string>

#include "tilewright/jit.h"

using namespace tilewright;

/// y = 2 x
void twice(Buffer x, Buffer y) {
  auto [N] = x.shape<1>();
  for (Var b : grid(ceildiv(N, 64))) {
    auto v = fragment(f32, {64});
    copy(x[{b * 64}], v);
    for (Var i : parallel(64)) v(i) *= 2;
    copy(v, y[{b * 64}]);
  }
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  Kernel kernel = compile(
      "twice", twice, signature(tensor("x", f32, {"N"}).contiguous(), tensor("y", f32, {"N"}).contiguous()), machine);

  std::printf("Compiled for %s in %.1f ms. Its stages are:\n", machine, kernel.compile_seconds() * 1e3);
  for (const std::string& stage : kernel.stages()) std::printf("  %s\n", stage.c_str());

  std::printf("\nAs it was traced:\n%s\n", kernel.text("traced").c_str());
  const std::string lowered = std::string(machine) == "interp" ? "source" : "lower_tiles";
  std::printf("\nAfter %s:\n%s\n", lowered.c_str(), kernel.text(lowered).c_str());

  std::printf("\nWhat the passes have to say:\n");
  for (const CompileRemark& remark : kernel.remarks())
    std::printf("  %s: %s\n", remark.pass.c_str(), remark.text.c_str());

  // A text is a program again. Passes run on it one by one: tw-opt does the same from a shell.
  const std::string traced = kernel.text("traced");
  return run_passes(traced, "twice", {}, machine) == traced ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
