#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

std::string list(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType t : types) names.push_back(to_string(t));
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_buffer(const Buffer& b, const Caps& caps) {
  if (std::find(caps.storage_types.begin(), caps.storage_types.end(), b.dtype) == caps.storage_types.end())
    throw UserError(b.at, fmt::format("{}: {} has elements of type {}, which this machine cannot store; it has {}",
                                      caps.target, b.name, to_string(b.dtype), list(caps.storage_types)));
}

/// A value computed in a statement: casts only touch storage types, every other operator needs arithmetic.
void check_value(const Node& node, const Caps& caps, Location at) {
  if (!is_expr(node.kind) || node.kind == Kind::Cast || node.kind == Kind::Load || node.kind == Kind::Const ||
      node.kind == Kind::Var)
    return;
  DType type = static_cast<const ExprNode&>(node).dtype;
  if (const auto* b = as<Binary>(&node)) type = b->a->dtype;
  if (std::find(caps.arithmetic_types.begin(), caps.arithmetic_types.end(), type) == caps.arithmetic_types.end())
    throw UserError(at, fmt::format("{}: this value is computed in {}, which this machine cannot do; it computes in {}",
                                    caps.target, to_string(type), list(caps.arithmetic_types)));
}

}  // namespace

KernelRef check_machine(const KernelRef& kernel, PassContext& context) {
  const Caps& caps = context.caps();
  TW_CHECK(caps.max_threads <= kMostThreadsOfBlock,
           fmt::format("{}: {} threads in a block, more than the language has", caps.target, caps.max_threads));
  for (const auto& param : kernel->params) check_buffer(*param, caps);
  for (const auto& scalar : kernel->scalars)
    if (std::find(caps.arithmetic_types.begin(), caps.arithmetic_types.end(), scalar->type) ==
        caps.arithmetic_types.end())
      throw UserError(kernel->at,
                      fmt::format("{}: the scalar argument {} is {}, which this machine does not compute in; "
                                  "pass one of {}",
                                  caps.target, scalar->name, to_string(scalar->type), list(caps.arithmetic_types)));
  // Statement by statement, so that a value is reported at the line that uses it.
  post_order(kernel->body, [&](const Node& node) {
    if (!is_stmt(node.kind)) return;
    const auto& s = static_cast<const StmtNode&>(node);
    if (const auto* grid = as<Grid>(&node); grid && grid->threads > caps.max_threads && caps.model == Model::threads)
      throw UserError(s.at, fmt::format("{}: grid asks for {} threads, this machine has at most {} in a block",
                                        caps.target, grid->threads, caps.max_threads));
    if (const auto* alloc = as<Alloc>(&node)) check_buffer(*alloc->buffer, caps);
    if (auto why = context.target.refuse(s)) throw UserError(s.at, fmt::format("{}: {}", caps.target, *why));
    std::vector<const Node*> children;
    append_children(node, children);
    for (const Node* child : children)
      if (is_expr(child->kind)) post_order(Any(child), [&](const Node& value) { check_value(value, caps, s.at); });
  });
  return kernel;
}

}  // namespace tilewright
