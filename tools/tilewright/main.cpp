// The command line `tilewright`.
#include <fmt/format.h>

#include "commands.h"
#include "tilewright/error.h"

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
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const Error& e) {
    fmt::print(stderr, "{}\n", describe(e));
  } catch (const std::exception& e) {
    fmt::print(stderr, "tilewright: {}\n", e.what());
  }
  return 1;
}
