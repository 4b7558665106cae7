#pragma once
// The scalar operators of the language, once, with the names that the IR text prints. What each means is in scalar.h.
#include <cstdint>
#include <string_view>

namespace tilewright {

#define TW_UNARY_OPS(X)                                                                                       \
  X(neg) X(bit_not) X(logical_not) X(abs) X(sqrt) X(rsqrt) X(exp) X(exp2) X(log) X(log2) X(sin) X(cos) X(tanh) \
  X(erf) X(floor) X(ceil) X(trunc) X(round_even) X(is_nan)

// name, spelling in text ("" = call form). `div` is for floats; integers use the floor/trunc/ceil family.
#define TW_BINARY_OPS(X)                                                                              \
  X(add, "+") X(sub, "-") X(mul, "*") X(div, "/") X(floordiv, "//") X(floormod, "%") X(truncdiv, "")   \
  X(truncmod, "") X(ceildiv, "") X(min, "") X(max, "") X(min_nan, "") X(max_nan, "") X(bit_and, "&")   \
  X(bit_or, "|") X(bit_xor, "^") X(shl, "<<") X(shr, ">>") X(logical_and, "and") X(logical_or, "or")   \
  X(eq, "==") X(ne, "!=") X(lt, "<") X(le, "<=") X(gt, ">") X(ge, ">=")

enum class UnaryOp : uint8_t {
#define TW_X(name) name,
  TW_UNARY_OPS(TW_X)
#undef TW_X
};
enum class BinaryOp : uint8_t {
#define TW_X(name, spelling) name,
  TW_BINARY_OPS(TW_X)
#undef TW_X
};

inline constexpr std::string_view kUnaryNames[] = {
#define TW_X(name) #name,
    TW_UNARY_OPS(TW_X)
#undef TW_X
};
inline constexpr std::string_view kBinaryNames[] = {
#define TW_X(name, spelling) #name,
    TW_BINARY_OPS(TW_X)
#undef TW_X
};
inline constexpr std::string_view kBinarySpellings[] = {
#define TW_X(name, spelling) spelling,
    TW_BINARY_OPS(TW_X)
#undef TW_X
};

constexpr std::string_view name_of(UnaryOp op) { return kUnaryNames[static_cast<int>(op)]; }
constexpr std::string_view name_of(BinaryOp op) { return kBinaryNames[static_cast<int>(op)]; }
/// "+" for add; empty for operators that the text writes as a call.
constexpr std::string_view spelling_of(BinaryOp op) { return kBinarySpellings[static_cast<int>(op)]; }

constexpr bool is_comparison(BinaryOp op) { return op >= BinaryOp::eq; }
constexpr bool is_logical(BinaryOp op) { return op == BinaryOp::logical_and || op == BinaryOp::logical_or; }

/// What a float encode does with a value beyond the format's largest: saturate (the language's rule) or become infinity
/// (NaN where the format has no infinity).
enum class Overflow : uint8_t { saturate, inf_nan };

}  // namespace tilewright
