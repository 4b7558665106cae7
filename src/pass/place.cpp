#include <fmt/format.h>

#include <set>

#include "ir/build.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

Ref<Buffer> in_memory(const Buffer& b, std::string memory) {
  return make_at<Buffer>(b.at, b.name, b.dtype, b.shape, b.strides, b.space, std::move(memory), b.offset);
}

std::string where(const std::string& memory) { return memory.empty() ? "global memory" : memory; }

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

/// Gives each statement that touches memory its engine. Control flow stays with the issuing engine.
class Engines {
 public:
  explicit Engines(PassContext& context)
      : context_(context), caps_(context.caps()), scalar_(caps_.scalar_engine()->name) {}

  Stmt run(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq: {
        Stmts stmts;
        for (const Stmt& child : static_cast<const Seq&>(*s).stmts) stmts.push_back(run(child));
        return make_at<Seq>(s->at, std::move(stmts));
      }
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        if (loop.how == LoopKind::parallel) return on(scalar_, s);
        for (const Expr& extent : loop.extents) control(extent, s);
        return make_at<For>(s->at, loop.how, loop.vars, loop.extents, loop.stages, run(loop.body));
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(*s);
        control(when.cond, s);
        return make_at<When>(s->at, when.cond, run(when.then), when.otherwise ? run(when.otherwise) : nullptr);
      }
      case Kind::Let:
        control(static_cast<const Let&>(*s).value, s);
        return s;
      case Kind::Copy:
        return copy(static_cast<const Copy&>(*s), s);
      case Kind::Alloc:
      case Kind::Covers:
        return s;
      default:
        return on(scalar_, s);
    }
  }

 private:
  /// A value outside parallel loops is computed where control flow runs, on the issuing engine.
  void control(const Expr& value, const Stmt& s) const {
    if (caps_.scalar_engine()->issues || !reads_memory(value)) return;
    throw UserError(s->at,
                    fmt::format("{}: this value reads memory outside a parallel loop, and the engine that issues "
                                "cannot; read it inside parallel(...), or pass it as a scalar argument",
                                caps_.target));
  }

  Stmt on(const std::string& engine, const Stmt& s) const { return make_at<OnEngine>(s->at, engine, s); }

  Stmt copy(const Copy& c, const Stmt& s) {
    const std::string &from = c.src->buffer->memory, &to = c.dst->buffer->memory;
    if (!from.empty() && !to.empty()) return on(scalar_, s);
    const CopyPath* path = caps_.path(from, to);
    if (!path)
      throw UserError(s->at,
                      fmt::format("{}: no engine copies from {} to {}; go through a shared tile", caps_.target,
                                  where(from), where(to)),
                      {{c.src->buffer->at, fmt::format("{} declared here", c.src->buffer->name)},
                       {c.dst->buffer->at, fmt::format("{} declared here", c.dst->buffer->name)}});
    if (!path->converts && path->engine != scalar_ && c.src->buffer->dtype != c.dst->buffer->dtype)
      needs_tile(c, *path);
    return on(path->engine, s);
  }

  /// A copy whose engine cannot convert becomes two when it is lowered, with a tile in between.
  void needs_tile(const Copy& c, const CopyPath& path) {
    const DType from = c.src->buffer->dtype, to = c.dst->buffer->dtype;
    for (const Expr& extent : (path.from.empty() ? c.dst : c.src)->extent)
      if (!is_constant(extent))
        throw UserError(c.at, fmt::format("{}: copy converts {} to {}, which goes through a tile of its own here: its "
                                          "extents must be constants",
                                          caps_.target, to_string(from), to_string(to)));
    context_.fact(
        "place",
        fmt::format("{} moves {} without converting; {} converts {} to {} in a tile of the copy's own", path.engine,
                    to_string(path.from.empty() ? from : to), scalar_, to_string(from), to_string(to)),
        c.at);
  }

  PassContext& context_;
  const Caps& caps_;
  std::string scalar_;
};

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
    return in_memory(*b, memory);
  });
  Stmt body = placed->body;
  if (caps.model == Model::engines) body = Engines(context).run(body);
  return make_at<Kernel>(placed->at, placed->name, Stage::placed, placed->scalars, placed->params, body);
}

}  // namespace tilewright
