// Operators and conversions. The rules are those of numeric/scalar.h.
#include "target/cpu/llvm/values.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <cmath>

#include "base/check.h"
#include "numeric/format.h"

namespace tilewright::cpu {

namespace Intrinsic = llvm::Intrinsic;

llvm::Type* Values::value_type(DType t) {
  TW_CHECK(t.lanes == 1, "cpu: vector type " + to_string(t));
  if (t.is_bool()) return b_.getInt1Ty();
  if (t.is_int()) return b_.getIntNTy(t.bits);
  return t.bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
}

llvm::Type* Values::storage_type(DType t) {
  if (t == f32) return b_.getFloatTy();
  if (t == f64) return b_.getDoubleTy();
  return b_.getIntNTy(t.storage_bits);
}

Value* Values::constant(Scalar s) {
  if (s.type.is_float()) return llvm::ConstantFP::get(value_type(s.type), s.as_double());
  return llvm::ConstantInt::get(value_type(s.type), s.bits, s.type.is_signed_int());
}

Value* Values::as_index(DType t, Value* v) {
  return t.is_signed_int() ? b_.CreateSExt(v, b_.getInt64Ty()) : b_.CreateZExt(v, b_.getInt64Ty());
}

// ---- unary --------------------------------------------------------------------------------------------------------

/// A call of the C library's function on f64. Such functions touch no memory that we see.
Value* Values::math_call(const char* name, Value* a) {
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  llvm::FunctionCallee callee = module->getOrInsertFunction(name, a->getType(), a->getType());
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return b_.CreateCall(callee, {a});
}

Value* Values::unary(UnaryOp op, DType t, Value* a) {
  FloatMath math(b_);
  const bool is_f32 = a->getType()->isFloatTy();
  switch (op) {
    case UnaryOp::neg:
      return t.is_float() ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case UnaryOp::bit_not:
    case UnaryOp::logical_not:
      return b_.CreateNot(a);
    case UnaryOp::abs:
      if (t.is_float()) return b_.CreateUnaryIntrinsic(Intrinsic::fabs, a);
      if (!t.is_signed_int()) return a;
      return b_.CreateBinaryIntrinsic(Intrinsic::abs, a, b_.getFalse());
    case UnaryOp::sqrt:
      return b_.CreateUnaryIntrinsic(Intrinsic::sqrt, a);
    case UnaryOp::rsqrt:
      return b_.CreateFDiv(llvm::ConstantFP::get(a->getType(), 1.0), b_.CreateUnaryIntrinsic(Intrinsic::sqrt, a));
    case UnaryOp::exp:
      return is_f32 ? math.exp(a) : math_call("exp", a);
    case UnaryOp::exp2:
      return is_f32 ? math.exp2(a) : math_call("exp2", a);
    case UnaryOp::log:
      return is_f32 ? math.log(a) : math_call("log", a);
    case UnaryOp::log2:
      return is_f32 ? math.log2(a) : math_call("log2", a);
    case UnaryOp::tanh:
      return is_f32 ? math.tanh(a) : math_call("tanh", a);
    case UnaryOp::sin:
      return is_f32 ? math.sin(a) : math_call("sin", a);
    case UnaryOp::cos:
      return is_f32 ? math.cos(a) : math_call("cos", a);
    case UnaryOp::erf:
      return is_f32 ? math.erf(a) : math_call("erf", a);
    case UnaryOp::floor:
      return b_.CreateUnaryIntrinsic(Intrinsic::floor, a);
    case UnaryOp::ceil:
      return b_.CreateUnaryIntrinsic(Intrinsic::ceil, a);
    case UnaryOp::trunc:
      return b_.CreateUnaryIntrinsic(Intrinsic::trunc, a);
    case UnaryOp::round_even:
      return b_.CreateUnaryIntrinsic(Intrinsic::roundeven, a);
    case UnaryOp::is_nan:
      return b_.CreateFCmpUNO(a, a);
  }
  TW_CHECK(false, "cpu: unknown unary operator");
  return nullptr;
}

// ---- binary -------------------------------------------------------------------------------------------------------

Value* Values::binary(BinaryOp op, DType t, Value* a, Value* b) {
  if (t.is_float()) return float_binary(op, a, b);
  return integer_binary(op, t, a, b);
}

namespace {
llvm::CmpInst::Predicate integer_predicate(BinaryOp op, bool is_signed) {
  using P = llvm::CmpInst;
  switch (op) {
    case BinaryOp::eq:
      return P::ICMP_EQ;
    case BinaryOp::ne:
      return P::ICMP_NE;
    case BinaryOp::lt:
      return is_signed ? P::ICMP_SLT : P::ICMP_ULT;
    case BinaryOp::le:
      return is_signed ? P::ICMP_SLE : P::ICMP_ULE;
    case BinaryOp::gt:
      return is_signed ? P::ICMP_SGT : P::ICMP_UGT;
    default:
      return is_signed ? P::ICMP_SGE : P::ICMP_UGE;
  }
}

llvm::CmpInst::Predicate float_predicate(BinaryOp op) {
  using P = llvm::CmpInst;
  switch (op) {
    case BinaryOp::eq:
      return P::FCMP_OEQ;
    case BinaryOp::ne:
      return P::FCMP_UNE;
    case BinaryOp::lt:
      return P::FCMP_OLT;
    case BinaryOp::le:
      return P::FCMP_OLE;
    case BinaryOp::gt:
      return P::FCMP_OGT;
    default:
      return P::FCMP_OGE;
  }
}
}  // namespace

Value* Values::integer_binary(BinaryOp op, DType t, Value* a, Value* b) {
  const bool is_signed = t.is_signed_int();
  switch (op) {
    case BinaryOp::add:
      return b_.CreateAdd(a, b);
    case BinaryOp::sub:
      return b_.CreateSub(a, b);
    case BinaryOp::mul:
      return b_.CreateMul(a, b);
    case BinaryOp::floordiv:
    case BinaryOp::floormod:
    case BinaryOp::truncdiv:
    case BinaryOp::truncmod:
    case BinaryOp::ceildiv:
      return division(op, is_signed, a, b);
    case BinaryOp::min:
    case BinaryOp::min_nan:
      return b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smin : Intrinsic::umin, a, b);
    case BinaryOp::max:
    case BinaryOp::max_nan:
      return b_.CreateBinaryIntrinsic(is_signed ? Intrinsic::smax : Intrinsic::umax, a, b);
    case BinaryOp::bit_and:
    case BinaryOp::logical_and:
      return b_.CreateAnd(a, b);
    case BinaryOp::bit_or:
    case BinaryOp::logical_or:
      return b_.CreateOr(a, b);
    case BinaryOp::bit_xor:
      return b_.CreateXor(a, b);
    case BinaryOp::shl:
    case BinaryOp::shr:
      return shift(op, is_signed, a, b);
    case BinaryOp::div:
      break;
    default:
      return b_.CreateICmp(integer_predicate(op, is_signed), a, b);
  }
  TW_CHECK(false, "cpu: operator div on an integer");
  return nullptr;
}

