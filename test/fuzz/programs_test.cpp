// Tile programs at random: the interpreter's result on the traced program is the meaning; the text, the simplifier, the
// passes of every model and the CPU must keep it.
#include "fuzz/programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/simplify.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "machine/launch.h"
#include "pass/passes.h"
#include "target/interp/interpret.h"
#include "unit/pass/machines.h"
#ifdef TW_HAVE_CPU
#include "target/cpu/cpu_device.h"
#include "target/cpu/cpu_target.h"
#endif

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
  // The two other models: every promise of their stages is kept.
  run_pipeline(kernel, any_machine(test::threads_machine()));
}

TEST(Programs, KeepTheirMeaningThroughThePasses) { for_cases(250, check_program); }

#ifdef TW_HAVE_CPU
TEST(Programs, RunOnTheCpuAsInTheInterpreter) {
  static const cpu::CpuTarget target;
  const auto device = std::make_shared<cpu::CpuDevice>(2);
  for_cases(25, [&](Random& random) {
    const KernelRef kernel = random_program(random);
    note(ir::print(kernel));
    const Compilation compiled = run_pipeline(kernel, target);
    const std::unique_ptr<LoadedKernel> loaded = device->load(target.emit(compiled.final_stage, compiled.plan));
    for (int sizes = 0; sizes < 3; ++sizes) {
      ProgramData data(random, *kernel);
      const Values wanted = interpreted(kernel, data);
      const std::string sizes_text = data.describe();
      loaded->launch(data.arguments(), Location("fuzz", 1));
      device->synchronize();
      ASSERT_EQ(difference(wanted, data.values()), "") << sizes_text;
    }
  });
}
#endif

}  // namespace
}  // namespace tilewright::fuzz
