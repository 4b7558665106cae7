// f32 functions as straight-line code: argument reduction, a polynomial by Horner with fused multiply-adds, and exact
// scaling. The coefficients are interpolations at Chebyshev points of the reduced function over the reduced interval.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "target/cpu/llvm/values.h"

namespace tilewright::cpu {

using llvm::Intrinsic::ID;

Value* FloatMath::number(double v) { return llvm::ConstantFP::get(b_.getFloatTy(), v); }

Value* FloatMath::fma(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// Coefficients from the constant term up, in the type of x.
Value* FloatMath::polynomial(Value* x, std::initializer_list<double> coefficients) {
  const double* c = coefficients.end();
  Value* sum = llvm::ConstantFP::get(x->getType(), *--c);
  while (c != coefficients.begin()) sum = fma(sum, x, llvm::ConstantFP::get(x->getType(), *--c));
  return sum;
}

/// NaN stays NaN.
Value* FloatMath::clamp(Value* x, double low, double high) {
  x = b_.CreateSelect(b_.CreateFCmpOLT(x, number(low)), number(low), x);
  return b_.CreateSelect(b_.CreateFCmpOGT(x, number(high)), number(high), x);
}

/// p * 2^n for an i32 n in [-252, 254], in two exact factors so that overflow and subnormal results round once.
Value* FloatMath::scale(Value* p, Value* n) {
  Value* half = b_.CreateAShr(n, i32(1));
  Value* rest = b_.CreateSub(n, half);
  auto power = [&](Value* e) { return real(b_.CreateShl(b_.CreateAdd(e, i32(127)), i32(23))); };
  return b_.CreateFMul(b_.CreateFMul(p, power(half)), power(rest));
}

namespace {
/// Adding it rounds to a whole number in the low bits of the sum (round to nearest even, |x| < 2^22).
constexpr double kRound = 12582912.0;         // 1.5 * 2^23
constexpr uint32_t kRoundBits = 0x4b400000u;  // its f32 bits
constexpr double kLog2e = 0x1.715476p+0, kLog2eLow = 0x1.4ae0cp-26;
constexpr double kLn2 = 0x1.62e43p-1, kLn2Low = -0x1.05c61p-29;
}  // namespace

/// e^x = 2^n e^r, n = round(x / ln 2), |r| <= ln 2 / 2. At most 1.1 ulp.
Value* FloatMath::exp(Value* x) {
  x = clamp(x, -104.0, 89.0);  // beyond: 0 and infinity
  Value* shifted = fma(x, number(kLog2e), number(kRound));
  Value* n = b_.CreateFSub(shifted, number(kRound));
  Value* r = fma(n, number(-kLn2), x);
  r = fma(n, number(-kLn2Low), r);
  Value* q = polynomial(r, {0.5, 0x1.5554dcp-3, 0x1.55551ap-5, 0x1.120b6ep-7, 0x1.6d110ap-10});
  Value* p = b_.CreateFAdd(fma(q, b_.CreateFMul(r, r), r), number(1.0));
  return scale(p, b_.CreateSub(bits(shifted), i32(kRoundBits)));
}

/// 2^x = 2^n 2^r, n = round(x), |r| <= 1/2. At most 1 ulp.
Value* FloatMath::exp2(Value* x) {
  x = clamp(x, -152.0, 129.0);
  Value* shifted = b_.CreateFAdd(x, number(kRound));
  Value* r = b_.CreateFSub(x, b_.CreateFSub(shifted, number(kRound)));
  Value* q = polynomial(r, {0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af6cp-5, 0x1.3b2a54p-7, 0x1.5f0894p-10, 0x1.44138cp-13});
  return scale(fma(q, r, number(1.0)), b_.CreateSub(bits(shifted), i32(kRoundBits)));
}

/// x = 2^k (1 + f) for positive finite x, subnormal ones too.
FloatMath::Split FloatMath::split(Value* x) {
  Value* tiny = b_.CreateFCmpOLT(x, number(0x1p-126));
  Value* scaled = b_.CreateSelect(tiny, b_.CreateFMul(x, number(0x1p23)), x);
  Value* word = bits(scaled);
  Value* k = b_.CreateAShr(b_.CreateSub(word, i32(0x3f3504f3u)), i32(23));  // sqrt(1/2)
  Value* mantissa = real(b_.CreateSub(word, b_.CreateShl(k, i32(23))));
  k = b_.CreateSub(k, b_.CreateSelect(tiny, i32(23), i32(0)));
  return {b_.CreateFSub(mantissa, number(1.0)), b_.CreateSIToFP(k, b_.getFloatTy())};
}

/// log 0 = -inf, log of a negative number is NaN, log inf = inf, log NaN is NaN.
Value* FloatMath::log_special(Value* x, Value* result) {
  result = b_.CreateSelect(b_.CreateFCmpULT(x, number(INFINITY)), result, x);  // keeps infinity
  result = b_.CreateSelect(b_.CreateFCmpOEQ(x, number(0.0)), number(-INFINITY), result);
  return b_.CreateSelect(b_.CreateFCmpUGE(x, number(0.0)), b_.CreateSelect(b_.CreateFCmpUNO(x, x), x, result),
                         number(NAN));
}

/// log(1 + f) - f + f^2 / 2.
Value* FloatMath::log_tail(Value* f, Value* square) {
  return b_.CreateFMul(b_.CreateFMul(square, f),
                       polynomial(f, {0x1.555554p-2, -0x1.fffffcp-3, 0x1.999d5ap-3, -0x1.555b4ap-3, 0x1.23d21ap-3,
                                      -0x1.fcf4c6p-4, 0x1.dea282p-4, -0x1.d635bcp-4, 0x1.1d8ea6p-4}));
}

/// k ln 2 + log(1 + f). At most 1 ulp.
Value* FloatMath::log(Value* x) {
  auto [f, k] = split(x);
  Value* square = b_.CreateFMul(f, f);
  Value* tail = log_tail(f, square);
  tail = fma(square, number(-0.5), fma(k, number(kLn2Low), tail));
  return log_special(x, fma(k, number(kLn2), b_.CreateFAdd(f, tail)));
}

/// k + log(1 + f) / ln 2. At most 1.1 ulp.
Value* FloatMath::log2(Value* x) {
  auto [f, k] = split(x);
  Value* square = b_.CreateFMul(f, f);
  Value* tail = log_tail(f, square);
  tail = fma(square, number(-0.5), tail);
  Value* low = fma(tail, number(kLog2e), b_.CreateFMul(f, number(kLog2eLow)));
  return log_special(x, b_.CreateFAdd(k, fma(f, number(kLog2e), low)));
}

/// An odd polynomial below 0.625, 1 - 2 / (e^2|x| + 1) above. At most 1.5 ulp.
Value* FloatMath::tanh(Value* x) {
  Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* square = b_.CreateFMul(x, x);
  Value* q = polynomial(square, {-0x1.555552p-2, 0x1.110e1cp-3, -0x1.b9258ap-5, 0x1.58048ep-6, -0x1.8f8de4p-8});
  Value* small = fma(b_.CreateFMul(q, square), x, x);
  Value* e = exp(b_.CreateFAdd(magnitude, magnitude));
  Value* large = b_.CreateFSub(number(1.0), b_.CreateFDiv(number(2.0), b_.CreateFAdd(e, number(1.0))));
  Value* result = b_.CreateSelect(b_.CreateFCmpOLT(magnitude, number(0.625)), small, large);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);  // the small sum loses the sign of -0
}

}  // namespace tilewright::cpu
