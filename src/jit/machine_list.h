#pragma once
// The machines of this build. The only place that names all targets.
#include "machine/target.h"
#include "tilewright/jit.h"

namespace tilewright {

struct Machine {
  std::string name, device;
  const Target& (*target)();
  /// Yes with what it runs on, or no with what is missing.
  std::pair<bool, std::string> (*probe)();
  std::shared_ptr<Device> (*open)(const CompileOptions& options);
  bool traced = false;  // takes the traced stage as it is: no passes
};

const std::vector<Machine>& machine_list();

/// The machine of that name, available here. UserError at `at` lists what there is.
const Machine& find_machine(const std::string& name, bool must_run, Location at);

}  // namespace tilewright
