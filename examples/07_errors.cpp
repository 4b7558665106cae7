// Four mistakes, and what the compiler says: each message has the line of the mistake, what was got and what was
// wanted.
#include <cstdio>
#include <vector>

#include "tilewright/jit.h"

using namespace tilewright;

auto arguments() { return signature(tensor("x", f32, {"N"}).contiguous(), tensor("y", f32, {"N"}).contiguous()); }

/// Prints what `mistake` throws; the number of mistakes that went through.
template <class F>
int caught(const char* title, F mistake) {
  std::printf("---- %s\n", title);
  try {
    mistake();
  } catch (const UserError& error) {
    std::printf("%s\n\n", describe(error).c_str());
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "cpu";
  int missed = 0;

  missed += caught("tiles that do not fit each other", [&] {
    compile(
        "product",
        [](Buffer, Buffer) {
          for (Var b : grid(1)) {
            auto a = shared(f16, {64, 32}), w = shared(f16, {64, 16});
            auto c = fragment(f32, {64, 16});
            gemm(a, w, c);
          }
        },
        arguments(), machine);
  });

  missed += caught("a value that is no longer what was read", [&] {
    compile(
        "swap",
        [](Buffer x, Buffer y) {
          for (Var b : grid(1)) {
            auto first = x(0);  // an expression: it reads x where it is used. let(x(0)) reads it here
            x(0) = y(0);
            y(0) = first;
          }
        },
        arguments(), machine);
  });

  missed += caught("a call with arguments that the kernel is not for", [&] {
    Kernel kernel = compile(
        "twice",
        [](Buffer x, Buffer y) {
          for (Var b : grid(x.extent(0))) y(b) = x(b) * 2;
        },
        arguments(), machine);
    std::vector<float> x(100), y(99);
    kernel(Tensor{x.data(), f32, {100}}, Tensor{y.data(), f32, {99}});
  });

  // Checked mode runs the program in the interpreter and looks at every access.
  missed += caught("iterations that disturb each other", [&] {
    Kernel kernel = compile("shift",
                            [](Buffer x, Buffer y) {
                              for (Var b : grid(1)) {
                                auto t = shared(f32, {8});
                                copy(x[{0}], t);
                                for (Var i : parallel(7)) t(i) = t(i + 1);
                                copy(t, y[{0}]);
                              }
                            },
                            arguments(), "interp", {.checked = true});
    std::vector<float> x(8), y(8);
    kernel(Tensor{x.data(), f32, {8}}, Tensor{y.data(), f32, {8}});
  });
  return missed;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", describe(error).c_str());
  return 1;
}
