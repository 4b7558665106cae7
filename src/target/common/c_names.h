#pragma once
// Names that a C++ text may use. The printers own names that end in an underscore.
#include "ir/nodes.h"

namespace tilewright {

/// `name`, or another where it is a word of C++.
std::string c_name(const std::string& name);

/// The kernel with every variable and buffer renamed whose name is a word of C++, or one that a printer of C text uses
/// itself: vN, names that end in an underscore, and `reserved` ones.
ir::Ref<ir::Kernel> with_c_names(const ir::Ref<ir::Kernel>& kernel, const std::vector<std::string>& reserved);

}  // namespace tilewright
