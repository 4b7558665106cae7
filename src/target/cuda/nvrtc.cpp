#include "target/cuda/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/library.h"
#include "target/common/emulator/simt/simt.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

namespace fs = std::filesystem;

// The part of nvrtc.h that is used here; NVRTC keeps these calls from version to version.
using Program = struct ProgramState*;
using Result = int;

struct Api {
  Result (*version)(int* major, int* minor) = nullptr;
  Result (*create)(Program*, const char* text, const char* name, int headers, const char* const*,
                   const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int count, const char* const* options) = nullptr;
  Result (*log_size)(Program, size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  Result (*cubin_size)(Program, size_t*) = nullptr;
  Result (*cubin)(Program, char*) = nullptr;
  const char* (*error)(Result) = nullptr;

  int major = 0, minor = 0;
  std::string problem;  // why there is none
};

/// The files below a folder whose names begin with `prefix` and a digit, the highest version first.
std::vector<std::string> libraries_below(const fs::path& folder, const std::string& prefix) {
  constexpr int kDeepest = 4;  // toolkit/targets/x86_64-linux/lib, wheel/nvidia/cu13/lib
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end; it.increment(error)) {
    if (it.depth() >= kDeepest) it.disable_recursion_pending();
    const std::string name = it->path().filename().string();
    int version = 0;
    if (!name.starts_with(prefix)) continue;
    if (std::from_chars(name.data() + prefix.size(), name.data() + name.size(), version).ec == std::errc())
      found.emplace_back(version, it->path().string());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (auto& [version, path] : found) paths.push_back(std::move(path));
  return paths;
}

constexpr const char* kRemedy =
    "install it with `python3 -m pip install --target FOLDER nvidia-cuda-nvrtc` or with the CUDA toolkit, and set "
    "TILEWRIGHT_NVRTC to the folder";

Api load() {
  Api api;
  std::vector<std::string> names;
  const char* folder = std::getenv("TILEWRIGHT_NVRTC");
  if (folder && *folder) {
    names = libraries_below(folder, "libnvrtc.so.");
    if (names.empty()) {
      api.problem = fmt::format("no libnvrtc.so.* lies below TILEWRIGHT_NVRTC={}: {}", folder, kRemedy);
      return api;
    }
  } else {
    names = {"libnvrtc.so.13", "libnvrtc.so.12"};
    for (std::string& path : libraries_below("/usr/local/cuda", "libnvrtc.so.")) names.push_back(std::move(path));
  }
  // The compiler loads its built-in functions by name: from a folder that the loader does not know they must be there
  // before.
  for (const std::string& name : names)
    if (name.find('/') != std::string::npos)
      for (const std::string& builtins : libraries_below(fs::path(name).parent_path(), "libnvrtc-builtins.so."))
        DynamicLibrary({builtins});
  DynamicLibrary library(names);
  const bool complete =
      library.is_loaded() && library.find("nvrtcVersion", api.version) &&
      library.find("nvrtcCreateProgram", api.create) && library.find("nvrtcDestroyProgram", api.destroy) &&
      library.find("nvrtcCompileProgram", api.compile) && library.find("nvrtcGetProgramLogSize", api.log_size) &&
      library.find("nvrtcGetProgramLog", api.log) && library.find("nvrtcGetCUBINSize", api.cubin_size) &&
      library.find("nvrtcGetCUBIN", api.cubin) && library.find("nvrtcGetErrorString", api.error);
  if (!complete)
    api.problem = fmt::format("NVRTC cannot be loaded ({}): {}", library.problem(), kRemedy);
  else
    api.version(&api.major, &api.minor);
  return api;
}

const Api& api() {
  static const Api loaded = load();
  return loaded;
}

/// The text that the compiler gets: the device header, then the kernels with their own line numbers, or with the user's
/// for debuggers and profilers.
std::string whole_text(const Artifact& artifact, bool users_lines) {
  std::string text = fmt::format("{}\n#line 1 \"{}\"\n", simt::device_header_cuda(), artifact.plan.kernel);
  if (!users_lines) return text + artifact.text;
  size_t at = 0;
  for (const Location& line : artifact.lines) {
    const size_t end = std::min(artifact.text.find('\n', at), artifact.text.size() - 1) + 1;
    if (line) text += fmt::format("#line {} \"{}\"\n", line.line, line.file);
    text.append(artifact.text, at, end - at);
    at = end;
  }
  return text.append(artifact.text, at);
}

/// The largest number that the log has before `words`; -1 when it has none.
int64_t largest_before(const std::string& log, const std::string& words) {
  int64_t largest = -1;
  for (size_t at = log.find(words); at != std::string::npos; at = log.find(words, at + 1)) {
    size_t start = at;
    while (start > 0 && log[start - 1] >= '0' && log[start - 1] <= '9') --start;
    int64_t value = 0;
    if (std::from_chars(log.data() + start, log.data() + at, value).ec == std::errc())
      largest = std::max(largest, value);
  }
  return largest;
}

/// A program of NVRTC, destroyed at the end.
struct Compilation {
  Program program = nullptr;
  ~Compilation() {
    if (program) api().destroy(&program);
  }
};

void check(Result code, const char* call) {
  if (code != 0) throw DeviceError(call, code, api().error(code));
}

/// Compiles a text. The code of NVRTC, and the report: without binary when that is not 0.
Result run(const std::string& text, const std::string& arch, CompileReport& report) {
  const std::string architecture = "--gpu-architecture=" + arch;
  Compilation compilation;
  check(api().create(&compilation.program, text.c_str(), "device header", 0, nullptr, nullptr), "nvrtcCreateProgram");
  // No contraction: a * b + c has two roundings.
  const char* options[] = {architecture.c_str(), "--std=c++17", "--fmad=false", "--generate-line-info",
                           "--ptxas-options=-v"};
  const Result code = api().compile(compilation.program, std::size(options), options);
  size_t size = 0;
  check(api().log_size(compilation.program, &size), "nvrtcGetProgramLogSize");
  report.log.resize(size);
  if (size > 0) check(api().log(compilation.program, report.log.data()), "nvrtcGetProgramLog");
  report.log.resize(report.log.find_last_not_of(std::string("\0\n ", 3)) + 1);
  if (code != 0) return code;
  check(api().cubin_size(compilation.program, &size), "nvrtcGetCUBINSize");
  report.binary.resize(size);
  check(api().cubin(compilation.program, report.binary.data()), "nvrtcGetCUBIN");
  report.registers = largest_before(report.log, " registers");
  report.spill_bytes = largest_before(report.log, " bytes spill stores");
  return code;
}

}  // namespace

Availability Nvrtc::probe() const {
  if (!api().problem.empty()) return {false, api().problem};
  return {true, "NVRTC " + version()};
}

std::string Nvrtc::version() const {
  return api().problem.empty() ? fmt::format("{}.{}", api().major, api().minor) : "";
}

CompileReport Nvrtc::compile(const Artifact& artifact, const std::string& arch) const {
  if (!api().problem.empty()) throw DeviceError("NVRTC", 0, api().problem);
  CompileReport report;
  if (run(whole_text(artifact, true), arch, report) == 0) return report;
  // The text is at fault, so its own lines are what the message must name.
  const Result code = run(whole_text(artifact, false), arch, report);
  throw DeviceError("nvrtcCompileProgram", code,
                    fmt::format("{}: the CUDA text does not compile for {} ({}):\n{}", artifact.plan.kernel, arch,
                                api().error(code), report.log));
}

}  // namespace tilewright::cuda
