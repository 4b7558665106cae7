// The command line `tilewright`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "tilewright/error.h"

namespace {

/// What to say when a command is missing: the word that stands in its place, and the commands that there are.
std::string missing_command(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const std::vector<std::string> rest = app->remaining();
  return fmt::format("{}: wanted one of {}{}", app->get_name(), fmt::join(names, ", "),
                     rest.empty() ? "" : fmt::format("; got '{}'", rest.front()));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tilewright;
  CLI::App app("Tilewright compiles kernels that are written in tiles, and runs them.", "tilewright");
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int status = 0;
  tool::add_run(app, status);
  tool::add_show(app);
  tool::add_layout(app);
  tool::add_devices(app);
  try {
    app.parse(argc, argv);
    return status;
  } catch (const CLI::RequiredError& e) {
    if (std::string(e.what()) != CLI::RequiredError::Subcommand(1).what()) return app.exit(e), 2;
    fmt::print(stderr, "{}\nRun with --help for more information.\n", missing_command(&app));
    return 2;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", describe(e));
  } catch (const std::exception& e) {
    fmt::print(stderr, "tilewright: {}\n", e.what());
  }
  return 1;
}
