#pragma once
// From a user's function to a traced kernel.
#include "base/check.h"
#include "dsl/state.h"
#include "ir/nodes.h"

namespace tilewright {

using TraceLimits = detail::TraceLimits;

/// Calls the builder once and gives the kernel it describes: symbols of extents, then of strides, then scalar arguments
/// in Kernel::scalars, tensors in Kernel::params. Throws the UserError of a wrong program, at its line.
ir::Ref<ir::Kernel> trace(const std::string& name, const Arguments& arguments, Builder builder,
                          Location at = Here::current(), TraceLimits limits = {});

template <class... S, class F>
ir::Ref<ir::Kernel> trace(const std::string& name, const Signature<S...>& arguments, F builder,
                          Location at = Here::current(), TraceLimits limits = {}) {
  return trace(name, static_cast<const Arguments&>(arguments), make_builder(arguments, builder), at, limits);
}

}  // namespace tilewright
