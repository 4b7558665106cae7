#pragma once
// The passes, each in a file of its own name (simplify is the rewriter of src/ir, called in pipeline.cpp) and with a
// contract: what it takes, what it gives, what it refuses. The one list of their order is pipeline.cpp. A pass reads
// the machine's Caps; it never asks for a target's name.
#include <optional>
#include <string>
#include <vector>

#include "machine/target.h"

namespace tilewright {

/// What a compilation has to say besides its result.
struct Remark {
  enum class Kind : uint8_t { fact, warning } kind;
  std::string pass, text;
  Location at;
};

struct PassContext {
  const Target& target;
  std::vector<Remark> remarks;
  int opt_level = 3;  // CompileOptions::opt_level

  const Caps& caps() const { return target.caps(); }
  /// What was decided, and why.
  void fact(const char* pass, std::string text, Location at = {}) {
    remarks.push_back({Remark::Kind::fact, pass, std::move(text), at});
  }
  /// What the program asked for and does not get, and why.
  void warn(const char* pass, std::string text, Location at) {
    remarks.push_back({Remark::Kind::warning, pass, std::move(text), at});
  }
};

using KernelRef = ir::Ref<ir::Kernel>;

/// Takes a kernel of any stage; gives the same program with constants folded and proved guards removed; refuses
/// nothing.
KernelRef simplify(const KernelRef& kernel, PassContext& context);

/// Takes a traced kernel; gives it unchanged; refuses, at the user's line, what the machine cannot do: element types,
/// thread counts, statements of which Target::refuse says so.
KernelRef check_machine(const KernelRef& kernel, PassContext& context);

/// Takes a traced kernel; gives it with what a tile operation or a loop's extents read of memory named by `let`s before
/// the statement, since the statement itself may write there; refuses nothing.
KernelRef evaluate_once(const KernelRef& kernel, PassContext& context);

/// Takes a traced kernel; gives stage planned: a grid is a `for blocks` loop over one linear index (threads model: with
/// the threads loop inside; engines model: `for cores`, each core a serial loop over its blocks); refuses nothing.
KernelRef plan_grid(const KernelRef& kernel, PassContext& context);

/// Takes stage planned; gives stage placed: every buffer has a memory; refuses a memory that the machine lacks.
KernelRef place(const KernelRef& kernel, PassContext& context);

/// Takes stage placed, engines model; gives every statement that touches memory an engine; refuses copies to or from
/// global memory that no path joins, and values of control flow in memory that the issuing engine does not read.
KernelRef assign_engines(const KernelRef& kernel, PassContext& context);

/// Takes stage placed, threads model; gives fragments that only whole operations and loops over their axes use a layout
/// over the threads of the block, in the memory of a thread; the others stay where they are, with the reason as a fact,
/// and all do at opt_level 0; refuses nothing.
KernelRef infer_layouts(const KernelRef& kernel, PassContext& context);

/// Takes stage placed; gives it with every element access either proved in range or guarded (a read outside gives 0, a
/// write outside is dropped); refuses nothing.
KernelRef guard_accesses(const KernelRef& kernel, PassContext& context);

/// Takes stage placed; gives stage lowered: tile operations are parallel, reduction and serial loops over elements, or
/// stay whole: on an engine that moves data (with a tile in between where that engine cannot convert), and reductions
/// of what threads hold together; refuses nothing.
KernelRef lower_tiles(const KernelRef& kernel, PassContext& context);

/// Takes stage lowered; gives every buffer a byte offset (one buffer, one address; rows aligned as the memory asks) and
/// moves `alloc` to the start of its phase, memory of one iteration aside; refuses phases that need more than a memory
/// has, with a table of it.
KernelRef plan_memory(const KernelRef& kernel, PassContext& context);

/// Takes stage lowered, threads model; gives barriers before statements that conflict with what other threads did since
/// the last one; refuses nothing.
KernelRef synchronise_threads(const KernelRef& kernel, PassContext& context);

/// Takes stage lowered, engines model; gives flag pairs and engine barriers before statements that conflict with an
/// operation that their engine has not seen complete; refuses nothing.
KernelRef synchronise_engines(const KernelRef& kernel, PassContext& context);

/// Takes stage lowered; gives the final form of the machine's model: in the threads model parallel loops are dealt out
/// to the threads, in the engines model they become serial; refuses nothing.
KernelRef finish_form(const KernelRef& kernel, PassContext& context);

struct Pass {
  std::string_view name;
  KernelRef (*run)(const KernelRef&, PassContext&);
  bool loops, threads, engines;    // the models that it is for
  std::optional<ir::Stage> takes;  // nothing: any stage
};

/// All passes in order; a name may stand twice.
std::vector<Pass> pipeline(Model model);

struct Compilation {
  KernelRef final_stage;
  LaunchPlan plan;
  std::vector<Remark> remarks;
};

/// Called after each pass with its name and result.
struct PassObserver {
  virtual ~PassObserver() = default;
  virtual void after(std::string_view pass, const KernelRef& kernel) = 0;
};

/// Runs the pipeline and makes the launch plan. Debug builds verify after every pass.
Compilation run_pipeline(const KernelRef& traced, const Target& target, PassObserver* observer = nullptr,
                         int opt_level = 3);

}  // namespace tilewright
