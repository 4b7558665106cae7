// sin, cos and erf of f32, computed in f64 and rounded once at the end: at most 0.51 ulp for every argument.
#include <llvm/IR/Intrinsics.h>

#include <array>
#include <cmath>

#include "target/cpu/llvm/values.h"

namespace tilewright::cpu {

namespace {
/// The first 224 fraction bits of 2 / pi, after a word of zeros.
constexpr std::array<uint32_t, 8> kTwoOverPi = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
}  // namespace

/// |x| = q pi / 2 + r (mod 2 pi), |r| <= pi / 4, for finite x. The product of the 24-bit significand with the 96 bits
/// of 2 / pi that matter at the exponent of x is exact: bits above have weight 4 and more, bits below do not reach r.
/// (M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983.)
FloatMath::Quadrant FloatMath::quadrant(Value* magnitude) {
  Value* word = bits(magnitude);
  Value* significand = b_.CreateOr(b_.CreateAnd(word, i32(0x007fffffu)), i32(0x00800000u));
  Value* start = b_.CreateSub(b_.CreateLShr(word, 23), i32(120));  // first of the 96 bits; 6 at 0.5, 134 at the largest
  Value* first = b_.CreateLShr(start, 5);
  std::array<Value*, 4> words;
  for (size_t j = 0; j < words.size(); ++j) {
    words[j] = i32(kTwoOverPi[j]);
    for (uint32_t k = 1; k <= 4; ++k)
      words[j] = b_.CreateSelect(b_.CreateICmpEQ(first, i32(k)), i32(kTwoOverPi[j + k]), words[j]);
  }
  auto product = [&](size_t j) {
    Value* window = b_.CreateIntrinsic(llvm::Intrinsic::fshl, {b_.getInt32Ty()}, {words[j], words[j + 1], start});
    return b_.CreateMul(b_.CreateZExt(significand, b_.getInt64Ty()), b_.CreateZExt(window, b_.getInt64Ty()));
  };
  // In units of 2^-62 quarter turns, modulo 4.
  Value* turns = b_.CreateAdd(b_.CreateAdd(b_.CreateShl(product(0), 32), product(1)), b_.CreateLShr(product(2), 32));
  Value* q = b_.CreateTrunc(b_.CreateLShr(b_.CreateAdd(turns, b_.getInt64(uint64_t{1} << 61)), 62), b_.getInt32Ty());
  Value* r = b_.CreateSIToFP(b_.CreateShl(turns, 2), b_.getDoubleTy());
  r = b_.CreateFMul(r, llvm::ConstantFP::get(b_.getDoubleTy(), std::ldexp(kHalfPi, -64)));
  Value* is_small = b_.CreateFCmpOLT(magnitude, number(0.5));
  return {b_.CreateSelect(is_small, i32(0), q),
          b_.CreateSelect(is_small, b_.CreateFPExt(magnitude, b_.getDoubleTy()), r)};
}

/// sin of q + 1 quarter turns is cos of q. NaN for an infinity.
Value* FloatMath::sin_cos(Value* x, bool is_cos) {
  Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  auto [q, r] = quadrant(magnitude);
  Value* square = b_.CreateFMul(r, r);
  Value* sine =
      polynomial(square, {-0x1.555555545e0acp-3, 0x1.11110def2e1c9p-7, -0x1.a013a793b98cep-13, 0x1.6dbe0838a06e9p-19});
  sine = fma(b_.CreateFMul(sine, square), r, r);
  Value* cosine = polynomial(square, {1.0, -0x1.fffffffffe697p-2, 0x1.555555514f774p-5, -0x1.6c16bae5ef6d4p-10,
                                      0x1.a01298d866458p-16, -0x1.2474e1a97d143p-22});
  if (is_cos) q = b_.CreateAdd(q, i32(1));
  Value* is_odd = b_.CreateICmpNE(b_.CreateAnd(q, i32(1)), i32(0));
  Value* result = bits(b_.CreateFPTrunc(b_.CreateSelect(is_odd, cosine, sine), b_.getFloatTy()));
  Value* sign = b_.CreateAnd(b_.CreateShl(q, 30), i32(0x80000000u));
  if (!is_cos) sign = b_.CreateXor(sign, b_.CreateAnd(bits(x), i32(0x80000000u)));
  result = real(b_.CreateXor(result, sign));
  return b_.CreateSelect(b_.CreateFCmpOLT(magnitude, number(INFINITY)), result, number(NAN));
}

/// x times a polynomial in x^2, centred on the middle of [0, 16]; beyond 4 the f32 is 1.
Value* FloatMath::erf(Value* x) {
  Value* wide = b_.CreateFPExt(clamp(x, -4.0, 4.0), b_.getDoubleTy());
  auto wide_number = [&](double v) { return llvm::ConstantFP::get(b_.getDoubleTy(), v); };
  Value* t = fma(b_.CreateFMul(wide, wide), wide_number(0.125), wide_number(-1.0));
  Value* p =
      polynomial(t, {0x1.6a040781a499cp-2,  -0x1.69a0ccd73f872p-3,  0x1.0dabaf051a407p-3,  -0x1.b92e97780fe60p-4,
                     0x1.717efd071ad1bp-4,  -0x1.3215b3d79ca84p-4,  0x1.ea97d94410fc4p-5,  -0x1.76eb3afae916ap-5,
                     0x1.0ed618c4f8020p-5,  -0x1.701656f8b2ed4p-6,  0x1.d6212dadedaeap-7,  -0x1.1ac84937ba3d2p-7,
                     0x1.3e965dc66e8e1p-8,  -0x1.4bb343de2e5a7p-9,  0x1.4ec6e7bdca99cp-10, -0x1.60bd5cd0fbaffp-11,
                     0x1.35799ef561d5dp-12, -0x1.2fecf75962793p-14, 0x1.14a6affe30a5dp-15, -0x1.33b971ec16712p-15,
                     0x1.affb49acb570ap-17});
  return b_.CreateFPTrunc(b_.CreateFMul(wide, p), b_.getFloatTy());
}

}  // namespace tilewright::cpu
