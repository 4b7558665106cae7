#pragma once
// From a builder to a callable kernel: compile once, call often. A call never traces.
#include <memory>
#include <string>
#include <vector>

#include "tilewright/dsl.h"
#include "tilewright/runtime.h"

namespace tilewright {

/// One thing that a machine can do or has: "engines", "MTE2, V, MTE3".
struct Capability {
  std::string name, text;
};

/// A target and the device that runs it: "interp", "cpu", "cuda" (a GPU), "cuda-emulator", "ascend-emulator".
struct MachineInfo {
  std::string name, target, device;
  bool available = false;
  std::string reason;  // why not, or what it runs on
  std::vector<Capability> capabilities;
};
/// Every machine that this build knows, available here or not.
std::vector<MachineInfo> machines();

struct CompileOptions {
  bool checked = false;  // interp only: report out-of-range accesses, races and reads of what nothing wrote
  int threads = 0;       // cpu: host threads; 0 = all
  uint64_t seed = 0;     // emulators: the interleaving
  int opt_level = 3;     // 0: the plainest program, with fragments in memory; 1 to 3: all that the passes know
};

/// What the compiler says about a kernel besides its code.
struct CompileRemark {
  bool is_warning = false;
  std::string pass, text;
  Location at;
};

/// One argument of a call, or none.
struct CallArgument {
  CallArgument() = default;
  template <class T>
    requires std::is_convertible_v<T, Argument>
  CallArgument(T&& value) : argument(std::forward<T>(value)), given(true) {}
  Argument argument = Argument(int64_t{0});
  bool given = false;
};

/// A compiled kernel. Cheap to copy; the device object lives as long as a kernel uses it.
class Kernel {
 public:
  struct Data;
  explicit Kernel(std::shared_ptr<Data> data) : data_(std::move(data)) {}

  /// k(a, b, c): arguments in the order of the signature. Checks them, runs every phase and waits. UserError at the
  /// caller's line when they do not fit.
  void operator()(CallArgument a0 = {}, CallArgument a1 = {}, CallArgument a2 = {}, CallArgument a3 = {},
                  CallArgument a4 = {}, CallArgument a5 = {}, CallArgument a6 = {}, CallArgument a7 = {},
                  CallArgument a8 = {}, CallArgument a9 = {}, CallArgument a10 = {}, CallArgument a11 = {},
                  Location at = Here::current());
  void launch(std::vector<Argument> arguments, Location at = Here::current());

  const std::string& name() const;
  /// The device, for memory: on a GPU tensors must be allocated there.
  Device& device();
  /// Names of the stages that text() knows: "traced", each pass, "source", and what the target adds (cpu: "plain", the
  /// LLVM IR before LLVM's passes, "assembly", and "notes" of loops that stayed scalar).
  std::vector<std::string> stages() const;
  /// The kernel as text after that stage. UserError names the stages when there is no such one.
  std::string text(const std::string& stage, Location at = Here::current()) const;
  const std::vector<CompileRemark>& remarks() const;
  /// Seconds from the traced kernel to the loaded one.
  double compile_seconds() const;

 private:
  std::shared_ptr<Data> data_;
};

namespace detail {
Kernel compile(const std::string& name, const Arguments& arguments, std::vector<bool> is_tensor, Builder builder,
               const std::string& machine, const CompileOptions& options, Location at);
}

/// Traces `builder` once and compiles it for `machine`.
template <class... S, class F>
Kernel compile(const std::string& name, F builder, const Signature<S...>& signature, const std::string& machine = "cpu",
               const CompileOptions& options = {}, Location at = Here::current()) {
  return detail::compile(name, signature, {std::is_same_v<S, TensorSpec>...}, make_builder(signature, builder), machine,
                         options, at);
}

/// Names of the passes in the order in which the pipeline of a machine runs them.
std::vector<std::string> pass_names(const std::string& machine, Location at = Here::current());
/// Runs the named passes of a machine on a kernel's text and gives the text of the result.
std::string run_passes(const std::string& text, const std::string& file_name, const std::vector<std::string>& passes,
                       const std::string& machine, Location at = Here::current());

}  // namespace tilewright
