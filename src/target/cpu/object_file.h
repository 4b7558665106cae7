#pragma once
// Object files in memory. A relocatable ELF file of x86-64 is placed, linked against the C library and made executable,
// without any compiler: that is how cached kernels start.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tilewright::cpu {

class ObjectFile {
 public:
  /// DeviceError for bytes that are no object file of this machine, or that need a symbol that the process lacks.
  explicit ObjectFile(std::string_view bytes);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  /// The address of a global symbol; DeviceError when there is none.
  void* symbol(const std::string& name) const;

 private:
  void* memory_ = nullptr;
  size_t size_ = 0;
  std::unordered_map<std::string, void*> symbols_;
};

}  // namespace tilewright::cpu
