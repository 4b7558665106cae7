// Tile programs at random: the interpreter's result on the traced program is the meaning; the text, the simplifier, the
// passes of every model and the CPU must keep it.
#include "fuzz/programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fuzz/expressions.h"
#include "ir/build.h"
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

/// Element by element, outputs of several types from expressions over inputs of every type.
KernelRef expression_program(Random& random) {
  using namespace ir;
  const Ref<Var> n = make<Var>("n"), block = make<Var>("block"), i = make<Var>("i");
  std::vector<Ref<Buffer>> params, tables;
  std::vector<Ref<Var>> values;
  Stmts body;
  auto tensor = [&](const std::string& name, DType type, const Expr& extent) {
    params.push_back(make<Buffer>(name, type, Exprs{extent}, Exprs{index(1)}, Space::global));
    return params.back();
  };
  for (DType type : all_types()) {
    if (type == i4 || type == u4) continue;  // values of these are read from tables
    const std::string name = tilewright::to_string(type);
    values.push_back(make<Var>(fmt::format("v_{}", name), type));
    body.push_back(make<Let>(values.back(), load(tensor(fmt::format("V_{}", name), type, n), {i})));
  }
  for (DType type : {i64, f32, u8})
    tables.push_back(tensor(fmt::format("T_{}", tilewright::to_string(type)), type, index(8)));
  Expressions expressions(random, values, tables, {.depth = 4, .nibbles = false});
  for (int outputs = 0; outputs < 4; ++outputs) {
    DType type = random.pick(all_types());
    if (type.bits == 4) type = i32;  // two elements a byte: iterations would conflict
    const Expr value = expressions.make(type);
    body.push_back(make<Store>(tensor(fmt::format("Y{}", outputs), type, n), Exprs{i}, value));
  }
  Stmt loop = make<For>(LoopKind::parallel, std::vector<Ref<Var>>{i}, Exprs{n}, int64_t{0}, make<Seq>(body));
  Stmt grid = make<Grid>(std::vector<Ref<Var>>{block}, Exprs{index(1)}, int64_t{32}, loop);
  return make<Kernel>("expressions", Stage::traced, std::vector<Ref<Var>>{n}, params, grid);
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
  // The two other models: every promise of their stages is kept.
  run_pipeline(kernel, any_machine(test::threads_machine()));
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

#ifdef TW_HAVE_CPU
void run_on_cpu(Random& random, const KernelRef& kernel, Scalar (*element)(Random&, DType)) {
  static const cpu::CpuTarget target;
  static const auto device = std::make_shared<cpu::CpuDevice>(2);
  note(ir::print(kernel));
  const Compilation compiled = run_pipeline(kernel, target);
  const std::unique_ptr<LoadedKernel> loaded = device->load(target.emit(compiled.final_stage, compiled.plan));
  for (int sizes = 0; sizes < 3; ++sizes) {
    ProgramData data(random, *kernel, element);
    const ProgramData before = data;
    loaded->launch(data.arguments(), Location("fuzz", 1));
    device->synchronize();
    ASSERT_EQ(difference(interpreted(kernel, before), data.values()), "") << before.describe();
  }
}

TEST(Programs, RunOnTheCpuAsInTheInterpreter) {
  for_cases(25, [](Random& random) { run_on_cpu(random, random_program(random), small_number); });
}

TEST(Programs, OfExpressionsRunOnTheCpuAsInTheInterpreter) {
  for_cases(15, [](Random& random) { run_on_cpu(random, expression_program(random), random_value); });
}
#endif

}  // namespace
}  // namespace tilewright::fuzz
