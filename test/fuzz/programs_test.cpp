// Tile programs at random: the interpreter's result on the traced program is the meaning; the text, the simplifier, the
// passes of every model and the CPU must keep it.
#include "fuzz/programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "fuzz/expressions.h"
#include "ir/simplify.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "jit/machine_list.h"
#include "machine/launch.h"
#include "pass/passes.h"
#include "target/interp/interpret.h"
#include "unit/pass/machines.h"

namespace tilewright::fuzz {
namespace {

using Values = std::vector<std::string>;

/// The values after a run by the interpreter.
Values interpreted(const KernelRef& kernel, ProgramData data) {
  const LaunchPlan plan = plan_arguments(*kernel);
  const std::vector<Argument> arguments = data.arguments();
  interp::interpret(kernel, plan, bind_arguments(plan, arguments, Location("fuzz", 1)));
  return data.values();
}

std::string difference(const Values& wanted, const Values& got) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != got[i]) return fmt::format("wanted {}\ngot    {}\n", wanted[i], got[i]);
  return "";
}

/// A machine of the model that has every type, without limits of memory.
test::TableMachine any_machine(test::TableMachine machine) {
  Caps caps = machine.caps();
  caps.storage_types = {boolean, i8,  i16,  i32,  i64,      u8,   u16,      u32,  u64,  i4,   u4,   f64, f32,
                        tf32,    f16, bf16, e4m3, e4m3fnuz, e5m2, e5m2fnuz, e8m0, e5m6, e3m2, e2m3, e2m1};
  caps.arithmetic_types = {boolean, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64};
  for (Memory& m : caps.memories) m.bytes = int64_t{1} << 24;
  return test::TableMachine(caps);
}

/// After every pass the kernel keeps the promises of its stage, and its text reads back.
class EveryStage : public PassObserver {
 public:
  void after(std::string_view pass, const KernelRef& kernel) override {
    const std::string text = ir::print(kernel);
    if (auto broken = ir::broken_promise(kernel)) ADD_FAILURE() << "after " << pass << ": " << broken->sentence;
    EXPECT_TRUE(ir::equal(kernel, ir::parse_kernel(text, "fuzz"))) << "after " << pass << ":\n" << text;
  }
};

void check_program(Random& random) {
  const KernelRef kernel = random_program(random);
  const std::string text = ir::print(kernel);
  note(text);
  if (auto broken = ir::broken_promise(kernel)) FAIL() << broken->sentence;
  const KernelRef back = ir::parse_kernel(text, "fuzz");
  ASSERT_TRUE(ir::equal(kernel, back));
  ASSERT_EQ(ir::print(back), text);

  const ProgramData data(random, *kernel);
  const Values wanted = interpreted(kernel, data);
  const KernelRef simple = ir::simplify(kernel);
  ASSERT_EQ(difference(wanted, interpreted(simple, data)), "") << data.describe() << text << "\nsimplified:\n"
                                                               << ir::print(simple);

  const Compilation loops = run_pipeline(kernel, any_machine(test::loops_machine()));
  ASSERT_EQ(difference(wanted, interpreted(loops.final_stage, data)), "") << data.describe() << text << "\nin loops:\n"
                                                                          << ir::print(loops.final_stage);
  // The threads model, without and with warps: every promise of its stages is kept.
  EveryStage check;
  for (int64_t lanes : {0, 4}) {
    Caps caps = any_machine(test::threads_machine()).caps();
    caps.lanes = lanes;
    caps.register_bytes = 128;
    run_pipeline(kernel, test::TableMachine(caps), lanes ? &check : nullptr);
  }
}

TEST(Programs, KeepTheirMeaningThroughThePasses) { for_cases(250, check_program); }

TEST(Programs, OfExpressionsKeepTheirMeaningThroughThePasses) {
  for_cases(100, [](Random& random) {
    const KernelRef kernel = expression_program(random);
    note(ir::print(kernel));
    const ProgramData data(random, *kernel, random_value);
    const Compilation loops = run_pipeline(kernel, any_machine(test::loops_machine()));
    ASSERT_EQ(difference(interpreted(kernel, data), interpreted(loops.final_stage, data)), "") << data.describe();
  });
}

/// Compiles for a machine of this build and compares three runs with the interpreter's. False when the machine refuses
/// the program.
bool run_on(const std::string& name, Random& random, const KernelRef& kernel, Scalar (*element)(Random&, DType)) {
  const Machine& machine = find_machine(name, true, Location("fuzz", 1));
  static const CompileOptions options{.threads = 2};
  const std::shared_ptr<Device> device = machine.open(options);
  note(ir::print(kernel));
  std::unique_ptr<LoadedKernel> loaded;
  try {
    const Compilation compiled = run_pipeline(kernel, machine.target());
    loaded = device->load(machine.target().emit(compiled.final_stage, compiled.plan));
  } catch (const UserError& e) {
    EXPECT_TRUE(e.message().starts_with(machine.target().caps().target)) << e.what();
    return false;
  }
  for (int sizes = 0; sizes < 3; ++sizes) {
    ProgramData data(random, *kernel, element);
    const ProgramData before = data;
    loaded->launch(data.arguments(), Location("fuzz", 1));
    device->synchronize();
    EXPECT_EQ(difference(interpreted(kernel, before), data.values()), "") << before.describe();
  }
  return true;
}

#ifdef TW_HAVE_CPU
TEST(Programs, RunOnTheCpuAsInTheInterpreter) {
  for_cases(25, [](Random& random) { EXPECT_TRUE(run_on("cpu", random, random_program(random), small_number)); });
}

TEST(Programs, OfExpressionsRunOnTheCpuAsInTheInterpreter) {
  for_cases(15, [](Random& random) { EXPECT_TRUE(run_on("cpu", random, expression_program(random), random_value)); });
}
#endif

/// Few: each is compiled by the host's compiler.
TEST(Programs, RunOnEmulatorsAsInTheInterpreter) {
  for (const char* name : {"cuda-emulator", "ascend-emulator"}) {
    if (const auto [available, reason] = find_machine(name, false, {}).probe(); !available) {
      std::printf("  %s: not available here: %s\n", name, reason.c_str());
      continue;
    }
    int tried = 0, run = 0;
    for_cases(2, [&](Random& random) {
      ++tried;
      run += run_on(name, random, random_program(random, Types::common), small_number);
    });
    std::printf("  %s: %d of %d programs run, the others refused\n", name, run, tried);
  }
}

}  // namespace
}  // namespace tilewright::fuzz
