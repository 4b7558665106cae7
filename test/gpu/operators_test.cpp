// Every operator and cast on the GPU that is here.
#include "gpu/gpu.h"
#include "support/operator_checks.h"

namespace tilewright::cuda {
namespace {

using GpuOperators = GpuTest;

TEST_F(GpuOperators, Binary) {
  test::check_binary(target(), device(), {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64});
}
TEST_F(GpuOperators, Unary) {
  test::check_unary(target(), device(), {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64});
}
TEST_F(GpuOperators, Casts) {
  test::check_casts(target(), device(),
                    {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, f16, bf16, e4m3, e5m2});
}
// NVIDIA's documented bounds of its f32 functions.
TEST_F(GpuOperators, Functions) {
  test::check_functions(target(), device(),
                        {{UnaryOp::exp, 2},
                         {UnaryOp::exp2, 2},
                         {UnaryOp::log, 1},
                         {UnaryOp::log2, 1},
                         {UnaryOp::sin, 2},
                         {UnaryOp::cos, 2},
                         {UnaryOp::tanh, 2},
                         {UnaryOp::erf, 2},
                         {UnaryOp::rsqrt, 2}});
}

}  // namespace
}  // namespace tilewright::cuda
