#include "base/check.h"

namespace tilewright {
void check_failed(const char* condition, const char* file, int line, const std::string& why) {
  throw InternalError(why + " (" + condition + " is false)", Location(file, static_cast<uint32_t>(line)));
}
}  // namespace tilewright
