// The six programs through the whole pipeline of a machine of each model: what every pass promises, and that the final
// loops form means what the traced program means.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dsl/trace.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "machine/launch.h"
#include "pass/passes.h"
#include "target/interp/interpret.h"
#include "tilewright/kernels.h"
#include "unit/pass/machines.h"

namespace tilewright {
namespace {

/// A kernel with what its tests call it on: extents of each tensor, then a scalar where it takes one.
struct Program {
  std::string name;
  KernelRef traced;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<double> scalars;
};

std::vector<Program> programs() {
  std::vector<Program> all;
  all.push_back({"vector_add",
                 trace("vector_add", vector_add_signature(f32),
                       [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {.n = 32, .threads = 8}); }),
                 {{129}, {129}, {129}},
                 {}});
  all.push_back({"reverse",
                 trace("reverse", reverse_signature(f32),
                       [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 24, .threads = 8}); }),
                 {{97}, {97}},
                 {}});
  for (int columns : {8, 64})  // several tiles a row, and one
    all.push_back(
        {"softmax_" + std::to_string(columns),
         trace("softmax", softmax_signature(f32),
               [=](Buffer x, Buffer y) { softmax_kernel(x, y, {.rows = 2, .columns = columns, .threads = 8}); }),
         {{5, 33}, {5, 33}},
         {}});
  all.push_back({"rms_norm",
                 trace("rms_norm", rms_norm_signature(f32),
                       [](Buffer x, Buffer w, Buffer y, Expr eps) {
                         rms_norm_kernel(x, w, y, eps, {.rows = 2, .columns = 16, .threads = 8});
                       }),
                 {{3, 33}, {33}, {3, 33}},
                 {1e-5}});
  for (bool transposed : {false, true})
    all.push_back({transposed ? "gemm_transposed" : "gemm",
                   trace("gemm", gemm_signature(f32, f32, transposed),
                         [=](Buffer A, Buffer B, Buffer C) {
                           gemm_kernel(A, B, C, transposed, {.m = 8, .n = 16, .k = 8, .stages = 2, .threads = 8});
                         }),
                   {{17, 9}, transposed ? std::vector<int64_t>{19, 9} : std::vector<int64_t>{9, 19}, {17, 19}},
                   {}});
  for (bool causal : {false, true})
    all.push_back({causal ? "attention_causal" : "attention",
                   trace("attention", attention_signature(f32, 16),
                         [=](Buffer Q, Buffer K, Buffer V, Buffer O) {
                           attention_kernel(Q, K, V, O, 16, causal, {.m = 8, .n = 8, .stages = 2, .threads = 8});
                         }),
                   {{1, 2, 11, 16}, {1, 1, 13, 16}, {1, 1, 13, 16}, {1, 2, 11, 16}},
                   {}});
  return all;
}

Caps enough_memory(Caps caps) {
  for (Memory& memory : caps.memories) memory.bytes = 1 << 20;
  return caps;
}

/// After every pass: the promises of the stage hold, and the text says all of it.
struct CheckEachPass : PassObserver {
  void after(std::string_view pass, const KernelRef& kernel) override {
    ++passes;
    auto broken = ir::broken_promise(kernel);
    EXPECT_FALSE(broken) << "after " << pass << ": " << broken->sentence << "\n" << ir::print(kernel);
    std::string text = ir::print(kernel);
    try {
      EXPECT_TRUE(ir::equal(kernel, ir::parse_kernel(text))) << "after " << pass << "\n" << text;
    } catch (const Error& e) {
      ADD_FAILURE() << "after " << pass << ": " << e.what() << "\n" << text;
    }
  }
  int passes = 0;
};

TEST(SixPrograms, EveryPassKeepsItsPromises) {
  const test::TableMachine machines[] = {test::TableMachine(enough_memory(test::loops_machine().caps())),
                                         test::TableMachine(enough_memory(test::threads_machine().caps())),
                                         test::TableMachine(enough_memory(test::engines_machine().caps()))};
  for (const Program& program : programs()) {
    EXPECT_FALSE(ir::broken_promise(program.traced)) << program.name << ir::broken_promise(program.traced)->sentence;
    for (const Target& machine : machines) {
      SCOPED_TRACE(program.name + " on " + machine.caps().target);
      CheckEachPass check;
      run_pipeline(program.traced, machine, &check);
      EXPECT_EQ(check.passes, static_cast<int>(pipeline(machine.caps().model).size()));
    }
  }
}

/// The outputs of an interpreted kernel on small integers, which f32 sums exactly.
std::vector<std::vector<float>> interpreted(const KernelRef& kernel, const LaunchPlan& plan, const Program& program) {
  std::vector<std::vector<float>> data;
  std::vector<Argument> arguments;
  for (size_t t = 0; t < program.shapes.size(); ++t) {
    std::vector<float> values(static_cast<size_t>(element_count(program.shapes[t])));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37 + t * 11) % 17) - 8;
    data.push_back(std::move(values));
  }
  for (size_t t = 0; t < data.size(); ++t) arguments.push_back(Tensor{data[t].data(), f32, program.shapes[t], {}});
  for (double scalar : program.scalars) arguments.emplace_back(scalar);
  auto findings = interp::interpret(kernel, plan, bind_arguments(plan, arguments, {}), {.checked = true});
  for (const interp::Finding& finding : findings) ADD_FAILURE() << finding.text;
  return data;
}

TEST(SixPrograms, TheLoopsFormMeansWhatTheTracedProgramMeans) {
  const test::TableMachine machine(enough_memory(test::loops_machine().caps()));
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    Compilation compiled = run_pipeline(program.traced, machine);
    ASSERT_EQ(compiled.final_stage->stage, ir::Stage::loops);
    EXPECT_EQ(interpreted(compiled.final_stage, compiled.plan, program),
              interpreted(program.traced, plan_arguments(*program.traced), program));
  }
}

}  // namespace
}  // namespace tilewright
