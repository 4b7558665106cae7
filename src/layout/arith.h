#pragma once
// int64 arithmetic whose overflow is the user's error.
#include <cstdint>
#include <string>

#include "tilewright/error.h"

namespace tilewright {

[[noreturn]] inline void layout_overflow(int64_t a, const char* op, int64_t b) {
  throw UserError({}, "layout: " + std::to_string(a) + " " + op + " " + std::to_string(b) + " does not fit 64 bits");
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) layout_overflow(a, "*", b);
  return r;
}

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) layout_overflow(a, "+", b);
  return r;
}

constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace tilewright
