// The command line: help, wrong use, what the commands print.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tilewright/jit.h"
#include "tilewright/layout.h"
#include "tool/command.h"

namespace tilewright::test {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Tilewright, EveryCommandHasHelp) {
  for (const char* command : {"", "run", "show", "show vector_add", "show reverse", "show softmax", "show rms_norm",
                              "show gemm", "show attention", "layout", "devices"}) {
    for (const char* help : {"-h", "--help"}) {
      SCOPED_TRACE(command);
      const Finished f = run_tool(std::string("tilewright ") + command + " " + help);
      EXPECT_EQ(f.status, 0);
      EXPECT_EQ(f.err, "");
      EXPECT_TRUE(contains(f.out, "Usage: tilewright"));
    }
  }
}

struct Wrong {
  const char* command;
  int status;
  const char* message;
};

TEST(Tilewright, WrongUseIsASentenceAndAStatus) {
  const Wrong cases[] = {
      {"tilewright", 2,
       "tilewright: wanted one of run, show, layout, devices\nRun with --help for more information.\n"},
      {"tilewright walk", 2,
       "tilewright: wanted one of run, show, layout, devices; got 'walk'\nRun with --help for more information.\n"},
      {"tilewright show gem --list", 2,
       "show: wanted one of vector_add, reverse, softmax, rms_norm, gemm, attention; got 'gem'\nRun with --help for "
       "more information.\n"},
      {"tilewright run --family gemmm", 2,
       "--family: gemmm not in {attention,gemm,reverse,rms_norm,softmax,vector_add}\n"
       "Run with --help for more information.\n"},
      {"tilewright run --threads 0", 2,
       "--threads: wanted a number from 1 to 1024, got '0'\nRun with --help for more information.\n"},
      {"tilewright run --target interp --family softmax", 1,
       "error: nothing to run: the programs at real sizes run on the cpu, only vector_add and reverse elsewhere\n"},
      {"tilewright run --target interp --family reverse --json /nonexistent/rows.json", 1,
       "error: cannot write /nonexistent/rows.json\n"},
      {"tilewright show gemm --type f33", 2,
       "--type: no element type named 'f33'\nRun with --help for more information.\n"},
      {"tilewright show reverse --machine interp --stage final", 1,
       "error: reverse on interp has no stage 'final'; its stages are traced, source, facts\n"},
      {"tilewright layout", 2, "LAYOUT is required\nRun with --help for more information.\n"},
      {"tilewright layout '16b[8:64,64:1] turn'", 1,
       "error: layout text, column 16: wanted the end, xor, rep or at: 16b[8:64,64:1] turn\n"},
      {"tilewright layout nz:16", 1, "error: layout nz: 1 parameters; wanted nz:MxN:dtype\n"},
      {"tilewright layout row:2x2:f16 -o /nonexistent/l.svg", 1, "error: cannot write /nonexistent/l.svg\n"},
  };
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(wrong.command);
    const Finished f = run_tool(wrong.command);
    EXPECT_EQ(f.status, wrong.status);
    EXPECT_TRUE(f.err.ends_with(wrong.message)) << f.err;
  }
}

TEST(Tilewright, AnImpossibleTileIsAnErrorAtTheKernelsLine) {
  const Finished f = run_tool("tilewright show vector_add --machine interp --tile=-4");
  EXPECT_EQ(f.status, 1);
  EXPECT_EQ(f.out, "");
  EXPECT_TRUE(contains(f.err, "vector.cpp:")) << f.err;
  EXPECT_TRUE(contains(f.err, "error: shared: extent 0 is -4: it must be at least 1")) << f.err;
}

TEST(Tilewright, DevicesNamesEveryMachineAndWhatItCanDo) {
  const Finished f = run_tool("tilewright devices");
  EXPECT_EQ(f.status, 0);
  for (const MachineInfo& m : machines()) {
    EXPECT_TRUE(contains(f.out, "\n" + m.name + " ")) << m.name;
    EXPECT_TRUE(contains(f.out, "  " + m.reason + "\n")) << m.name;
    for (const Capability& c : m.capabilities) EXPECT_TRUE(contains(f.out, "  " + c.text + "\n")) << m.name;
  }
}

