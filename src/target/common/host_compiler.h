#pragma once
// Compiles C++ text with the host's compiler to a shared object, kept in a content-addressed cache, and loads it.
// The emulators run generated kernels through it. Safe for several threads and several processes.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

/// A loaded shared object; unloaded with the last owner. Move only through shared_ptr.
class HostLibrary {
 public:
  HostLibrary(void* handle, std::string path, bool from_cache, double compile_seconds);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  /// Address of an exported (extern "C") symbol. DeviceError when there is none.
  void* symbol(const std::string& name) const;
  const std::string& path() const { return path_; }
  /// Whether the object was found in the cache, and the seconds of the compiler when it was not.
  bool from_cache() const { return from_cache_; }
  double compile_seconds() const { return compile_seconds_; }

 private:
  void* handle_;
  std::string path_;
  bool from_cache_;
  double compile_seconds_;
};

struct HostCompileOptions {
  std::string name = "host";                  // the readable part of file names; letters, digits, '_' and '-' are kept
  std::vector<std::string> extra_flags = {};  // after the standard ones: -std=c++20 -O1 -ffp-contract=off -shared -fPIC
  std::string compiler = {};         // a path or name; empty: $TILEWRIGHT_CXX, else the first of g++, clang++, c++
  std::string cache_directory = {};  // empty: host_cache_directory()
};

/// The object of `text`: from memory, from the cache directory, or compiled now. The key is the text, the compiler's
/// version and the flags. A cache entry whose checksum is wrong is rebuilt. Throws DeviceError with the compiler's
/// output when the text does not compile, and with what to install when there is no compiler.
std::shared_ptr<const HostLibrary> compile_host_library(std::string_view text, const HostCompileOptions& options = {});

/// The path of the compiler that default options choose. DeviceError with what to install when there is none.
std::string host_compiler();

/// $TILEWRIGHT_CACHE, else ~/.cache/tilewright, else /tmp/tilewright-UID: the first that can be created and written.
std::string host_cache_directory();

}  // namespace tilewright
