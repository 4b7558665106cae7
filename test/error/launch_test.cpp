// Compiling for a machine, and calls whose arguments do not fit.
#include <limits>

#include "refuse.h"
#include "tilewright/jit.h"
#include "tilewright/kernels.h"

namespace tilewright::refused {
namespace {

/// y = s * x.  x, y (M, N) f32, y row-major, s f32.
Kernel scale_kernel(const std::string& machine = "interp") {
  auto build = [](Buffer x, Buffer y, Expr s) {
    auto [M, N] = x.shape<2>();
    for (Var b : grid(M)) {
      auto t = fragment(f32, {16});
      copy(x[{b, 0}], t);
      for (Var i : parallel(16)) t(i) *= s;
      copy(t, y[{b, 0}]);
    }
  };
  return compile("scale", build,
                 signature(tensor("x", f32, {"M", "N"}), tensor("y", f32, {"M", "N"}).contiguous(), scalar("s", f32)),
                 machine);
}

struct Data {
  std::vector<float> x = std::vector<float>(64, 2), y = std::vector<float>(64);
  Tensor X{x.data(), f32, {3, 5}, {}}, Y{y.data(), f32, {3, 5}, {}};
};

/// `call(kernel, data, line)` makes the wrong call.
template <class F>
void refuse_call(const std::string& message, F call) {
  Kernel k = scale_kernel();
  Data d;
  expect_error({message}, [&](unsigned& line) { call(k, d, line); });
  EXPECT_EQ(d.y, std::vector<float>(64));
}

TEST(Compile, ThreadsOutOfRange) {
  for (int threads : {-3, 1'000'000})
    expect_error({"compile: threads is " + std::to_string(threads) + "; wanted 0 (all processors) to 1024"},
                 [&](unsigned& line) {
                   const auto copy_one = [](Buffer x, Buffer y) {
                     for (Var b : grid(1)) y(b) = x(b);
                   };
                   const auto arguments = signature(tensor("x", f32, {"N"}), tensor("y", f32, {"N"}));
                   line = __LINE__ + 1;
                   compile("copy_one", copy_one, arguments, "interp", {.threads = threads});
                 });
}

TEST(Compile, LevelOutOfRange) {
  for (int level : {-1, 4})
    expect_error({"compile: opt_level is " + std::to_string(level) + "; wanted 0 to 3"}, [&](unsigned& line) {
      const auto copy_one = [](Buffer x, Buffer y) {
        for (Var b : grid(1)) y(b) = x(b);
      };
      const auto arguments = signature(tensor("x", f32, {"N"}), tensor("y", f32, {"N"}));
      line = __LINE__ + 1;
      compile("copy_one", copy_one, arguments, "interp", {.opt_level = level});
    });
}

TEST(Compile, ACopyOfOneValueOnEngines) {
  expect_error({"ascend: engines copy tiles, and var0 is one value; use shared(f32, {1})"}, [&](unsigned& line) {
    const auto builder = [&](Buffer y) {
      for (Var b : grid(1)) {
        auto v = var(f32, 3);
        line = __LINE__ + 1;
        copy(v, y[{b}]);
      }
    };
    compile("value", builder, signature(tensor("y", f32, {"N"}).contiguous()), "ascend-emulator");
  });
}

TEST(Compile, AScalarTypeThatTheMachineLacks) {
  const auto builder = [](Buffer y, Expr s) {
    for (Var b : grid(1)) y(b) = cast(f32, s);
  };
  const auto arguments = signature(tensor("y", f32, {"N"}), scalar("s", tf32));
  for (const char* machine : {"cuda-emulator", "ascend-emulator"}) {
    try {
      compile("scalar", builder, arguments, machine);
      ADD_FAILURE() << machine << " accepts it";
    } catch (const UserError& e) {
      EXPECT_NE(e.message().find("the scalar argument s is tf32, which this machine does not compute in; pass one of"),
                std::string::npos)
          << e.message();
    }
  }
}

TEST(Launch, RightCallsAreAccepted) {
  Kernel k = scale_kernel();
  Data d;
  k(d.X, d.Y, 0.5);
  EXPECT_EQ(d.y[14], 1.f);
  EXPECT_EQ(d.y[15], 0.f);
  k(d.X, d.Y, 3);
  EXPECT_EQ(d.y[0], 6.f);
  Tensor none{nullptr, f32, {0, 5}, {}};
  k(none, none, 1.0);
}

TEST(Launch, TooFewArguments) {
  refuse_call("scale: got 2 arguments, wanted 3 (2 tensors, 1 scalar)", [](Kernel& k, Data& d, unsigned& line) {
    line = __LINE__ + 1;
    k(d.X, d.Y);
  });
}

TEST(Launch, TooManyArguments) {
  refuse_call("scale: got 4 arguments, wanted 3 (2 tensors, 1 scalar)", [](Kernel& k, Data& d, unsigned& line) {
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0, 2.0);
  });
}

TEST(Launch, NothingBetweenArguments) {
  refuse_call("scale: argument 2 is {}, wanted a tensor or a number", [](Kernel& k, Data& d, unsigned& line) {
    line = __LINE__ + 1;
    k(d.X, {}, d.Y, 2.0);
  });
}

TEST(Launch, ATileTooLargeToInterpret) {
  expect_error({"interp: shared0 takes 4294967296 bytes; a tile takes at most 1073741824 here"}, [](unsigned& line) {
    const auto build = [&](Buffer x) {
      for (Var b : grid(1)) {
        line = __LINE__ + 1;
        auto t = shared(f32, {1 << 16, 1 << 14});
        copy(t.tile({0, b}, {1, 4}), x[{0}]);
      }
    };
    Kernel k = compile("huge", build, signature(tensor("X", f32, {4})), "interp");
    float x[4];
    k(Tensor{x, f32, {4}});
  });
}

TEST(Launch, MoreBlocksThanAMachineHas) {
  const auto build = [](Buffer x, Expr n, Expr m) {
    for (auto [i, j] : grid(n, m)) x(0) = cast(f32, i + j);
  };
  const auto arguments = signature(tensor("x", f32, {4}), scalar("n", i64), scalar("m", i64));
  float x[4] = {7, 7, 7, 7};
  const int64_t many = int64_t{1} << 32;
  for (auto [machine, most] : {std::pair("cuda-emulator", "2147483647"), std::pair("cpu", "9223372036854775807")}) {
#ifndef TW_HAVE_CPU
    if (machine == std::string_view("cpu")) continue;
#endif
    expect_error({std::string("wide: grid(4294967296, 4294967296) has more blocks than a launch on this machine, ") +
                  most + "; let a block do more"},
                 [&](unsigned& line) {
                   Kernel k = compile("wide", build, arguments, machine);
                   line = __LINE__ + 1;
                   k(Tensor{x, f32, {4}}, many, many);
                 });
    Kernel k = compile("wide", build, arguments, machine);
    k(Tensor{x, f32, {4}}, -many, -many);
    EXPECT_EQ(x[0], 7);
  }
}

TEST(Compile, CheckedSaysWhereItIsIgnored) {
  auto copy_tile = [](Buffer x) {
    for (Var b : grid(1)) {
      auto t = shared(f32, {4});
      copy(x[{b}], t);
      copy(t, x[{b}]);
    }
  };
  auto warnings = [&](const char* machine) {
    std::vector<std::string> texts;
    Kernel k = compile("twice", copy_tile, signature(tensor("X", f32, {4})), machine, {.checked = true});
    for (const CompileRemark& r : k.remarks())
      if (r.is_warning) texts.push_back(r.text);
    return texts;
  };
  EXPECT_EQ(warnings("interp"), std::vector<std::string>{});
  EXPECT_EQ(warnings("cuda-emulator"),
            std::vector<std::string>{"checked is ignored: cuda-emulator does not check, interp does"});
}

TEST(Launch, NoArguments) {
  refuse_call("scale: got 0 arguments, wanted 3 (2 tensors, 1 scalar)", [](Kernel& k, Data&, unsigned& line) {
    line = __LINE__ + 1;
    k();
  });
}

TEST(Launch, NumberForATensor) {
  refuse_call("scale: argument x: got a number, wanted a tensor (M, N) f32", [](Kernel& k, Data& d, unsigned& line) {
    line = __LINE__ + 1;
    k(1.0, d.Y, d.X);
  });
}

TEST(Launch, TensorForANumber) {
  refuse_call("scale: argument s: got a tensor, wanted a f32 number", [](Kernel& k, Data& d, unsigned& line) {
    Tensor other{d.x.data() + 32, f32, {3, 5}, {}};
    line = __LINE__ + 1;
    k(d.X, d.Y, other);
  });
}

TEST(Launch, OtherType) {
  refuse_call("scale: argument x: got (3, 5) f16, wanted (M, N) f32", [](Kernel& k, Data& d, unsigned& line) {
    d.X.dtype = f16;
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, OtherRank) {
  refuse_call("scale: argument y: got (15) f32, wanted (M, N) f32", [](Kernel& k, Data& d, unsigned& line) {
    d.Y.shape = {15};
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, OneSymbolWithTwoValues) {
  refuse_call("scale: size 1 of y is 4 but size 1 of x is 5; both must be N", [](Kernel& k, Data& d, unsigned& line) {
    d.Y.shape = {3, 4};
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, NegativeSize) {
  refuse_call("scale: argument x: size 0 is -3", [](Kernel& k, Data& d, unsigned& line) {
    d.X.shape = {-3, 5};
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, GapsInAContiguousTensor) {
  refuse_call("scale: stride 0 of y is 8 but size 1 of x is 5; both must be N", [](Kernel& k, Data& d, unsigned& line) {
    d.Y.strides = {8, 1};
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, NegativeStride) {
  refuse_call("scale: argument x: stride 1 is -1: negative strides are not supported",
              [](Kernel& k, Data& d, unsigned& line) {
                d.X.strides = {5, -1};
                line = __LINE__ + 1;
                k(d.X, d.Y, 1.0);
              });
}

TEST(Launch, StridesOfAnotherRank) {
  refuse_call("scale: argument x: has 2 sizes and 1 strides", [](Kernel& k, Data& d, unsigned& line) {
    d.X.strides = {5};
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, StrideBeyondTheAddressSpace) {
  refuse_call("scale: argument x: (3, 5) with strides (4611686018427387904, 1) spans more than 2^60 elements",
              [](Kernel& k, Data& d, unsigned& line) {
                d.X.strides = {int64_t{1} << 62, 1};
                line = __LINE__ + 1;
                k(d.X, d.Y, 1.0);
              });
}

TEST(Launch, NullData) {
  refuse_call("scale: argument x: data is null", [](Kernel& k, Data& d, unsigned& line) {
    d.X.data = nullptr;
    line = __LINE__ + 1;
    k(d.X, d.Y, 1.0);
  });
}

TEST(Launch, MisalignedData) {
  refuse_call("scale: argument y: data is not aligned to its element of 4 bytes",
              [](Kernel& k, Data& d, unsigned& line) {
                d.Y.data = reinterpret_cast<char*>(d.y.data()) + 2;
                line = __LINE__ + 1;
                k(d.X, d.Y, 1.0);
              });
}

TEST(Launch, OutputOverAnInput) {
  Kernel k = scale_kernel();
  Data d;
  expect_error({"scale: arguments y and x overlap in memory and the kernel writes y; pass a copy"},
               [&](unsigned& line) {
                 line = __LINE__ + 1;
                 k(d.X, d.X, 1.0);
               });
  EXPECT_EQ(d.x, std::vector<float>(64, 2));
}

TEST(Launch, OutputWhoseElementsShareAnAddress) {
  auto build = [](Buffer y) {
    for (Var b : grid(1)) y(b, 0) = 1;
  };
  Kernel k = compile("ones", build, signature(tensor("y", f32, {"M", "N"})), "interp");
  Data d;
  d.Y.strides = {0, 1};
  expect_error({"ones: argument y: the kernel writes it, but elements of (3, 5) with strides (0, 1) share an address"},
               [&](unsigned& line) {
                 line = __LINE__ + 1;
                 k(d.Y);
               });
  d.Y.strides = {4, 1};
  expect_error({"ones: argument y: the kernel writes it, but elements of (3, 5) with strides (4, 1) share an address"},
               [&](unsigned& line) {
                 line = __LINE__ + 1;
                 k(d.Y);
               });
  d.Y.strides = {1, 3};
  k(d.Y);
  EXPECT_EQ(d.y[0], 1.f);
}

TEST(Launch, FractionForAnInteger) {
  auto build = [](Buffer y, Expr n) {
    for (Var b : grid(1)) y(b) = n;
  };
  Kernel k = compile("count", build, signature(tensor("y", i32, {"N"}), scalar("n", i8)), "interp");
  std::vector<int32_t> data(4);
  Tensor y{data.data(), i32, {4}, {}};
  expect_error({"count: argument n: got 2.5, wanted a whole number (i8)"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    k(y, 2.5);
  });
  expect_error({"count: argument n: 128 does not fit i8"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    k(y, 128);
  });
  k(y, -128);
  EXPECT_EQ(data[0], -128);
}

// ---- kernels of the library -----------------------------------------------------------------------------------------

/// The library's line depends on its text, so only the message and the note with the user's line are compared.
template <class F>
void refuse_library(const std::string& message, unsigned line, F compile_it) {
  try {
    compile_it();
    ADD_FAILURE() << "accepted; it must be refused: " << message;
  } catch (const UserError& e) {
    EXPECT_EQ(e.message(), message);
    ASSERT_FALSE(e.notes().empty());
    EXPECT_EQ(e.notes().back().text, "while tracing kernel k");
    EXPECT_EQ(e.notes().back().at.line, line);
  }
}

std::string unequal(const char* a, const char* b) {
  return std::string("this kernel needs equal extents, but one is ") + a + " and the other " + b +
         ": give both one symbol or one number in the signature";
}

TEST(Library, GemmOfAMatrixThatIsNotTransposed) {
  auto build = [](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c, /*transpose_b=*/true); };
  refuse_library(unequal("N", "K"), __LINE__ + 1,
                 [&] { compile("k", build, gemm_signature(f32, f32, /*transpose_b=*/false), "interp"); });
}

TEST(Library, AttentionOfAnotherHeadSize) {
  auto build = [](Buffer q, Buffer k, Buffer v, Buffer o) { attention_kernel(q, k, v, o, 32, false); };
  refuse_library(unequal("64", "32"), __LINE__ + 1,
                 [&] { compile("k", build, attention_signature(f16, 64), "interp"); });
}

TEST(Library, RmsNormWithAWeightOfAnotherLength) {
  auto build = [](Buffer x, Buffer w, Buffer y) { rms_norm_kernel(x, w, y, 1e-5f); };
  auto arguments = signature(tensor("x", f32, {"R", "C"}), tensor("w", f32, {"D"}), tensor("y", f32, {"R", "C"}));
  refuse_library(unequal("D", "C"), __LINE__, [&] { compile("k", build, arguments, "interp"); });
}

TEST(Library, TilesOfNoElements) {
  auto build = [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 0}); };
  refuse_library("ceildiv: the divisor is the number 0", __LINE__ + 1,
                 [&] { compile("k", build, reverse_signature(f32), "interp"); });
}

TEST(Library, SoftmaxOfIntegers) {
  auto build = [](Buffer x, Buffer y) { softmax_kernel(x, y); };
  refuse_library("copy: fill: the number -inf does not fit src, which is i32", __LINE__ + 1,
                 [&] { compile("k", build, softmax_signature(i32), "interp"); });
}

TEST(Library, VectorAddOfBools) {
  auto build = [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z); };
  refuse_library("+ is not defined on bool: write cast(i32, x)", __LINE__ + 1,
                 [&] { compile("k", build, vector_add_signature(boolean), "interp"); });
}

TEST(Library, GemmOfBytesIntoFloats) {
  auto build = [](Buffer a, Buffer b, Buffer c) { gemm_kernel(a, b, c); };
  refuse_library("gemm: a is i8 and b is i8, so c must be i32, but it is f32", __LINE__ + 1,
                 [&] { compile("k", build, gemm_signature(i8, f32), "interp"); });
}

// ---- compiling ------------------------------------------------------------------------------------------------------

std::string known_machines() {
  std::string names;
  for (const MachineInfo& m : machines()) names += (names.empty() ? "" : ", ") + m.name;
  return names;
}

TEST(Compile, UnknownMachine) {
  expect_error({"no machine named 'gpu'; this build has " + known_machines()}, [](unsigned& line) {
    line = __LINE__ + 1;
    compile(
        "k",
        [](Buffer y) {
          for (Var b : grid(1)) y(b) = 1;
        },
        signature(tensor("y", f32, {"N"})), "gpu");
  });
}

TEST(Compile, UnknownStage) {
  Kernel k = scale_kernel();
  expect_error({"interp has no stage 'assembly'; its stages are traced, source"}, [&](unsigned& line) {
    line = __LINE__ + 1;
    k.text("assembly");
  });
}

TEST(Compile, UnknownPass) {
  const std::string text = "kernel k stage traced {\n}\n";
  std::string machine = machines().front().name, names;
  for (const std::string& name : pass_names(machine)) names += (names.empty() ? "" : ", ") + name;
  expect_error({"no pass named 'inline' for " + machine + "; its passes are " + names}, [&](unsigned& line) {
    line = __LINE__ + 1;
    run_passes(text, "k.tw", {"inline"}, machine);
  });
}

TEST(Compile, PassesOfAnUnknownMachine) {
  expect_error({"no machine named 'npu'; this build has " + known_machines()}, [](unsigned& line) {
    line = __LINE__ + 1;
    (void)pass_names("npu");
  });
}

TEST(Compile, MoreMemoryThanTheMachineHas) {
  if (known_machines().find("cpu") == std::string::npos) GTEST_SKIP() << "the CPU target is not in this build";
  expect_error({"cpu: shared0 needs 268435456 bytes of scratch, where a block has 8388608; make the tiles smaller\n"
                "scratch: 268435456 of 8388608 bytes\n"
                "  shared0       268435456 bytes at          0"},
               [](unsigned& line) {
                 auto build = [&](Buffer y) {
                   for (Var b : grid(1)) {
                     line = __LINE__ + 1;
                     auto t = shared(f32, {8192, 8192});
                     clear(t);
                     copy(t, y[{b, 0}]);
                   }
                 };
                 compile("k", build, signature(tensor("y", f32, {"M", "N"})), "cpu");
               });
}

}  // namespace
}  // namespace tilewright::refused
