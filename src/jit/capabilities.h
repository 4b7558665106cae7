#pragma once
// A machine's Caps in words, for people.
#include "machine/caps.h"
#include "tilewright/jit.h"

namespace tilewright {

/// In the order in which a person wants to read them; what a machine has not is left out. `traced`: it runs the traced
/// program as it is.
std::vector<Capability> capabilities(const Caps& caps, bool traced);

}  // namespace tilewright
