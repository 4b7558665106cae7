#pragma once
// Runs Ascend C kernel texts (vector core, __NPU_ARCH__ 2201) on the CPU and checks their synchronisation.
//
// Kinds of faults:
//   raw war waw          two accesses of one core to the same bytes without an order between them
//   cross-core           two cores of a launch touch the same global bytes, one writing
//   stale-cache          a scalar access to global memory and a transfer, with the data cache in between
//   out-of-bounds        of a memory, a tensor, or an argument
//   uninitialised        bytes without a value reach a scalar, a reduction or global memory
//   misaligned           a local address, or a global one of DataCopy or a scalar access
//   copy-size            DataCopy of bytes that are not a multiple of 32
//   block-count block-length padding stride-units      parameters of a copy
//   operand-overlap      source and destination overlap in part
//   unsupported-type count                             an operation that the architecture lacks; a negative count
//   event-id unknown-event no-such-pipe no-such-memory barrier-on-scalar
//   double-set           SetFlag while the flag is set
//   event-reuse          SetFlag that may run before the wait for the previous one
//   wait-without-set unmatched-set deadlock
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "target/common/emulator/report.h"

namespace tilewright {
class HostLibrary;
}

namespace tilewright::engine {

/// A kernel text and the name of the kernel function in it. It includes nothing but kernel_operator.h.
struct Text {
  std::string name;
  std::string source;
  std::string entry = {};  // the name by which the batch knows it; empty: `name`
};

/// An argument of a launch.
struct Argument {
  /// Global memory. `defined`: its bytes have values; else reading what the launch did not write is a fault.
  static Argument global(void* data, int64_t bytes, bool defined = true) {
    Argument a;
    a.data = data, a.bytes = bytes, a.defined = defined;
    return a;
  }
  template <class T>
  static Argument scalar(T value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    Argument a;
    a.size = sizeof(T);
    std::memcpy(&a.bits, &value, sizeof(T));
    return a;
  }

  void* data = nullptr;
  int64_t bytes = 0;
  bool defined = true;
  uint32_t size = 0;  // of a scalar; 0: global memory
  uint64_t bits = 0;
};

struct Options {
  bool deferred = false;  // run each pipe from a queue, in a seeded random order that only flags and barriers restrict
  uint64_t seed = 0;
  // A WaitFlag of S also holds back everything that S issues later (one instruction stream is decoded in order); true:
  // count it for accesses of S alone, so that no program is right because of the scalar unit's stalls.
  bool strict_scalar = false;
};

/// A batch of compiled texts.
class Program {
 public:
  /// Compiles all texts to one shared object (cached by content). UserError when a text includes another header or two
  /// entries have one name; DeviceError with the compiler's words when one does not compile.
  static Program compile(const std::vector<Text>& texts, int npu_arch = 2201);

  /// Runs a kernel on `cores` vector cores, one after the other. UserError when there is no such kernel or the
  /// arguments do not fit its parameters in number or size.
  Report launch(const std::string& kernel, int64_t cores, const std::vector<Argument>& arguments,
                const Options& options = {}) const;

  /// Seconds of the compiler; 0 when the object was found in the cache.
  double compile_seconds() const;

 private:
  std::shared_ptr<const HostLibrary> library_;
};

/// The C++ text of a batch: the device headers, then each text in a namespace of its own, with its lines.
std::string batch_text(const std::vector<Text>& texts, int npu_arch = 2201);

}  // namespace tilewright::engine
