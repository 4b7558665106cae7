// Trace, passes, emission, loading; and the kernel object that remembers each step's text on request.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "dsl/trace.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "jit/machine_list.h"
#include "machine/launch.h"
#include "pass/passes.h"

namespace tilewright {

struct Kernel::Data {
  std::string name;
  const Machine* machine;
  KernelRef traced;
  Compilation compilation;
  std::vector<bool> is_tensor;  // the signature's order
  std::shared_ptr<Device> device;
  Artifact artifact;
  std::unique_ptr<LoadedKernel> loaded;
  std::vector<CompileRemark> remarks;
  double compile_seconds = 0;
  int opt_level = 3;
};

namespace {

Compilation run_machine(const KernelRef& traced, const Machine& machine, int opt_level,
                        PassObserver* observer = nullptr) {
  if (machine.traced) return {traced, plan_arguments(*traced), {}};
  return run_pipeline(traced, machine.target(), observer, opt_level);
}

/// Keeps the text after one pass; a pass that runs more than once has names NAME, NAME.2, ...
class TextAfter : public PassObserver {
 public:
  explicit TextAfter(std::string stage) : stage_(std::move(stage)) {}
  void after(std::string_view pass, const KernelRef& kernel) override {
    std::string name = numbered(pass);
    names.push_back(name);
    if (name == stage_) text = ir::print(kernel);
  }
  std::string text;
  std::vector<std::string> names;

 private:
  std::string numbered(std::string_view pass) {
    int count = 1;
    for (const std::string& n : names) count += n == pass || n.starts_with(fmt::format("{}.", pass));
    return count == 1 ? std::string(pass) : fmt::format("{}.{}", pass, count);
  }
  std::string stage_;
};

}  // namespace

namespace detail {

Kernel compile(const std::string& name, const Arguments& arguments, std::vector<bool> is_tensor, Builder builder,
               const std::string& machine, const CompileOptions& options, Location at) {
  constexpr int kMostThreads = 1024;
  if (options.threads < 0 || options.threads > kMostThreads)
    throw UserError(
        at, fmt::format("compile: threads is {}; wanted 0 (all processors) to {}", options.threads, kMostThreads));
  if (options.opt_level < 0 || options.opt_level > 3)
    throw UserError(at, fmt::format("compile: opt_level is {}; wanted 0 to 3", options.opt_level));
  auto data = std::make_shared<Kernel::Data>();
  data->opt_level = options.opt_level;
  data->name = name;
  data->machine = &find_machine(machine, true, at);
  data->is_tensor = std::move(is_tensor);
  data->traced = trace(name, arguments, builder, at);
  auto start = std::chrono::steady_clock::now();
  data->compilation = run_machine(data->traced, *data->machine, options.opt_level);
  data->artifact = data->machine->target().emit(data->compilation.final_stage, data->compilation.plan);
  data->device = data->machine->open(options);
  data->loaded = data->device->load(data->artifact);
  data->compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.checked && !data->machine->traced)
    data->remarks.push_back(
        {true, "compile", fmt::format("checked is ignored: {} does not check, interp does", machine), at});
  for (const Remark& r : data->compilation.remarks)
    data->remarks.push_back({r.kind == Remark::Kind::warning, r.pass, r.text, r.at});
  return Kernel(std::move(data));
}

}  // namespace detail

void Kernel::operator()(CallArgument a0, CallArgument a1, CallArgument a2, CallArgument a3, CallArgument a4,
                        CallArgument a5, CallArgument a6, CallArgument a7, CallArgument a8, CallArgument a9,
                        CallArgument a10, CallArgument a11, Location at) {
  std::vector<Argument> arguments;
  size_t position = 0;
  for (CallArgument* a : {&a0, &a1, &a2, &a3, &a4, &a5, &a6, &a7, &a8, &a9, &a10, &a11}) {
    if (a->given && position != arguments.size())
      throw UserError(
          at, fmt::format("{}: argument {} is {{}}, wanted a tensor or a number", data_->name, arguments.size() + 1));
    position += 1;
    if (a->given) arguments.push_back(std::move(a->argument));
  }
  launch(std::move(arguments), at);
}

void Kernel::launch(std::vector<Argument> arguments, Location at) {
  std::vector<Argument> ordered;  // the launch plan's order: tensors, then scalars
  if (arguments.size() == data_->is_tensor.size()) {
    for (bool tensors : {true, false})
      for (size_t i = 0; i < arguments.size(); ++i)
        if (data_->is_tensor[i] == tensors) ordered.push_back(arguments[i]);
  } else {
    ordered = std::move(arguments);  // bind_arguments() says what is missing
  }
  data_->loaded->launch(ordered, at);
  data_->device->synchronize();
}

