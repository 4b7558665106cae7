#pragma once
// A loaded batch of emulated kernels, and the ABI that it was compiled against.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "target/common/emulator/simt/abi.device.h"
#include "target/common/emulator/simt/simt.h"
#include "target/common/host_compiler.h"
#include "tilewright/error.h"

namespace tilewright::simt {

class Library {
 public:
  static std::vector<Kernel> kernels(const std::shared_ptr<const Library>& library);

  std::shared_ptr<const HostLibrary> object;
  std::vector<std::string> names;
  std::vector<const tw::emu::Entry*> entries;
  tw::emu::Context** current = nullptr;  // the object's variable that launches set
  mutable std::mutex launching;
};

}  // namespace tilewright::simt
