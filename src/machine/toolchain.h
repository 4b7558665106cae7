#pragma once
// How an artifact's text becomes a binary. A target may have several toolchains, or none on this machine.
#include <string>

#include "runtime/artifact.h"

namespace tilewright {

struct Availability {
  bool available = false;
  std::string reason;  // version when available, else what is missing and how to get it
};

struct CompileReport {
  std::string binary;
  std::string log;  // warnings, kept even when the return code is 0
  int64_t registers = -1, spill_bytes = -1;
};

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  virtual std::string name() const = 0;
  virtual Availability probe() const = 0;
  /// Compiles for `arch`; a failure is a DeviceError with the compiler's message.
  virtual CompileReport compile(const Artifact& artifact, const std::string& arch) const = 0;
};

}  // namespace tilewright
