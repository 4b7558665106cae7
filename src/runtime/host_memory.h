#pragma once
// The memory of devices that run on the host: aligned allocation and plain copies.
#include <cstdint>

#include "tilewright/runtime.h"

namespace tilewright {

/// Bytes aligned to 256; never null, also for 0 bytes. DeviceError when there is no memory.
void* host_allocate(int64_t bytes);
void host_release(void* address);
void host_copy(void* to, const void* from, int64_t bytes);

/// The memory half of a Device that runs on the host.
class HostDevice : public Device {
 public:
  void* allocate(int64_t bytes) override { return host_allocate(bytes); }
  void release(void* address) override { host_release(address); }
  void copy_in(void* device, const void* host, int64_t bytes) override { host_copy(device, host, bytes); }
  void copy_out(void* host, const void* device, int64_t bytes) override { host_copy(host, device, bytes); }
  void synchronize() override {}
};

}  // namespace tilewright
