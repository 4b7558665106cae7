#include "target/ascend/scalar_rules.h"

#include <vector>

namespace tilewright::ascend {
namespace {

struct Rule {
  const char* name;
  const char* text;
};

// In the order in which they are printed: a function stands after those that it calls. Integers have 32 or 64 bits; two
// types of an operator's operands, because a literal need not have the type that int64_t is.
const Rule kRules[] = {
    {"bits_of", R"(__aicore__ inline uint32_t bits_of(float a) {
  union { float value; uint32_t bits; } both;
  both.value = a;
  return both.bits;
}
)"},
    {"hw::f32_of", R"(namespace hw {
__aicore__ inline float f32_of(uint32_t bits) {
  union { float value; uint32_t bits; } both;
  both.bits = bits;
  return both.value;
}
}
)"},
    {"add", R"(template <class A, class B>
__aicore__ inline auto add(A a, B b) {
  return static_cast<decltype(a + b)>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
)"},
    {"sub", R"(template <class A, class B>
__aicore__ inline auto sub(A a, B b) {
  return static_cast<decltype(a - b)>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
)"},
    {"mul", R"(template <class A, class B>
__aicore__ inline auto mul(A a, B b) {
  return static_cast<decltype(a * b)>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
)"},
    {"neg", R"(template <class A>
__aicore__ inline A neg(A a) {
  return static_cast<A>(0 - static_cast<uint64_t>(a));
}
)"},
    {"truncdiv", R"(template <class A, class B>
__aicore__ inline auto truncdiv(A a, B b) {
  return b == 0 ? 0 : b == static_cast<B>(-1) && b < 0 ? tw::neg(a) : a / b;
}
)"},
    {"truncmod", R"(template <class A, class B>
__aicore__ inline auto truncmod(A a, B b) {
  return b == 0 || (b == static_cast<B>(-1) && b < 0) ? 0 : a % b;
}
)"},
    {"floordiv", R"(template <class A, class B>
__aicore__ inline auto floordiv(A a, B b) {
  const auto rest = tw::truncmod(a, b);
  return tw::truncdiv(a, b) - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}
)"},
    {"floormod", R"(template <class A, class B>
__aicore__ inline auto floormod(A a, B b) {
  const auto rest = tw::truncmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)"},
    {"ceildiv", R"(template <class A, class B>
__aicore__ inline auto ceildiv(A a, B b) {
  const auto rest = tw::truncmod(a, b);
  return tw::truncdiv(a, b) + (rest != 0 && (rest < 0) == (b < 0) ? 1 : 0);
}
)"},
    {"shl", R"(template <class A, class B>
__aicore__ inline A shl(A a, B n) {
  return n < 0 || n >= static_cast<B>(8 * sizeof(A)) ? 0 : static_cast<A>(static_cast<uint64_t>(a) << n);
}
)"},
    {"shr", R"(template <class A, class B>
__aicore__ inline A shr(A a, B n) {
  return n < 0 || n >= static_cast<B>(8 * sizeof(A)) ? static_cast<A>(a < 0 ? -1 : 0) : static_cast<A>(a >> n);
}
)"},
    {"min", R"(template <class A, class B>
__aicore__ inline auto min(A a, B b) {
  return b < a ? b : a;
}
__aicore__ inline float min(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  return a == b ? (tw::bits_of(a) >> 31 ? a : b) : a < b ? a : b;
}
)"},
    {"max", R"(template <class A, class B>
__aicore__ inline auto max(A a, B b) {
  return a < b ? b : a;
}
__aicore__ inline float max(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  return a == b ? (tw::bits_of(a) >> 31 ? b : a) : a < b ? b : a;
}
)"},
    {"min_nan", R"(template <class A, class B>
__aicore__ inline auto min_nan(A a, B b) {
  return tw::min(a, b);
}
__aicore__ inline float min_nan(float a, float b) {
  return a != a || b != b ? a + b : tw::min(a, b);
}
)"},
    {"max_nan", R"(template <class A, class B>
__aicore__ inline auto max_nan(A a, B b) {
  return tw::max(a, b);
}
__aicore__ inline float max_nan(float a, float b) {
  return a != a || b != b ? a + b : tw::max(a, b);
}
)"},
    {"is_nan", R"(__aicore__ inline bool is_nan(float a) { return a != a; }
)"},
    {"abs", R"(template <class A>
__aicore__ inline A abs(A a) {
  return a < 0 ? tw::neg(a) : a;
}
__aicore__ inline float abs(float a) {
  return tw::hw::f32_of(tw::bits_of(a) & 0x7fffffffu);
}
)"},
    {"trunc", R"(__aicore__ inline float trunc(float a) {
  if (!(tw::abs(a) < 8388608.0f)) return a;
  return tw::hw::f32_of(tw::bits_of(static_cast<float>(static_cast<int32_t>(a))) | (tw::bits_of(a) & 0x80000000u));
}
)"},
    {"floor", R"(__aicore__ inline float floor(float a) {
  const float whole = tw::trunc(a);
  return whole > a ? whole - 1.0f : whole;
}
)"},
    {"ceil", R"(__aicore__ inline float ceil(float a) {
  const float whole = tw::trunc(a);
  return whole < a ? tw::hw::f32_of(tw::bits_of(whole + 1.0f) | (tw::bits_of(a) & 0x80000000u)) : whole;
}
)"},
    {"round_even", R"(__aicore__ inline float round_even(float a) {
  if (!(tw::abs(a) < 8388608.0f)) return a;
  const float whole = (tw::abs(a) + 8388608.0f) - 8388608.0f;
  return tw::hw::f32_of(tw::bits_of(whole) | (tw::bits_of(a) & 0x80000000u));
}
)"},
    {"sqrt", R"(__aicore__ inline float sqrt(float a) { return ::sqrt(a); }
)"},
    {"rsqrt", R"(__aicore__ inline float rsqrt(float a) { return 1.0f / ::sqrt(a); }
)"},
    // p * 2^n in two exact steps and one that rounds, so that subnormal results are rounded once.
    {"scaled", R"(__aicore__ inline float scaled(float p, int32_t n) {
  const int32_t half_way = n / 2;
  return p * tw::hw::f32_of(static_cast<uint32_t>(half_way + 127) << 23) *
         tw::hw::f32_of(static_cast<uint32_t>(n - half_way + 127) << 23);
}
)"},
    // 2^a = 2^n 2^f with n the nearest integer: Taylor's polynomial of 2^f, |f| <= 1/2, ends below 2^-27.
    {"exp2", R"(__aicore__ inline float exp2(float a) {
  if (a != a) return a;
  if (a >= 128.0f) return tw::hw::f32_of(0x7f800000u);
  if (a < -150.0f) return 0.0f;
  const float n = tw::round_even(a), f = a - n;
  float p = 1.525273380e-5f;
  p = p * f + 1.540353039e-4f;
  p = p * f + 1.333355815e-3f;
  p = p * f + 9.618129108e-3f;
  p = p * f + 5.550410866e-2f;
  p = p * f + 2.402265070e-1f;
  p = p * f + 6.931471806e-1f;
  p = p * f + 1.0f;
  return tw::scaled(p, static_cast<int32_t>(n));
}
)"},
    // e^a = 2^n e^r with n the nearest integer to a / ln 2; n ln 2 is subtracted in two parts, the first of which is
    // exact.
    {"exp", R"(__aicore__ inline float exp(float a) {
  if (a != a) return a;
  if (a > 88.72284f) return tw::hw::f32_of(0x7f800000u);
  if (a < -104.0f) return 0.0f;
  const float n = tw::round_even(a * 1.442695041f), r = (a - n * 0.693359375f) - n * -2.121944401e-4f;
  float p = 1.984126984e-4f;
  p = p * r + 1.388888889e-3f;
  p = p * r + 8.333333333e-3f;
  p = p * r + 4.166666667e-2f;
  p = p * r + 1.666666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return tw::scaled(p, static_cast<int32_t>(n));
}
)"},
    {"to_int", R"(template <class T>
__aicore__ inline T to_int(float a) {
  constexpr bool is_signed = static_cast<T>(-1) < 0;
  constexpr int bits = static_cast<int>(8 * sizeof(T)) - (is_signed ? 1 : 0);
  constexpr T largest = static_cast<T>(~static_cast<uint64_t>(0) >> (64 - bits));
  constexpr float limit = 2.0f * static_cast<float>(static_cast<uint64_t>(1) << (bits - 1));
  if (a != a) return 0;
  if (a >= limit) return largest;
  if (is_signed) return a < -limit ? static_cast<T>(-largest - 1) : static_cast<T>(a);
  return a <= 0.0f ? 0 : static_cast<T>(a);
}
)"},
};