/// x / 0 = x % 0 = 0; the least value / -1 wraps. Constant divisors lose the guards, powers of two become shifts.
Value* Values::division(BinaryOp op, bool is_signed, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  const bool wants_remainder = op == BinaryOp::floormod || op == BinaryOp::truncmod;
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(b)) {
    const llvm::APInt& d = c->getValue();
    if (d.isZero()) return zero;
    if (d.isPowerOf2() && !(is_signed && d.isNegative())) {
      Value* shift = llvm::ConstantInt::get(type, d.logBase2());
      Value* low = llvm::ConstantInt::get(type, d - 1);
      if (op == BinaryOp::floormod || (!is_signed && op == BinaryOp::truncmod)) return b_.CreateAnd(a, low);
      if (op == BinaryOp::floordiv || (!is_signed && op == BinaryOp::truncdiv))
        return is_signed ? b_.CreateAShr(a, shift) : b_.CreateLShr(a, shift);
    }
  }
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  Value* unsafe = by_zero;
  Value* by_minus_one = nullptr;
  if (is_signed) {
    by_minus_one = b_.CreateICmpEQ(b, llvm::ConstantInt::getAllOnesValue(type));
    unsafe = b_.CreateOr(by_zero, by_minus_one);
  }
  Value* divisor = b_.CreateSelect(unsafe, one, b);
  Value* quotient = is_signed ? b_.CreateSDiv(a, divisor) : b_.CreateUDiv(a, divisor);
  Value* remainder = b_.CreateSub(a, b_.CreateMul(quotient, divisor));  // 0 for the divisors 0, 1 and -1
  if (is_signed) quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(a), quotient);
  quotient = b_.CreateSelect(by_zero, zero, quotient);
  if (op == BinaryOp::truncdiv) return quotient;
  if (op == BinaryOp::truncmod) return remainder;
  Value* inexact = b_.CreateICmpNE(remainder, zero);
  // Whether the exact quotient lies below the truncated one.
  Value* above = is_signed ? b_.CreateAnd(inexact, b_.CreateICmpSLT(b_.CreateXor(remainder, b), zero))
                           : static_cast<Value*>(b_.getFalse());
  if (op == BinaryOp::ceildiv)
    return b_.CreateAdd(quotient, b_.CreateZExt(b_.CreateAnd(inexact, b_.CreateNot(above)), type));
  if (wants_remainder) return b_.CreateAdd(remainder, b_.CreateSelect(above, b, zero));
  return b_.CreateSub(quotient, b_.CreateZExt(above, type));
}

