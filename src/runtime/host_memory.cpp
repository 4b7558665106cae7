#include "runtime/host_memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace tilewright {

void* host_allocate(int64_t bytes) {
  size_t rounded = (static_cast<size_t>(bytes) + 255) / 256 * 256 + 256;
  void* address = bytes < 0 ? nullptr : std::aligned_alloc(256, rounded);
  if (!address) throw DeviceError("aligned_alloc", 12, fmt::format("cannot allocate {} bytes", bytes));
  return address;
}

void host_release(void* address) { std::free(address); }

void host_copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace tilewright
