#pragma once
// Scalar operators of the language as LLVM instructions. A value of a float format below 32 bits is held as the f32 of
// the same value (every such format is exact in f32); codes exist only in memory. Everything here is free of branches
// and of undefined results, so that it may be evaluated speculatively and vectorised.
#include <llvm/IR/IRBuilder.h>

#include "numeric/scalar.h"

namespace tilewright::cpu {

using llvm::Value;

class Values {
 public:
  explicit Values(llvm::IRBuilder<>& builder) : b_(builder) {}

  /// i1 for bool, iN for integers, double for f64, float for every other float.
  llvm::Type* value_type(DType t);
  /// The type of one element in memory: i8 for bool, iN for codes and integers. 4-bit types have none.
  llvm::Type* storage_type(DType t);

  Value* constant(Scalar s);
  Value* index(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  /// An integer or bool value as i64.
  Value* as_index(DType t, Value* v);

  Value* unary(UnaryOp op, DType t, Value* a);
  Value* binary(BinaryOp op, DType t, Value* a, Value* b);
  Value* fma(Value* a, Value* b, Value* c);
  Value* cast(DType from, DType to, Value* a, Overflow overflow);
  Value* select(Value* cond, Value* a, Value* b) { return b_.CreateSelect(cond, a, b); }

  /// Between a value and its code in memory (an iN of `code_bits(t)`; bool as i8).
  Value* from_storage(DType t, Value* stored);
  Value* to_storage(DType t, Value* value);
  /// The code of a value of type `from` in a float format below 32 bits, rounded once.
  Value* code_of(DType from, DType t, Value* v, Overflow overflow);

  /// Whether float operations may be reassociated and contracted (inside reduction loops).
  bool reassociate = false;

 private:
  friend class FloatMath;
  Value* integer_binary(BinaryOp op, DType t, Value* a, Value* b);
  Value* division(BinaryOp op, bool is_signed, Value* a, Value* b);
  Value* shift(BinaryOp op, bool is_signed, Value* a, Value* b);
  Value* float_binary(BinaryOp op, Value* a, Value* b);
  Value* number_min_max(bool is_max, Value* a, Value* b);
  Value* math_call(const char* name, Value* a);
  Value* float_bits(Value* a);
  Value* bits_float(Value* a) { return b_.CreateBitCast(a, b_.getFloatTy()); }
  Value* decode(DType t, Value* code);
  Value* encode(DType t, Value* v, Overflow overflow);
  Value* encode_small(DType t, Value* v, Overflow overflow);
  Value* encode_scale(DType t, Value* v, Overflow overflow);
  Value* encode_bf16_like(Value* bits, unsigned drop);
  Value* round_to_odd_f32(Value* f64_value);
  Value* wide_int_to_f32_odd(Value* a, bool is_signed);
  Value* i32(uint64_t v) { return b_.getInt32(static_cast<uint32_t>(v)); }

  llvm::IRBuilder<>& b_;
};

/// exp, exp2, log, log2, tanh (math.cpp), sin, cos and erf (math_wide.cpp) of f32 as straight-line code. The largest
/// errors, in units in the last place, are in the comments there and asserted by the tests.
class FloatMath {
 public:
  explicit FloatMath(llvm::IRBuilder<>& builder) : b_(builder) {}
  Value* exp(Value* x);
  Value* exp2(Value* x);
  Value* log(Value* x);
  Value* log2(Value* x);
  Value* tanh(Value* x);
  Value* sin(Value* x) { return sin_cos(x, false); }
  Value* cos(Value* x) { return sin_cos(x, true); }
  Value* erf(Value* x);

 private:
  struct Quadrant {
    Value* q;  // i32: quarter turns, modulo 4
    Value* r;  // f64: the rest
  };
  Quadrant quadrant(Value* magnitude);
  Value* sin_cos(Value* x, bool is_cos);
  struct Split {
    Value* f;  // mantissa - 1, in [sqrt(1/2) - 1, sqrt(2) - 1]
    Value* k;  // exponent, as f32
  };
  Split split(Value* x);
  Value* log_tail(Value* f, Value* square);
  Value* log_special(Value* x, Value* result);
  Value* polynomial(Value* x, std::initializer_list<double> coefficients);
  Value* clamp(Value* x, double low, double high);
  Value* scale(Value* p, Value* n);
  Value* fma(Value* a, Value* b, Value* c);
  Value* number(double v);
  Value* bits(Value* x) { return b_.CreateBitCast(x, b_.getInt32Ty()); }
  Value* real(Value* x) { return b_.CreateBitCast(x, b_.getFloatTy()); }
  Value* i32(uint32_t v) { return b_.getInt32(v); }

  llvm::IRBuilder<>& b_;
};

}  // namespace tilewright::cpu
