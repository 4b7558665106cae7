// tw-opt: texts go round, passes follow each other as in the pipeline, errors have line and column.
#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/jit.h"
#include "tool/command.h"

namespace tilewright::test {
namespace {

constexpr const char* kText =
    "kernel twice stage traced {\n"
    "  scalar N: i64\n"
    "  param x: f32[N] strides [1]\n"
    "  grid bx in ceildiv(N, 8) threads 8 {\n"
    "    alloc frag0: f32[8] fragment\n"
    "    copy x[(bx * 8):+8] -> frag0[0:+8]\n"
    "    for parallel i in 8 {\n"
    "      store frag0[i] = (frag0[i] * 2:f32)\n"
    "    }\n"
    "    copy frag0[0:+8] -> x[(bx * 8):+8]\n"
    "  }\n"
    "}\n";

std::string machine() { return has_machine("cpu") ? "cpu" : machines().front().name; }

TEST(TwOpt, HelpAndWrongUse) {
  EXPECT_EQ(run_tool("tw-opt --help").status, 0);
  const Finished f = run_tool("tw-opt --machine toaster");
  EXPECT_EQ(f.status, 2);
  EXPECT_TRUE(f.err.starts_with("--machine: toaster not in {")) << f.err;
}

TEST(TwOpt, WithoutPassesATextGoesRound) {
  const Finished f = run_tool("tw-opt", kText);
  EXPECT_EQ(f.status, 0) << f.err;
  EXPECT_EQ(f.out, kText);
  EXPECT_EQ(run_tool("tw-opt -", kText).out, kText);
  const std::string file = scratch_file("twice.tw");
  write_file(file, kText);
  EXPECT_EQ(run_tool("tw-opt " + file).out, kText);
}

TEST(TwOpt, PassesFollowEachOtherAsInThePipeline) {
  std::vector<std::string> passes = pass_names(machine());
  std::string list;
  for (const std::string& pass : passes) list += pass + "\n";
  EXPECT_EQ(run_tool("tw-opt --list --machine " + machine()).out, list);

  for (const char* program : {"softmax", "gemm", "attention"}) {
    if (machine() == "interp") GTEST_SKIP() << "this build has no machine with passes";
    const std::string show = std::string("tilewright show ") + program + " --machine " + machine();
    std::string text = run_tool(show).out;
    for (const std::string& pass : passes) {
      const Finished f = run_tool("tw-opt --passes " + pass + " --machine " + machine(), text);
      ASSERT_EQ(f.status, 0) << pass << ": " << f.err;
      text = f.out;
    }
    std::string last = passes.back();
    const auto times = std::count(passes.begin(), passes.end(), last);
    if (times > 1) last += "." + std::to_string(times);
    EXPECT_EQ(text, run_tool(show + " --stage " + last).out) << program;
  }
}

TEST(TwOpt, AWrongTextIsAnErrorWithLineAndColumn) {
  std::string text = kText;
  text.replace(text.find("alloc"), 5, "aloc");
  const Finished f = run_tool("tw-opt", text);
  EXPECT_EQ(f.status, 1);
  EXPECT_EQ(f.out, "");
  EXPECT_EQ(f.err,
            "<stdin>:5:5: error: found `aloc`, expected a statement\n"
            "    5 |     aloc frag0: f32[8] fragment\n"
            "      |     ^\n");
  EXPECT_EQ(run_tool("tw-opt", "").err, "<stdin>:1:1: error: found the end of the text, expected `kernel`\n");
}

TEST(TwOpt, AnUnknownPassOrFileIsNamed) {
  const Finished pass = run_tool("tw-opt --passes simplify,simplfy --machine interp", kText);
  EXPECT_EQ(pass.status, 1);
  EXPECT_TRUE(pass.err.starts_with("error: no pass named 'simplfy' for interp; its passes are simplify, ")) << pass.err;
  const Finished file = run_tool("tw-opt /nonexistent/kernel.tw");
  EXPECT_EQ(file.status, 1);
  EXPECT_EQ(file.err, "error: cannot read /nonexistent/kernel.tw\n");
}

}  // namespace
}  // namespace tilewright::test
