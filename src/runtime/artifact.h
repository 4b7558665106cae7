#pragma once
// What a compilation yields and a device loads.
#include <vector>

#include "runtime/launch_plan.h"

namespace tilewright {

struct Artifact {
  std::string target;    // "cpu", "cuda", ...
  std::string arch;      // "x86-64-v3", "sm_90a", "2201", ...
  std::string language;  // of `text`: "LLVM IR", "CUDA C++", "Ascend C", "IR"
  std::string text;      // for people and emulators
  std::string binary;    // object file or cubin; empty when the target yields text only
  LaunchPlan plan;
  std::vector<Location> lines = {};  // of each line of `text`, the user's line that it comes from; may be empty
};

}  // namespace tilewright
