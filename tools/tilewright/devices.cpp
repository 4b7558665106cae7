#include "commands.h"
namespace tilewright::tool {
void add_devices(CLI::App&) {}
void add_show(CLI::App&) {}
void add_layout(CLI::App&) {}
}  // namespace tilewright::tool