TEST(Tilewright, ShowPrintsEachOfItsStages) {
  for (const MachineInfo& m : machines()) {
    if (!m.available) continue;
    const std::string show = "tilewright show vector_add --tile 32 --threads 32 --machine " + m.name;
    const Finished list = run_tool(show + " --list");
    ASSERT_EQ(list.status, 0) << list.err;
    EXPECT_TRUE(list.out.starts_with("traced\n"));
    EXPECT_TRUE(list.out.ends_with("facts\n"));
    std::istringstream stages(list.out);
    for (std::string stage; std::getline(stages, stage);) {
      // An emulator compiles its text each time: its last stages are enough.
      if (m.name.ends_with("-emulator") && stage != "source" && stage != "facts") continue;
      const Finished f = run_tool(show + " --stage " + stage);
      EXPECT_EQ(f.status, 0) << m.name << " " << stage << "\n" << f.err;
      EXPECT_TRUE(stage == "notes" || contains(f.out, "vector_add")) << m.name << " " << stage;
    }
  }
}

TEST(Tilewright, ShowTakesTheParametersOfAProgram) {
  const Finished f = run_tool(
      "tilewright show gemm --machine interp --type bf16 --out bf16 --tile 64,32,16 --stages 4 --threads 256 "
      "--transpose-b");
  EXPECT_EQ(f.status, 0) << f.err;
  for (const char* part : {"param A: bf16[M, K]", "param B: bf16[N, K]", "param C: bf16[M, N]", "threads 256",
                           "bf16[64, 16] shared", "bf16[32, 16] shared", "f32[64, 32] fragment"})
    EXPECT_TRUE(contains(f.out, part)) << part << "\n" << f.out;
}

TEST(Tilewright, ShowTakesALevel) {
  const std::string show = "tilewright show softmax --machine cuda-emulator --stage facts";
  const Finished all = run_tool(show), plain = run_tool(show + " -O 0");
  EXPECT_TRUE(contains(all.out, "infer_layouts: frag0 lies in registers")) << all.out;
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_FALSE(contains(plain.out, "infer_layouts")) << plain.out;
  EXPECT_EQ(run_tool(show + " -O 4").status, 2);
}

TEST(Tilewright, LayoutDrawsTextAndSvg) {
  const Finished text = run_tool("tilewright layout '32b[2:2t,(2:1t,2:1)]'");
  EXPECT_EQ(text.out,
            "32b[2:2t,(2:1t,2:1)]\n"
            "  |    0    1    2    3\n"
            "-----------------------\n"
            "0 | t0:0 t0:1 t1:0 t1:1\n"
            "1 | t2:0 t2:1 t3:0 t3:1\n"
            "8 elements of 32 bits, in memory for 2; injective; compact\n");
  const Finished holes = run_tool("tilewright layout '8b[2:4,2:1] rep(3:1t)'");
  EXPECT_TRUE(
      holes.out.ends_with("4 elements of 8 bits, in memory for 6; 3 replicas; injective; not compact: there are "
                          "holes\n"))
      << holes.out;
  const std::string file = scratch_file("nz.svg");
  const Finished svg = run_tool("tilewright layout nz:16x32:f16 --svg -o " + file);
  EXPECT_EQ(svg.status, 0);
  EXPECT_EQ(svg.out, "");
  EXPECT_TRUE(read_file(file).starts_with("<svg "));
  EXPECT_TRUE(read_file(file).ends_with("</svg>\n"));
}

TEST(Tilewright, EveryNamedLayoutOfTheListIsDrawn) {
  const Finished list = run_tool("tilewright layout --list");
  for (const NamedLayout& layout : named_layouts()) {
    EXPECT_TRUE(contains(list.out, layout.what)) << layout.name;
    std::string spec = layout.name;
    if (!layout.parameters.empty()) spec += ":" + layout.parameters;
    for (const auto& [parameter, value] : std::map<std::string, std::string>{
             {"MxN", "32x64"}, {"MxK", "32x64"}, {"KxN", "32x64"}, {"dtype", "f16"}, {":N", ":64"}})
      if (const size_t at = spec.find(parameter); at != std::string::npos) spec.replace(at, parameter.size(), value);
    const Finished f = run_tool("tilewright layout " + spec);
    EXPECT_EQ(f.status, 0) << spec << ": " << f.err;
    EXPECT_TRUE(contains(f.out, "; injective")) << spec;
  }
}

}  // namespace
}  // namespace tilewright::test
