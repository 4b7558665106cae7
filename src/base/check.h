#pragma once
// TW_CHECK states what must hold inside Tilewright. It is never the answer to bad user input: that is a UserError.
#include <string>

#include "tilewright/error.h"

namespace tilewright {
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& why);
}

#define TW_CHECK(condition, why) \
  ((condition) ? void() : ::tilewright::check_failed(#condition, __FILE__, __LINE__, (why)))
