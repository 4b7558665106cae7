#include "target/common/host_compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "base/hash.h"
#include "tilewright/error.h"

extern char** environ;

namespace tilewright {
namespace {
namespace fs = std::filesystem;

// A cached object ends with this mark and a hash of everything before it: a truncated or foreign file is never loaded.
constexpr std::string_view kSealMark = "tilewright-host-1";
constexpr size_t kSealBytes = kSealMark.size() + 16;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string seal_of(std::string_view content) {
  return fmt::format("{}{:016x}", kSealMark, hash_bytes(content, 0x5ea1));
}

bool is_sealed(std::string_view file) {
  if (file.size() < kSealBytes) return false;
  size_t body = file.size() - kSealBytes;
  return file.substr(body) == seal_of(file.substr(0, body));
}

[[noreturn]] void fail_io(const char* call, const std::string& path) {
  int code = errno;
  throw DeviceError(call, code, fmt::format("{}: {}", path, std::strerror(code)));
}

void write_durably(const std::string& path, std::string_view content) {
  int fd = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (fd < 0) fail_io("open", path);
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ::close(fd);
      fail_io("write", path);
    }
    content.remove_prefix(static_cast<size_t>(n));
  }
  ::fsync(fd);
  ::close(fd);
}

/// Removes its file when it goes out of scope.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(std::string p) : path(std::move(p)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path.c_str()); }
};

/// Runs argv[0] without a shell, both outputs to `log`; the exit status, or 128 + signal.
int run_program(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  int code = posix_spawnp(&pid, args[0], &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw DeviceError("posix_spawn", code, fmt::format("{}: {}", argv[0], std::strerror(code)));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) fail_io("waitpid", argv[0]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The full path of a program named by `name`, empty when it is not found.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), name);
    if (::access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  return "";
}

std::string find_compiler(const std::string& asked) {
  constexpr std::string_view kRemedy =
      "install one (Debian and Ubuntu: apt-get install g++; Fedora: dnf install gcc-c++) or set TILEWRIGHT_CXX to the "
      "path of a C++20 compiler";
  const char* variable = std::getenv("TILEWRIGHT_CXX");
  std::string wanted = !asked.empty() ? asked : variable ? variable : "";
  if (!wanted.empty()) {
    std::string found = find_program(wanted);
    if (!found.empty()) return found;
    throw DeviceError("host compiler", ENOENT, fmt::format("\"{}\" is not an executable program: {}", wanted, kRemedy));
  }
  for (const char* name : {"g++", "clang++", "clang++-19", "c++"}) {
    std::string found = find_program(name);
    if (!found.empty()) return found;
  }
  throw DeviceError(
      "host compiler", ENOENT,
      fmt::format("no C++ compiler (g++, clang++, c++) is in PATH; emulated kernels need one: {}", kRemedy));
}

/// A temporary name in `directory` that no other thread or process uses.
std::string unique_name(const std::string& directory, std::string_view suffix) {
  static std::atomic<uint64_t> count{0};
  return fmt::format("{}/tmp-{}-{}{}", directory, ::getpid(), count++, suffix);
}

/// What `compiler --version` prints; asked once per process and path.
std::string compiler_version(const std::string& compiler, const std::string& directory) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, std::string>;  // never freed: other threads may still compile at exit
  std::lock_guard lock(mutex);
  std::string& version = (*known)[compiler];
  if (version.empty()) {
    TemporaryFile log(unique_name(directory, ".log"));
    int code = run_program({compiler, "--version"}, log.path);
    if (code != 0)
      throw DeviceError(compiler + " --version", code,
                        "the program does not answer as a compiler: " + read_file(log.path));
    version = read_file(log.path);
  }
  return version;
}

std::vector<std::string> all_flags(const std::string& version, const HostCompileOptions& options) {
  std::vector<std::string> flags = {"-std=c++20",     "-O1",           "-ffp-contract=off", "-shared", "-fPIC",
                                    "-Wl,-Bsymbolic", "-fmax-errors=5"};
  // GNU unique symbols would be shared between two loaded objects and would keep them from being unloaded.
  if (version.find("clang") == std::string::npos) flags.push_back("-fno-gnu-unique");
  flags.insert(flags.end(), options.extra_flags.begin(), options.extra_flags.end());
  return flags;
}

std::string readable_part(const std::string& name) {
  std::string kept;
  for (char c : name.substr(0, 60))
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') kept += c;
  return kept.empty() ? "host" : kept;
}

