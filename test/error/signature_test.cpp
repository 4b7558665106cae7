// Arguments of a kernel.
#include "refuse.h"

namespace tilewright::refused {
namespace {

template <class... S>
void trace_nothing(const Signature<S...>& s) {
  trace("k", s, [](auto&...) {
    for (Var b : grid(1)) (void)b;
  });
}

TEST(Signature, TwoTensorsOfOneName) {
  expect_error({"two tensors are named A: names are unique in a kernel", {"the first"}}, [](unsigned& line) {
    auto a = tensor("A", f32, {"N"});
    line = __LINE__ + 1;
    auto b = tensor("A", f32, {"N"});
    trace_nothing(signature(a, b));
  });
}

TEST(Signature, SymbolNamedLikeAScalar) {
  expect_error({"a scalar and a symbol are named N: names are unique in a kernel", {"the first"}}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"N"}), scalar("N", i64)));
  });
}

TEST(Signature, SymbolNamedLikeATensor) {
  expect_error({"a tensor and a symbol are named A: names are unique in a kernel", {"the first"}}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"N", "A"})));
  });
}

TEST(Signature, NameThatIsNoIdentifier) {
  expect_error({"tensor name \"my tensor\" is not an identifier"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("my tensor", f32, {"N"})));
  });
}

TEST(Signature, NameOfAType) {
  expect_error({"scalar name \"f32\" is the name of a type"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(scalar("f32", f32)));
  });
}

TEST(Signature, KernelNameThatIsNoIdentifier) {
  expect_error({"kernel name \"a-b\" is not an identifier"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace("a-b", signature(), [] {});
  });
}

TEST(Signature, ZeroExtent) {
  expect_error({"tensor A: an extent is 0: it must be at least 1"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"N", 0})));
  });
}

TEST(Signature, NoAxes) {
  expect_error({"tensor A has 0 axes: it must have 1 to 6"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {})));
  });
}

TEST(Signature, TooFewStrides) {
  expect_error({"tensor A has 2 axes but 1 strides"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"M", "N"}).strides({"lda"})));
  });
}

TEST(Signature, ContiguousWithStrides) {
  expect_error({"tensor A is declared contiguous() and has strides(...)"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"M"}).strides({2}).contiguous()));
  });
}

TEST(Signature, NegativeStride) {
  expect_error({"tensor A: a stride is -1: it must be at least 0"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f32, {"M"}).strides({-1})));
  });
}

TEST(Signature, VectorTensor) {
  expect_error({"tensor A: f16x2 is not a scalar type"}, [](unsigned& line) {
    line = __LINE__ + 1;
    trace_nothing(signature(tensor("A", f16.with_lanes(2), {"M"})));
  });
}

}  // namespace
}  // namespace tilewright::refused
