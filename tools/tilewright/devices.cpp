// `tilewright devices`: the machines of this build and what they can do.
#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "tilewright/jit.h"

namespace tilewright::tool {
namespace {

void print_devices() {
  const std::vector<MachineInfo> list = machines();
  size_t name = 7, target = 6, device = 6;
  for (const MachineInfo& m : list)
    name = std::max(name, m.name.size()), target = std::max(target, m.target.size()),
    device = std::max(device, m.device.size());
  auto line = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                  const std::string& e) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<9}  {}\n", a, name, b, target, c, device, d, e);
  };
  line("machine", "target", "device", "available", "runs on, or what is missing");
  for (const MachineInfo& m : list) line(m.name, m.target, m.device, m.available ? "yes" : "no", m.reason);
  for (const MachineInfo& m : list) {
    size_t width = 0;
    for (const Capability& c : m.capabilities) width = std::max(width, c.name.size());
    fmt::print("\n{}\n", m.name);
    for (const Capability& c : m.capabilities) fmt::print("  {:<{}}  {}\n", c.name, width, c.text);
  }
}

}  // namespace

void add_devices(CLI::App& app) {
  app.add_subcommand("devices", "The machines that kernels can be compiled for, and what they can do")
      ->callback(print_devices);
}

}  // namespace tilewright::tool
