// tw-opt: runs named passes on the text of a kernel and prints the text of the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "tilewright/jit.h"

namespace tilewright {
namespace {

/// An error in the text, with its line and column.
struct WrongText : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string input = "-", machine;
  std::vector<std::string> passes;
  bool list = false;
};

std::string read(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad()) throw UserError({}, fmt::format("cannot read {}", path));
  return text.str();
}

/// The line of `text` with a caret below the column.
std::string snippet(const std::string& text, const Location& at) {
  std::istringstream lines(text);
  std::string line;
  for (uint32_t i = 0; i < at.line; ++i)
    if (!std::getline(lines, line)) return "";
  return fmt::format("\n{:>5} | {}\n      | {:>{}}", at.line, line, '^', at.column);
}

void run(const Options& options) {
  if (options.list) {
    fmt::print("{}\n", fmt::join(pass_names(options.machine, {}), "\n"));
    return;
  }
  const std::string name = options.input == "-" ? "<stdin>" : options.input, text = read(options.input);
  try {
    const std::string result = run_passes(text, name, options.passes, options.machine, {});
    fmt::print("{}{}", result, result.ends_with('\n') ? "" : "\n");
  } catch (const UserError& e) {
    if (name != e.location().file || e.location().column == 0) throw;
    throw WrongText(fmt::format("{}: error: {}{}", to_string(e.location()), e.message(), snippet(text, e.location())));
  }
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  using namespace tilewright;
  CLI::App app("Reads the text of a kernel, runs passes on it and prints the text of the result.", "tw-opt");
  app.failure_message(CLI::FailureMessage::simple);
  std::vector<std::string> names;
  for (const MachineInfo& m : machines()) names.push_back(m.name);
  Options options;
  options.machine = std::find(names.begin(), names.end(), "cpu") == names.end() ? names.front() : "cpu";
  app.add_option("FILE", options.input, "The text; - is standard input")->capture_default_str();
  app.add_option("-p,--passes", options.passes, "Passes, in this order; none: the text is read and printed")
      ->delimiter(',');
  app.add_option("-m,--machine", options.machine, "The machine whose passes they are")
      ->capture_default_str()
      ->check(CLI::IsMember(names));
  app.add_flag("-l,--list", options.list, "List the machine's passes in the order of its pipeline");
  app.footer("tilewright show PROGRAM --stage STAGE prints texts to start from.");
  try {
    app.parse(argc, argv);
    run(options);
    return 0;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", describe(e));
  } catch (const WrongText& e) {
    fmt::print(stderr, "{}\n", e.what());
  } catch (const std::exception& e) {
    fmt::print(stderr, "tw-opt: {}\n", e.what());
  }
  return 1;
}