const std::string& Kernel::name() const { return data_->name; }
Device& Kernel::device() { return *data_->device; }
const std::vector<CompileRemark>& Kernel::remarks() const { return data_->remarks; }
double Kernel::compile_seconds() const { return data_->compile_seconds; }

std::vector<std::string> Kernel::stages() const {
  std::vector<std::string> names{"traced"};
  TextAfter observer("");
  run_machine(data_->traced, *data_->machine, data_->opt_level, &observer);
  names.insert(names.end(), observer.names.begin(), observer.names.end());
  names.push_back("source");
  for (const std::string& listing : data_->machine->target().listings()) names.push_back(listing);
  return names;
}

std::string Kernel::text(const std::string& stage, Location at) const {
  if (stage == "traced") return ir::print(data_->traced);
  if (stage == "source") return data_->artifact.text;
  const Target& target = data_->machine->target();
  for (const std::string& listing : target.listings())
    if (listing == stage) return target.listing(stage, data_->compilation.final_stage, data_->compilation.plan);
  TextAfter observer(stage);
  run_machine(data_->traced, *data_->machine, data_->opt_level, &observer);
  if (observer.text.empty())
    throw UserError(at, fmt::format("{} has no stage '{}'; its stages are {}", data_->machine->name, stage,
                                    fmt::join(stages(), ", ")));
  return observer.text;
}

std::vector<std::string> pass_names(const std::string& machine, Location at) {
  std::vector<std::string> names;
  for (const Pass& pass : pipeline(find_machine(machine, false, at).target().caps().model))
    names.emplace_back(pass.name);
  return names;
}

namespace {

/// A text may name memories and engines that the machine lacks: passes look them up without asking.
void check_names(const KernelRef& kernel, const Caps& caps) {
  Location at = kernel->at;
  auto known_engine = [&](const std::string& name, Location line) {
    if (!caps.engine(name)) throw UserError(line, fmt::format("{} has no engine named '{}'", caps.target, name));
  };
  ir::post_order(kernel, [&](const ir::Node& node) {
    if (const auto* b = ir::as<ir::Buffer>(&node); b && !b->memory.empty() && !caps.memory(b->memory))
      throw UserError(b->at ? b->at : at, fmt::format("{} has no memory named '{}'", caps.target, b->memory));
    if (const auto* on = ir::as<ir::OnEngine>(&node)) known_engine(on->engine, on->at);
    if (const auto* barrier = ir::as<ir::EngineBarrier>(&node)) known_engine(barrier->engine, barrier->at);
    if (const auto* set = ir::as<ir::SetFlag>(&node)) known_engine(set->from, set->at), known_engine(set->to, set->at);
    if (const auto* wait = ir::as<ir::WaitFlag>(&node))
      known_engine(wait->from, wait->at), known_engine(wait->to, wait->at);
  });
}

}  // namespace

std::string run_passes(const std::string& text, const std::string& file_name, const std::vector<std::string>& passes,
                       const std::string& machine, Location at) {
  const Target& target = find_machine(machine, false, at).target();
  const std::vector<Pass> list = pipeline(target.caps().model);
  KernelRef kernel = ir::parse_kernel(text, intern_file(file_name));
  // What breaks a promise here is a mistake of the text, or of the choice of passes.
  if (auto broken = ir::broken_promise(kernel)) throw UserError(broken->at, broken->sentence);
  check_names(kernel, target.caps());
  PassContext context{target, {}};
  for (const std::string& name : passes) {
    auto found = std::find_if(list.begin(), list.end(), [&](const Pass& p) { return p.name == name; });
    if (found == list.end())
      throw UserError(at, fmt::format("no pass named '{}' for {}; its passes are {}", name, machine,
                                      fmt::join(pass_names(machine, at), ", ")));
    if (found->takes && kernel->stage != *found->takes)
      throw UserError(at, fmt::format("pass {} takes stage {}, but the kernel is at stage {}", name,
                                      ir::name_of(*found->takes), ir::name_of(kernel->stage)));
    kernel = found->run(kernel, context);
    if (auto broken = ir::broken_promise(kernel))
      throw UserError(broken->at, fmt::format("after pass {}: {}; the pipeline runs {}", name, broken->sentence,
                                              fmt::join(pass_names(machine, at), ", ")));
  }
  return ir::print(kernel);
}

}  // namespace tilewright
