// `tilewright show`: one of the six programs at any stage of its compilation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "commands.h"
#include "programs.h"

namespace tilewright::tool {
namespace {

struct Options {
  On on;
  std::string stage = "traced", type = "f32", out = "f32";
  bool list = false, transpose_b = false, causal = false;
  std::vector<int> tile;
  int stages = 0, threads = 128, d = 64;
};

DType type_of(const std::string& name) {
  DType type;
  parse_dtype(name, type);  // checked by is_type
  return type;
}

std::string is_type(const std::string& name) {
  DType type;
  return parse_dtype(name, type) ? "" : fmt::format("no element type named '{}'", name);
}

void print_text(const std::string& text) { fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n"); }

void print_facts(const Kernel& kernel, const std::string& machine) {
  fmt::print("{} for {}, compiled in {:.1f} ms\n", kernel.name(), machine, kernel.compile_seconds() * 1e3);
  for (const CompileRemark& r : kernel.remarks())
    fmt::print("{}{}: {}{}\n", r.is_warning ? "warning: " : "", r.pass, r.text,
               r.at ? fmt::format(" ({})", to_string(r.at)) : "");
}

void show(const Options& options, const std::function<Kernel(const Options&)>& compile) {
  const Kernel kernel = compile(options);
  std::vector<std::string> stages = kernel.stages();
  stages.push_back("facts");
  if (options.list)
    fmt::print("{}\n", fmt::join(stages, "\n"));
  else if (options.stage == "facts")
    print_facts(kernel, options.on.machine);
  else if (std::find(stages.begin(), stages.end(), options.stage) == stages.end())
    throw UserError({}, fmt::format("{} on {} has no stage '{}'; its stages are {}", kernel.name(), options.on.machine,
                                    options.stage, fmt::join(stages, ", ")));
  else
    print_text(kernel.text(options.stage));
}

/// Adds `show NAME` with the options that all programs have; `tile` names and gives the extents.
std::shared_ptr<Options> add_program(CLI::App& show_command, const char* name, const char* what, const char* tile_help,
                                     std::vector<int> tile, std::function<Kernel(const Options&)> compile,
                                     CLI::App*& command) {
  auto options = std::make_shared<Options>();
  options->tile = std::move(tile);
  command = show_command.add_subcommand(name, what);
  std::vector<std::string> names;
  for (const MachineInfo& m : machines()) names.push_back(m.name);
  if (std::find(names.begin(), names.end(), options->on.machine) == names.end()) options->on.machine = names.front();
  command
      ->add_option("-s,--stage", options->stage,
                   "What to print: a stage of --list; source is the generated text (on the CPU: LLVM IR)")
      ->capture_default_str();
  command->add_flag("-l,--list", options->list, "List the stages");
  command->add_option("-m,--machine", options->on.machine, "Compile for this machine")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
  command->add_option("--type", options->type, "Element type")->capture_default_str()->check(is_type);
  command->add_option("--tile", options->tile, tile_help)
      ->delimiter(',')
      ->expected(static_cast<int>(options->tile.size()))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of a block")->capture_default_str();
  command->add_option("-O,--opt-level", options->on.options.opt_level, "0: the plainest program; 1 to 3: all passes")
      ->capture_default_str()
      ->check(CLI::Range(0, 3));
  command->callback([options, compile] { show(*options, compile); });
  return options;
}

void add_vectors(CLI::App& show_command) {
  CLI::App* command = nullptr;
  add_program(
      show_command, "vector_add", "z = x + y", "Elements of a tile", {VectorTile{}.n},
      [](const Options& o) {
        return compile_vector_add(type_of(o.type), {.n = o.tile[0], .threads = o.threads}, o.on);
      },
      command);
  add_program(
      show_command, "reverse", "y(i) = x(N - 1 - i)", "Elements of a tile", {VectorTile{}.n},
      [](const Options& o) { return compile_reverse(type_of(o.type), {.n = o.tile[0], .threads = o.threads}, o.on); },
      command);
}

void add_rows(CLI::App& show_command) {
  const std::vector<int> tile{RowTile{}.rows, RowTile{}.columns};
  auto tile_of = [](const Options& o) {
    return RowTile{.rows = o.tile[0], .columns = o.tile[1], .threads = o.threads};
  };
  CLI::App* command = nullptr;
  add_program(
      show_command, "softmax", "Softmax of rows", "ROWS,COLUMNS of a tile", tile,
      [=](const Options& o) { return compile_softmax(type_of(o.type), tile_of(o), o.on); }, command);
  add_program(
      show_command, "rms_norm", "RMS norm of rows", "ROWS,COLUMNS of a tile", tile,
      [=](const Options& o) { return compile_rms_norm(type_of(o.type), tile_of(o), o.on); }, command);
}

void add_gemm(CLI::App& show_command) {
  constexpr GemmTile kTile;
  CLI::App* command = nullptr;
  auto options = add_program(
      show_command, "gemm", "C = A B, accumulated in f32", "M,N,K of a tile", {kTile.m, kTile.n, kTile.k},
      [](const Options& o) {
        const GemmTile tile{o.tile[0], o.tile[1], o.tile[2], o.stages, o.threads};
        return compile_gemm(type_of(o.type), type_of(o.out), o.transpose_b, tile, o.on);
      },
      command);
  options->stages = kTile.stages;
  command->add_option("--stages", options->stages, "Stages of the pipelined loop")->capture_default_str();
  command->add_option("--out", options->out, "Element type of C")->capture_default_str()->check(is_type);
  command->add_flag("--transpose-b", options->transpose_b, "B is (N, K)");
}

void add_attention(CLI::App& show_command) {
  constexpr AttentionTile kTile;
  CLI::App* command = nullptr;
  auto options = add_program(
      show_command, "attention", "softmax(Q K^T / sqrt(d)) V", "M,N of a tile: queries and keys", {kTile.m, kTile.n},
      [](const Options& o) {
        const AttentionTile tile{o.tile[0], o.tile[1], o.stages, o.threads};
        return compile_attention(type_of(o.type), o.d, o.causal, tile, o.on);
      },
      command);
  options->stages = kTile.stages;
  command->add_option("--stages", options->stages, "Stages of the pipelined loop")->capture_default_str();
  command->add_option("--d", options->d, "Head size")->capture_default_str();
  command->add_flag("--causal", options->causal, "A query sees no later key");
}

}  // namespace

void add_show(CLI::App& app) {
  CLI::App* command = app.add_subcommand("show", "A program after any pass, its generated source, assembly or facts");
  command->require_subcommand(1);
  add_vectors(*command);
  add_rows(*command);
  add_gemm(*command);
  add_attention(*command);
}

}  // namespace tilewright::tool