/// Compiles `text` to the sealed file `target`; the seconds that the compiler took.
double build(std::string_view text, const std::string& compiler, const std::vector<std::string>& flags,
             const std::string& directory, const std::string& target) {
  TemporaryFile source(unique_name(directory, ".cpp"));
  TemporaryFile object(unique_name(directory, ".so"));
  TemporaryFile log(unique_name(directory, ".log"));
  write_durably(source.path, text);
  std::vector<std::string> command = {compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-o", object.path, source.path});
  auto start = std::chrono::steady_clock::now();
  int code = run_program(command, log.path);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (code != 0) throw DeviceError(compiler, code, "the text does not compile:\n" + read_file(log.path));
  std::string content = read_file(object.path);
  content += seal_of(content);
  write_durably(object.path, content);
  if (::rename(object.path.c_str(), target.c_str()) != 0) fail_io("rename", target);
  return seconds;
}

/// One text's library in this process; its mutex makes concurrent requests compile once.
struct Slot {
  std::mutex mutex;
  std::weak_ptr<const HostLibrary> library;
};

std::shared_ptr<Slot> slot_of(const std::string& path) {
  static std::mutex mutex;
  static auto* slots = new std::map<std::string, std::shared_ptr<Slot>>;  // never freed, as above
  std::lock_guard lock(mutex);
  std::shared_ptr<Slot>& slot = (*slots)[path];
  if (!slot) slot = std::make_shared<Slot>();
  return slot;
}

bool make_writable_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return fs::is_directory(path, error) && ::access(path.c_str(), W_OK | X_OK) == 0;
}
}  // namespace

HostLibrary::HostLibrary(void* handle, std::string path, bool from_cache, double compile_seconds)
    : handle_(handle), path_(std::move(path)), from_cache_(from_cache), compile_seconds_(compile_seconds) {}

HostLibrary::~HostLibrary() { ::dlclose(handle_); }

void* HostLibrary::symbol(const std::string& name) const {
  ::dlerror();
  void* address = ::dlsym(handle_, name.c_str());
  if (const char* error = ::dlerror()) throw DeviceError("dlsym", 0, error);
  return address;
}

std::string host_compiler() { return find_compiler(""); }

std::string host_cache_directory() {
  std::vector<std::string> candidates;
  if (const char* chosen = std::getenv("TILEWRIGHT_CACHE"); chosen && *chosen) candidates.push_back(chosen);
  if (const char* home = std::getenv("HOME"); home && *home)
    candidates.push_back(std::string(home) + "/.cache/tilewright");
  candidates.push_back(fmt::format("/tmp/tilewright-{}", ::getuid()));
  for (const std::string& path : candidates)
    if (make_writable_directory(path)) return path;
  throw DeviceError("cache directory", EACCES,
                    fmt::format("none of these can be created and written: {}; set TILEWRIGHT_CACHE to one that can",
                                fmt::join(candidates, ", ")));
}

std::shared_ptr<const HostLibrary> compile_host_library(std::string_view text, const HostCompileOptions& options) {
  std::string directory = options.cache_directory.empty() ? host_cache_directory() : options.cache_directory;
  directory += "/host";
  if (!make_writable_directory(directory))
    throw DeviceError("cache directory", EACCES, directory + " cannot be written");
  std::string compiler = find_compiler(options.compiler);
  std::string version = compiler_version(compiler, directory);
  std::vector<std::string> flags = all_flags(version, options);
  std::string identity = fmt::format("{}\n{}\n{}\n", compiler, version, fmt::join(flags, "\n"));
  uint64_t high = hash_bytes(text, hash_bytes(identity, 1)), low = hash_bytes(text, hash_bytes(identity, 2));
  std::string path = fmt::format("{}/{}-{:016x}{:016x}.so", directory, readable_part(options.name), high, low);

  std::shared_ptr<Slot> slot = slot_of(path);
  std::lock_guard lock(slot->mutex);
  if (auto known = slot->library.lock()) return known;
  bool cached = is_sealed(read_file(path));
  double seconds = cached ? 0 : build(text, compiler, flags, directory, path);
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle && cached) {  // sealed by another system with the same compiler text, for example: build it here
    cached = false;
    seconds = build(text, compiler, flags, directory, path);
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) throw DeviceError("dlopen", 0, ::dlerror());
  auto library = std::make_shared<const HostLibrary>(handle, path, cached, seconds);
  slot->library = library;
  return library;
}

}  // namespace tilewright