/// An amount outside [0, bits) moves every bit out.
Value* Values::shift(BinaryOp op, bool is_signed, Value* a, Value* amount) {
  llvm::Type* type = a->getType();
  const unsigned bits = type->getIntegerBitWidth();
  Value* inside = b_.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  Value* beyond = llvm::ConstantInt::get(type, op == BinaryOp::shr && is_signed ? bits - 1 : 0);
  Value* safe = b_.CreateSelect(inside, amount, beyond);
  if (op == BinaryOp::shr && is_signed) return b_.CreateAShr(a, safe);
  Value* shifted = op == BinaryOp::shl ? b_.CreateShl(a, safe) : b_.CreateLShr(a, safe);
  return b_.CreateSelect(inside, shifted, llvm::ConstantInt::get(type, 0));
}

Value* Values::float_binary(BinaryOp op, Value* a, Value* b) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
  if (reassociate) {
    llvm::FastMathFlags flags;
    flags.setAllowReassoc();
    flags.setAllowContract(true);
    flags.setNoSignedZeros();
    b_.setFastMathFlags(flags);
  }
  switch (op) {
    case BinaryOp::add:
      return b_.CreateFAdd(a, b);
    case BinaryOp::sub:
      return b_.CreateFSub(a, b);
    case BinaryOp::mul:
      return b_.CreateFMul(a, b);
    case BinaryOp::div: {
      b_.clearFastMathFlags();
      return b_.CreateFDiv(a, b);
    }
    case BinaryOp::min:
      return number_min_max(false, a, b);
    case BinaryOp::max:
      return number_min_max(true, a, b);
    case BinaryOp::min_nan:
      return b_.CreateBinaryIntrinsic(Intrinsic::minimum, a, b);
    case BinaryOp::max_nan:
      return b_.CreateBinaryIntrinsic(Intrinsic::maximum, a, b);
    default:
      break;
  }
  TW_CHECK(is_comparison(op), "cpu: integer operator on a float");
  b_.clearFastMathFlags();
  return b_.CreateFCmp(float_predicate(op), a, b);
}

/// The number when one operand is NaN; -0 lies below +0 (in reductions the sign of a zero is free).
Value* Values::number_min_max(bool is_max, Value* a, Value* b) {
  if (reassociate) return b_.CreateBinaryIntrinsic(is_max ? Intrinsic::maxnum : Intrinsic::minnum, a, b);
  if (llvm::isa<llvm::ConstantFP>(a)) std::swap(a, b);
  auto compare = [&](bool or_equal) {
    auto predicate = is_max ? (or_equal ? llvm::CmpInst::FCMP_OGE : llvm::CmpInst::FCMP_OGT)
                            : (or_equal ? llvm::CmpInst::FCMP_OLE : llvm::CmpInst::FCMP_OLT);
    return b_.CreateFCmp(predicate, a, b);
  };
  if (auto* c = llvm::dyn_cast<llvm::ConstantFP>(b); c && !c->getValueAPF().isNaN()) {
    // NaN gives the constant; of two zeros, the constant if it is the one to return, else the variable.
    const bool variable_wins_ties = c->isZero() && c->isNegative() == is_max;
    return b_.CreateSelect(compare(variable_wins_ties), a, b);
  }
  llvm::Type* word = b_.getIntNTy(a->getType()->getScalarSizeInBits());
  Value *x = b_.CreateBitCast(a, word), *y = b_.CreateBitCast(b, word);
  Value* equal_value = b_.CreateBitCast(is_max ? b_.CreateAnd(x, y) : b_.CreateOr(x, y), a->getType());
  Value* result = b_.CreateSelect(compare(false), a, b);
  result = b_.CreateSelect(b_.CreateFCmpOEQ(a, b), equal_value, result);
  return b_.CreateSelect(b_.CreateFCmpUNO(b, b), a, result);
}

