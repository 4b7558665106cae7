#pragma once
// One scalar value and what every operator does to it. Folding, the simplifier and the interpreter all call these, so
// that the three cannot disagree; the emitters are tested against them.
#include <bit>
#include <cstdint>
#include <string>

#include "numeric/ops.h"
#include "tilewright/dtype.h"

namespace tilewright {

/// A value of a scalar type (lanes = 1). Integers and bool are kept sign- or zero-extended to 64 bits, floats as the
/// bits of a double, which holds every format exactly. Two scalars are equal when type and bits are (so NaN == NaN).
struct Scalar {
  DType type = i64;
  uint64_t bits = 0;

  /// `value` wrapped to the width of the integer type `t` (bool: value != 0; float: the nearest value of the format).
  static Scalar of_int(DType t, int64_t value);
  /// `value` rounded to the float format `t` as by cast(); an integer type truncates, saturates and takes NaN as 0.
  static Scalar of_float(DType t, double value);

  int64_t as_int() const { return static_cast<int64_t>(bits); }
  double as_double() const { return std::bit_cast<double>(bits); }  // floats only
  bool as_bool() const { return bits != 0; }
  /// The value as a double whatever the class: integers are converted (u64 as unsigned).
  double to_double() const;
  bool operator==(const Scalar&) const = default;
};

/// The type of `a op b` for two operands of type `t`: bool for comparisons, else `t`.
constexpr DType result_type(BinaryOp op, DType t) { return is_comparison(op) ? boolean : t; }
constexpr DType result_type(UnaryOp op, DType t) { return op == UnaryOp::is_nan ? boolean : t; }

/// Whether the operator is defined on operands of type `t` (narrow floats are not: they are widened to f32 first).
bool is_defined(UnaryOp op, DType t);
bool is_defined(BinaryOp op, DType t);

/// The operators, by the language's rules: integers wrap at their width; x/0 and x%0 are 0 in every division family,
/// and the family is floor, trunc or ceil by name; a shift by the width or more, or by a negative amount, gives 0 (the
/// sign for a signed right shift); min and max return the number when one operand is NaN (min_nan and max_nan: NaN),
/// and order -0 below +0; f32 is computed in f32. A NaN result is always the same NaN, +quiet. Operands have equal,
/// defined types.
Scalar evaluate(UnaryOp op, Scalar a);
Scalar evaluate(BinaryOp op, Scalar a, Scalar b);
/// a * b + c with one rounding.
Scalar fma(Scalar a, Scalar b, Scalar c);
/// Conversion, with one rounding: float to int truncates, saturates and takes NaN as 0; int to float and float to float
/// round to nearest even; int to int wraps; to bool is != 0. Formats of 8 bits and fewer saturate or overflow as asked;
/// wider ones hold infinity, and a value too large for them becomes infinity.
Scalar cast(Scalar a, DType to, Overflow overflow = Overflow::saturate);

/// The code of a float value in its format, right-aligned, rounded to nearest even; and back. Exact both ways for
/// values of the format, NaN with sign and payload included. The special cases are listed in docs/numerics.md.
uint64_t encode(DType type, double value, Overflow overflow = Overflow::saturate);
double decode(DType type, uint64_t code);

/// Reads and writes element `index` of packed storage of the type (little endian; 4-bit types: even index = low half).
Scalar load_element(DType type, const void* base, int64_t index);
void store_element(void* base, int64_t index, Scalar value);

/// "5", "-3:i32", "0.5:f32", "1e30:f32", "true", "nan:f32", "inf:f16": shortest text that parses back to the same
/// value. i64 and bool have no suffix. NaN has one text, without sign and payload.
std::string to_string(Scalar value);
/// The scalar of that text; a float is rounded to its format. False for anything else: garbage, a value beyond the
/// range of the type, a number that would become 0.
bool parse_scalar(std::string_view text, Scalar& value);

}  // namespace tilewright
