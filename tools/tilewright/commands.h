#pragma once
// The subcommands of `tilewright`, one file each. A command sets its exit status when it ran and something failed.
#include <CLI/CLI.hpp>

namespace tilewright::tool {

void add_run(CLI::App& app, int& status);
void add_show(CLI::App& app);
void add_layout(CLI::App& app);
void add_devices(CLI::App& app);

}  // namespace tilewright::tool
