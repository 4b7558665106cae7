#pragma once
// The SIMT emulator: runs generated CUDA-dialect kernels on the CPU and checks every access, not only the values.
//
// A kernel text is what follows the device header: it uses tw::argument, tw::global and tw::shared views, tw::barrier()
// (or __syncthreads()), threadIdx and blockIdx, and the tw:: functions of the language's rules. The same text follows
// device_header_cuda() for NVRTC and the emulator's own header here. An element has to be read into a variable of a
// named type (`float x = a[i];`, not `auto`), and shared memory is declared with tw::shared_at only.
//
// A launch runs one block after another, each thread of a block as a fiber, in an order that the seed permutes within
// every barrier interval. Races are found from the order that barriers establish, whatever order the threads ran in:
// two accesses to one byte, at least one a write, are a race when they come from two blocks, or
// from two threads of one block with no barrier between them.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "target/common/emulator/report.h"

namespace tilewright::simt {

/// The device header for NVRTC and nvcc, to be put before a kernel text.
const std::string& device_header_cuda();
/// The header that the emulator puts before each batch.
const std::string& device_header_emulated();

struct KernelText {
  std::string name;  // of the __global__ function
  std::string text;  // may define helpers and types of its own; each text gets a namespace
};

enum class FaultKind : uint8_t {
  read_after_write,  // a race inside one block, named by the order in which this run met the accesses
  write_after_read,
  write_after_write,
  block_conflict,       // a race between two blocks
  out_of_bounds_read,   // gives 0
  out_of_bounds_write,  // dropped
  misaligned,           // an address that is no multiple of the access's bytes; not executed
  uninitialised_read,   // shared memory that no thread of this block has written
  barrier_divergence,   // some threads wait at a barrier, or for their warp, where others do not come; ends the launch
  limit_exceeded,       // threads, grid, shared memory (the launch does not start) or number of accesses (it ends)
};
/// "read_after_write" and so on.
const char* to_string(FaultKind kind);

/// Who made an access: linear block number, linear thread number in its block, line in the kernel text (or the line
/// that #line gives). line is 0 when it is not known.
struct Access {
  int64_t block = -1;
  int thread = -1;
  int line = 0;
};

struct Fault {
  FaultKind kind;
  std::string text;    // one sentence
  std::string buffer;  // the buffer's name; empty for barriers and limits
  int64_t index = 0;   // element of the buffer
  int64_t element_bytes = 0;
  Access access;   // the access that was refused or found in conflict
  Access earlier;  // the other one, for races and for divergence (the thread that waits)
};

struct Report {
  std::vector<Fault> faults;  // the first LaunchOptions::listed_faults ones
  int64_t total = 0;          // all faults
  bool stopped = false;       // the launch ended early: results are incomplete
  int64_t accesses = 0;       // checked accesses to global and shared memory
  int64_t barriers = 0;       // barriers that a whole block passed
  int64_t matrix_calls = 0;   // products that a warp did on its matrix unit
  bool clean() const { return total == 0; }
  /// The same in the form that all emulators share: kinds by name, buffers as memory, threads as actors.
  tilewright::Report common(const std::string& kernel) const;
};

struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
  int64_t volume() const { return x * y * z; }
};

/// A launch argument: a buffer (as big as `bytes`, any alignment) or a scalar.
class Argument {
 public:
  static Argument buffer(std::string name, void* data, int64_t bytes);
  static Argument buffer(std::string name, const void* data, int64_t bytes);
  static Argument i32(int32_t v) { return scalar('i', &v, sizeof v); }
  static Argument i64(int64_t v) { return scalar('i', &v, sizeof v); }
  static Argument u32(uint32_t v) { return scalar('u', &v, sizeof v); }
  static Argument u64(uint64_t v) { return scalar('u', &v, sizeof v); }
  static Argument f32(float v) { return scalar('f', &v, sizeof v); }
  static Argument f64(double v) { return scalar('f', &v, sizeof v); }
  static Argument boolean(bool v) { return scalar('o', &v, sizeof v); }
  /// Any scalar parameter by its kind ('i', 'u', 'f', 'o') and bytes (1, 2, 4, 8).
  static Argument scalar(char kind, const void* value, size_t bytes);

  char kind = 'b';
  std::string name;
  void* data = nullptr;
  int64_t bytes = 0;
  uint64_t value = 0;  // a scalar's bytes
};

struct LaunchOptions {
  uint64_t seed = 0;              // 0: threads and blocks in ascending order; else permuted
  int64_t shared_limit = 232448;  // bytes of shared memory a block may have
  int listed_faults = 64;
  int64_t access_limit = int64_t{1} << 33;  // a launch with more checked accesses ends (a loop that never does)
  int64_t stack_bytes = 128 << 10;          // of each thread; a guard page lies below
  bool portable_fibers = false;             // ucontext instead of the x86-64 switch
};

class Library;

/// One kernel of a batch.
class Kernel {
 public:
  const std::string& name() const;

 private:
  friend class Library;
  friend Report launch(const Kernel&, Dim3, Dim3, int64_t, std::span<const Argument>, const LaunchOptions&);
  std::shared_ptr<const Library> library_;
  size_t index_ = 0;
};

/// Compiles the texts to one shared object, cached by content (see host_compiler.h). DeviceError with the compiler's
/// messages, which name kernel and line, when one does not compile. Kernels come back in the order of the texts.
std::vector<Kernel> compile_batch(std::span<const KernelText> texts);

/// Runs the kernel. Arguments must match its parameters in number, kind and bytes (UserError). Faults of the kernel are
/// in the report, never thrown. Launches of one library run one at a time.
Report launch(const Kernel& kernel, Dim3 grid, Dim3 block, int64_t dynamic_shared_bytes,
              std::span<const Argument> arguments, const LaunchOptions& options = {});

}  // namespace tilewright::simt