Value* Values::fma(Value* a, Value* b, Value* c) {
  if (reassociate) return float_binary(BinaryOp::add, float_binary(BinaryOp::mul, a, b), c);
  return b_.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
}

// ---- conversions --------------------------------------------------------------------------------------------------

Value* Values::cast(DType from, DType to, Value* a, Overflow overflow) {
  if (from == to) return a;
  llvm::Type* type = value_type(to);
  if (to.is_bool()) {
    if (from.is_float()) return b_.CreateFCmpUNE(a, llvm::ConstantFP::get(a->getType(), 0.0));
    return b_.CreateICmpNE(a, llvm::ConstantInt::get(a->getType(), 0));
  }
  if (to.is_int()) {
    if (!from.is_float()) return b_.CreateIntCast(a, type, from.is_signed_int());
    auto id = to.is_signed_int() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
    return b_.CreateIntrinsic(id, {type, a->getType()}, {a});
  }
  if (!to.is_narrow_float()) {
    if (from.is_float()) return b_.CreateFPCast(a, type);
    return from.is_signed_int() ? b_.CreateSIToFP(a, type) : b_.CreateUIToFP(a, type);
  }
  return decode(to, code_of(from, to, a, overflow));
}

Value* Values::code_of(DType from, DType t, Value* v, Overflow overflow) {
  if (!from.is_float()) v = wide_int_to_f32_odd(v, from.is_signed_int());
  return encode(t, v, overflow);
}

Value* Values::from_storage(DType t, Value* stored) {
  if (t.is_bool()) return b_.CreateICmpNE(stored, b_.getInt8(0));
  if (!t.is_narrow_float()) return stored;
  return decode(t, stored);
}

/// `value` is one of the format, so an infinity stays one.
Value* Values::to_storage(DType t, Value* value) {
  if (t.is_bool()) return b_.CreateZExt(value, b_.getInt8Ty());
  if (!t.is_narrow_float()) return value;
  return encode(t, value, Overflow::inf_nan);
}

Value* Values::float_bits(Value* a) { return b_.CreateBitCast(a, b_.getInt32Ty()); }

/// The f32 nearest to an f64 with a sticky last bit: rounding it again to a shorter format equals rounding once.
Value* Values::round_to_odd_f32(Value* wide) {
  Value* near = b_.CreateFPTrunc(wide, b_.getFloatTy());
  Value* back = b_.CreateFPExt(near, b_.getDoubleTy());
  Value* too_large =
      b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(Intrinsic::fabs, back), b_.CreateUnaryIntrinsic(Intrinsic::fabs, wide));
  Value* bits = float_bits(near);
  Value* truncated = b_.CreateSub(bits, b_.CreateZExt(too_large, b_.getInt32Ty()));
  Value* odd = b_.CreateOr(truncated, i32(1));
  return bits_float(b_.CreateSelect(b_.CreateFCmpONE(back, wide), odd, bits));
}

/// An integer or bool as the f32 rounded to odd.
Value* Values::wide_int_to_f32_odd(Value* a, bool is_signed) {
  const unsigned bits = a->getType()->getIntegerBitWidth();
  llvm::Type* wide = b_.getDoubleTy();
  if (bits <= 32) return round_to_odd_f32(is_signed ? b_.CreateSIToFP(a, wide) : b_.CreateUIToFP(a, wide));
  // Keep the leading 53 bits and a sticky one, so that the double is exact or odd.
  Value* negative = is_signed ? b_.CreateICmpSLT(a, index(0)) : static_cast<Value*>(b_.getFalse());
  Value* magnitude = b_.CreateSelect(negative, b_.CreateNeg(a), a);
  Value* is_large = b_.CreateICmpNE(b_.CreateLShr(magnitude, 53), index(0));
  Value* sticky = b_.CreateZExt(b_.CreateICmpNE(b_.CreateAnd(magnitude, index(0x7ff)), index(0)), b_.getInt64Ty());
  Value* head = b_.CreateSelect(is_large, b_.CreateOr(b_.CreateLShr(magnitude, 11), sticky), magnitude);
  Value* result = b_.CreateUIToFP(head, wide);
  result = b_.CreateFMul(
      result, b_.CreateSelect(is_large, llvm::ConstantFP::get(wide, 2048.0), llvm::ConstantFP::get(wide, 1.0)));
  result = b_.CreateSelect(negative, b_.CreateFNeg(result), result);
  return round_to_odd_f32(result);
}

