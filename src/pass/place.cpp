#include <fmt/format.h>

#include <set>

#include "ir/build.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// Names of the tiles that belong to one iteration of a parallel loop.
std::set<std::string> made_inside_parallel(const KernelRef& kernel) {
  std::set<std::string> names;
  post_order(kernel, [&](const Node& node) {
    const auto* loop = as<For>(&node);
    if (!loop || loop->how != LoopKind::parallel) return;
    post_order(loop->body, [&](const Node& inner) {
      if (const auto* alloc = as<Alloc>(&inner)) names.insert(alloc->buffer->name);
    });
  });
  return names;
}

}  // namespace

KernelRef place(const KernelRef& kernel, PassContext& context) {
  const Caps& caps = context.caps();
  const std::set<std::string> of_iterations = made_inside_parallel(kernel);
  KernelRef placed = rewrite_as(kernel, [&](const Any& node) -> Any {
    const auto* b = as<Buffer>(node);
    if (!b || b->space == Space::global) return node;
    const std::string& memory = !caps.iteration_memory.empty() && of_iterations.contains(b->name)
                                    ? caps.iteration_memory
                                    : caps.memory_of[static_cast<int>(b->space)];
    if (memory.empty())
      throw UserError(b->at, fmt::format("{}: this machine has no {} memory", caps.target,
                                         kSpaceNames[static_cast<int>(b->space)]));
    context.fact("place", fmt::format("{} ({}) lies in {}", b->name, kSpaceNames[static_cast<int>(b->space)], memory),
                 b->at);
    return altered(*b, [&](Buffer& o) { o.memory = memory; });
  });
  return make_at<Kernel>(placed->at, placed->name, Stage::placed, placed->scalars, placed->params, placed->body);
}

}  // namespace tilewright
