// The CPU as a machine of the loops model, and the name of this processor.
#include <sys/utsname.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fmt/format.h>

#include "base/hash.h"
#include "target/cpu/cpu_target.h"

namespace tilewright::cpu {

namespace {
/// Scratch of one worker: room for the tiles of the largest blocks. Only touched pages cost memory; a block runs at
/// full speed while its tiles fit the second-level cache (512 KiB to 2 MiB a core).
constexpr int64_t kScratchBytes = int64_t{8} << 20;
}  // namespace

Caps make_caps(const std::string& arch) {
  Caps caps;
  caps.target = "cpu";
  caps.arch = arch;
  caps.model = Model::loops;
  caps.memories = {{.name = "scratch", .bytes = kScratchBytes, .alignment = 64}};
  for (ir::Space space : {ir::Space::shared, ir::Space::fragment, ir::Space::local, ir::Space::var})
    caps.memory_of[static_cast<int>(space)] = "scratch";
  caps.storage_types = {boolean, i8,  i16,  i32,  i64,      u8,   u16,      u32,  u64,  i4,   u4,   f64, f32,
                        tf32,    f16, bf16, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};
  caps.arithmetic_types = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64};
  return caps;
}

std::string host_arch() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  uint64_t features = 0;
  unsigned signature = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) {
    signature = a;
    features = hash_combine(c & ~(1u << 27), d);  // without OSXSAVE, which is the system's
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) features = hash_combine(hash_combine(features, b), hash_combine(c, d));
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) features = hash_combine(features, a);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) features = hash_combine(features, c);
  const char* level = __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                      : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                      : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                            : "x86-64";
  return fmt::format("{}-{:x}-{:016x}", level, signature, features);
#else
  utsname name;
  return uname(&name) == 0 ? name.machine : "unknown";
#endif
}

}  // namespace tilewright::cpu