/// The f32 that a code stands for. A NaN code gives a NaN.
Value* Values::decode(DType t, Value* code) {
  if (t == f16) return b_.CreateFPExt(b_.CreateBitCast(code, b_.getHalfTy()), b_.getFloatTy());
  if (t == bf16) return bits_float(b_.CreateShl(b_.CreateZExt(code, b_.getInt32Ty()), 16));
  if (t == tf32) {  // the low 13 bits in memory are ignored; a NaN stays one
    Value* kept = b_.CreateAnd(code, i32(0xffffe000u));
    Value* value = bits_float(code);
    return bits_float(b_.CreateSelect(b_.CreateFCmpUNO(value, value), b_.CreateOr(kept, i32(0x00400000u)), kept));
  }
  Value* word = b_.CreateZExt(code, b_.getInt32Ty());
  const uint32_t magnitude_mask = (1u << magnitude_bits(t)) - 1;
  Value* magnitude = b_.CreateAnd(word, i32(magnitude_mask));
  Value* nan = i32(0x7fc00000u);
  Value* bits;
  if (!has_zero(t)) {  // e8m0
    bits = b_.CreateSelect(b_.CreateICmpEQ(magnitude, i32(0)), i32(0x00400000u), b_.CreateShl(magnitude, 23));
  } else {
    // Read as an f32 with the wrong bias; one exact product corrects it, for subnormal codes too.
    Value* unscaled = bits_float(b_.CreateShl(magnitude, 23 - t.mantissa));
    Value* power = llvm::ConstantFP::get(b_.getFloatTy(), std::ldexp(1.0, 127 - t.bias));
    bits = float_bits(b_.CreateFMul(unscaled, power));
  }
  const uint32_t largest = static_cast<uint32_t>(largest_code(t));
  if (t.nan == NanKind::ieee) {
    Value* special = b_.CreateSelect(b_.CreateICmpEQ(magnitude, i32(largest + 1)), i32(0x7f800000u), nan);
    bits = b_.CreateSelect(b_.CreateICmpUGT(magnitude, i32(largest)), special, bits);
  } else if (t.nan == NanKind::all_ones) {
    bits = b_.CreateSelect(b_.CreateICmpEQ(magnitude, i32(magnitude_mask)), nan, bits);
  }
  if (t.has_sign) {
    Value* sign = b_.CreateAnd(b_.CreateShl(word, 31 - magnitude_bits(t)), i32(0x80000000u));
    bits = b_.CreateOr(bits, sign);
  }
  if (t.nan == NanKind::negative_zero)
    bits = b_.CreateSelect(b_.CreateICmpEQ(word, i32(magnitude_mask + 1)), nan, bits);
  return bits_float(bits);
}

/// The code of an f32 or f64 value.
Value* Values::encode(DType t, Value* v, Overflow overflow) {
  if (v->getType()->isDoubleTy()) v = round_to_odd_f32(v);
  if (t == f16) return b_.CreateBitCast(b_.CreateFPTrunc(v, b_.getHalfTy()), b_.getInt16Ty());
  if (t == bf16) return b_.CreateTrunc(b_.CreateLShr(encode_bf16_like(v, 16), 16), b_.getInt16Ty());
  if (t == tf32) return encode_bf16_like(v, 13);
  Value* code = has_zero(t) ? encode_small(t, v, overflow) : encode_scale(t, v, overflow);
  return b_.CreateTrunc(code, b_.getIntNTy(t.storage_bits));
}

/// The f32 bits with the low `drop` bits rounded away, to nearest even; NaN becomes the quiet NaN of its sign.
Value* Values::encode_bf16_like(Value* v, unsigned drop) {
  Value* bits = float_bits(v);
  Value* kept_odd = b_.CreateAnd(b_.CreateLShr(bits, drop), i32(1));
  Value* rounded = b_.CreateAdd(bits, b_.CreateAdd(kept_odd, i32((1u << (drop - 1)) - 1)));
  Value* quiet = b_.CreateOr(bits, i32(0x00400000u));
  Value* result = b_.CreateSelect(b_.CreateFCmpUNO(v, v), quiet, rounded);
  return b_.CreateAnd(result, i32(~((1u << drop) - 1)));
}

