// Scalars as text.
#include <charconv>
#include <cmath>

#include "base/check.h"
#include "numeric/format.h"
#include "numeric/scalar.h"

namespace tilewright {
namespace {

/// Exponents without '+' and leading zeros: 1e+05 becomes 1e5, 2e-07 becomes 2e-7.
std::string short_exponent(const char* begin, const char* end) {
  std::string text(begin, end);
  const size_t e = text.find('e');
  if (e == std::string::npos) return text;
  size_t digits = e + 1;
  const bool negative = text[digits] == '-';
  if (negative || text[digits] == '+') ++digits;
  while (digits + 1 < text.size() && text[digits] == '0') ++digits;
  return text.substr(0, e + 1) + (negative ? "-" : "") + text.substr(digits);
}

/// The fewest digits that round to `value` in its format.
std::string shortest(const DType& t, double value) {
  char text[64];
  char* const end = text + sizeof(text);
  if (t.bits == 64) return short_exponent(text, std::to_chars(text, end, value).ptr);
  if (t.bits == 32) return short_exponent(text, std::to_chars(text, end, static_cast<float>(value)).ptr);
  for (int digits = 1; digits < 9; ++digits) {
    const char* const last = std::to_chars(text, end, value, std::chars_format::general, digits).ptr;
    double parsed = 0;
    std::from_chars(text, last, parsed);
    if (std::fabs(parsed) <= largest(t) && decode(t, encode(t, parsed)) == value) {
      std::from_chars(text, last, value);
      break;
    }
  }
  return short_exponent(text, std::to_chars(text, end, value).ptr);  // the same digits in the shorter notation
}

bool parse_int(std::string_view text, const DType& t, Scalar& value) {
  const char* const end = text.data() + text.size();
  if (t.is_signed_int()) {
    int64_t n = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, n);
    if (error != std::errc() || stop != end || Scalar::of_int(t, n).as_int() != n) return false;
    value = Scalar::of_int(t, n);
    return true;
  }
  uint64_t n = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || stop != end || n > ~uint64_t{0} >> (64 - t.bits)) return false;
  value = {t, n};
  return true;
}

bool parse_special(std::string_view text, const DType& t, Scalar& value) {
  if (text == "nan") {
    if (t.nan == NanKind::none) return false;
    value = Scalar::of_float(t, std::nan(""));
    return true;
  }
  if (!t.has_infinity || (text != "inf" && text != "-inf")) return false;
  value = {t, std::bit_cast<uint64_t>(text == "inf" ? HUGE_VAL : -HUGE_VAL)};
  return true;
}

bool parse_float(std::string_view text, const DType& t, Scalar& value) {
  if (text.find_first_not_of("0123456789+-.e") != std::string_view::npos) return parse_special(text, t, value);
  const char* const end = text.data() + text.size();
  double wide = 0;
  float single = 0;  // f32 is rounded from the decimal digits once
  const auto [stop, error] =
      t.bits == 32 ? std::from_chars(text.data(), end, single) : std::from_chars(text.data(), end, wide);
  if (error != std::errc() || stop != end) return false;
  if (t.bits == 32) wide = single;
  if (wide > largest(t) || wide < lowest(t)) return false;
  const Scalar rounded = Scalar::of_float(t, wide);
  if (wide != 0 && rounded.as_double() == 0) return false;
  value = rounded;
  return true;
}

}  // namespace

std::string to_string(Scalar value) {
  const DType& t = value.type;
  if (t.is_bool()) return value.as_bool() ? "true" : "false";
  if (t == i64) return std::to_string(value.as_int());
  std::string text;
  if (t.is_int()) {
    text = t.is_signed_int() ? std::to_string(value.as_int()) : std::to_string(value.bits);
  } else if (std::isnan(value.as_double())) {
    text = "nan";
  } else if (std::isinf(value.as_double())) {
    text = value.as_double() > 0 ? "inf" : "-inf";
  } else {
    text = shortest(t, value.as_double());
  }
  return text + ":" + to_string(t);
}

bool parse_scalar(std::string_view text, Scalar& value) {
  if (text == "true" || text == "false") {
    value = {boolean, text == "true" ? uint64_t{1} : 0};
    return true;
  }
  DType type = i64;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (!parse_dtype(text.substr(colon + 1), type) || type.lanes != 1 || type.is_bool()) return false;
    text = text.substr(0, colon);
  }
  return type.is_int() ? parse_int(text, type, value) : parse_float(text, type, value);
}

}  // namespace tilewright