/// Whether the text calls tw::NAME.
bool calls(const std::string& text, const std::string& name) {
  const std::string call = "tw::" + name;
  for (size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    const char next = at + call.size() < text.size() ? text[at + call.size()] : '\0';
    if (next == '(' || next == '<') return true;
  }
  return false;
}

}  // namespace

bool has_scalar_rule(UnaryOp op) {
  switch (op) {
    case UnaryOp::bit_not:
    case UnaryOp::logical_not:
      return true;
    default:
      for (const Rule& rule : kRules)
        if (name_of(op) == rule.name) return true;
      return false;
  }
}

std::string scalar_rules_for(const std::string& text) {
  constexpr size_t kCount = sizeof(kRules) / sizeof(kRules[0]);
  std::vector<bool> needed(kCount);
  std::string found = text;  // and the rules that it needs: they call only rules before them
  for (size_t i = kCount; i-- > 0;) {
    if (!calls(found, kRules[i].name)) continue;
    needed[i] = true;
    found += kRules[i].text;
  }
  std::string rules;
  for (size_t i = 0; i < kCount; ++i)
    if (needed[i]) rules += kRules[i].text;
  return rules.empty() ? "" : "namespace tw {\n" + rules + "}  // namespace tw\n";
}

}  // namespace tilewright::ascend