/// Formats with at most 15 magnitude bits and an exponent range inside that of f32.
Value* Values::encode_small(DType t, Value* v, Overflow overflow) {
  const unsigned drop = 23 - t.mantissa;
  const uint32_t largest = static_cast<uint32_t>(largest_code(t));
  const uint32_t sign_bit = 1u << magnitude_bits(t);
  Value* bits = float_bits(v);
  Value* magnitude = b_.CreateAnd(bits, i32(0x7fffffffu));
  // Normal results: round the mantissa, then change the bias.
  Value* kept_odd = b_.CreateAnd(b_.CreateLShr(magnitude, drop), i32(1));
  Value* rounded = b_.CreateAdd(magnitude, b_.CreateAdd(kept_odd, i32((1u << (drop - 1)) - 1)));
  Value* normal = b_.CreateSub(b_.CreateLShr(rounded, drop), i32(static_cast<uint32_t>(127 - t.bias) << t.mantissa));
  // Subnormal results: adding a number whose last place is the subnormal spacing rounds at the right bit.
  Value* anchor = llvm::ConstantFP::get(b_.getFloatTy(), std::ldexp(1.0, 1 - t.bias - t.mantissa + 23));
  Value* subnormal = b_.CreateSub(float_bits(b_.CreateFAdd(bits_float(magnitude), anchor)), float_bits(anchor));
  const uint32_t least_normal = static_cast<uint32_t>(1 - t.bias + 127) << 23;
  Value* code = b_.CreateSelect(b_.CreateICmpULT(magnitude, i32(least_normal)), subnormal, normal);

  uint32_t beyond = largest;  // saturate, or no other choice
  uint32_t nan_code = largest;
  if (t.nan == NanKind::ieee) nan_code = (((1u << t.exponent) - 1) << t.mantissa) | (1u << (t.mantissa - 1));
  if (t.nan == NanKind::all_ones) nan_code = sign_bit - 1;
  if (t.nan == NanKind::negative_zero) nan_code = sign_bit;
  const bool saturates = can_saturate(t) && overflow == Overflow::saturate;
  if (!saturates && t.has_infinity) beyond = largest + 1;
  if (!saturates && !t.has_infinity) beyond = nan_code;
  code = b_.CreateSelect(b_.CreateICmpUGT(code, i32(largest)), i32(beyond), code);
  if (t.has_sign) {
    Value* sign = b_.CreateAnd(b_.CreateLShr(bits, 31 - magnitude_bits(t)), i32(sign_bit));
    if (t.nan == NanKind::negative_zero) sign = b_.CreateSelect(b_.CreateICmpEQ(code, i32(0)), i32(0), sign);
    code = b_.CreateOr(code, sign);
  }
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), i32(nan_code), code);
}

/// e8m0: the nearest power of two, a tie upwards; what lies below the range, and negative values, give the lowest code.
Value* Values::encode_scale(DType t, Value* v, Overflow overflow) {
  const uint32_t largest = static_cast<uint32_t>(largest_code(t));
  Value* nan = i32(largest + 1);
  Value* bits = float_bits(v);
  Value* magnitude = b_.CreateAnd(bits, i32(0x7fffffffu));
  Value* code = b_.CreateAdd(b_.CreateLShr(magnitude, 23), b_.CreateAnd(b_.CreateLShr(magnitude, 22), i32(1)));
  Value* tiny = b_.CreateZExt(b_.CreateICmpUGE(magnitude, i32(0x00600000u)), b_.getInt32Ty());
  code = b_.CreateSelect(b_.CreateICmpULT(magnitude, i32(0x00800000u)), tiny, code);
  code =
      b_.CreateSelect(b_.CreateICmpUGT(code, i32(largest)), overflow == Overflow::saturate ? i32(largest) : nan, code);
  Value* negative = b_.CreateFCmpOLT(v, llvm::ConstantFP::get(b_.getFloatTy(), 0.0));
  code = b_.CreateSelect(negative, overflow == Overflow::saturate ? i32(0) : nan, code);
  return b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, code);
}

}  // namespace tilewright::cpu
