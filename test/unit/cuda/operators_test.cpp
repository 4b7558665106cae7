// Every operator and cast of the CUDA text on the SIMT emulator.
#include "support/operator_checks.h"
#include "target/cuda/cuda_target.h"
#include "target/cuda/emulator_device.h"

namespace tilewright::cuda {
namespace {

class CudaOperators : public testing::Test {
 protected:
  CudaTarget target{"sm_90a"};
  EmulatorDevice device{0};
};

TEST_F(CudaOperators, Binary) {
  test::check_binary(target, device, {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64});
}
TEST_F(CudaOperators, Unary) {
  test::check_unary(target, device, {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64});
}
TEST_F(CudaOperators, Casts) {
  test::check_casts(target, device, {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, f16, bf16, e4m3, e5m2});
}
TEST_F(CudaOperators, Functions) {
  test::check_functions(target, device,
                        {{UnaryOp::exp, 1},
                         {UnaryOp::exp2, 1},
                         {UnaryOp::log, 1},
                         {UnaryOp::log2, 1},
                         {UnaryOp::sin, 1},
                         {UnaryOp::cos, 1},
                         {UnaryOp::tanh, 2},
                         {UnaryOp::erf, 1},
                         {UnaryOp::rsqrt, 1.5}});
}

}  // namespace
}  // namespace tilewright::cuda
