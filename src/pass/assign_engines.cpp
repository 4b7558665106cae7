#include <fmt/format.h>

#include "ir/build.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

std::string where(const std::string& memory) { return memory.empty() ? "global memory" : memory; }

/// Gives each statement that touches memory its engine. Control flow stays with the issuing engine.
class AssignEngines {
 public:
  explicit AssignEngines(PassContext& context)
      : context_(context), caps_(context.caps()), scalar_(caps_.scalar_engine().name) {}

  Stmt run(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq:
        return bodies(s);
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        if (loop.how == LoopKind::parallel) return on(scalar_, s);
        for (const Expr& extent : loop.extents) control(extent, s);
        return bodies(s);
      }
      case Kind::When:
        control(static_cast<const When&>(*s).cond, s);
        return bodies(s);
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
    if (caps_.scalar_engine().issues || !reads_memory(value)) return;
    throw UserError(s->at,
                    fmt::format("{}: this value reads memory outside a parallel loop, and the engine that issues "
                                "cannot; read it inside parallel(...), or pass it as a scalar argument",
                                caps_.target));
  }

  Stmt bodies(const Stmt& s) {
    return with_bodies(s, [this](const Stmt& body) { return run(body); });
  }

  Stmt on(const std::string& engine, const Stmt& s) const { return make_at<OnEngine>(s->at, engine, s); }

  Stmt copy(const Copy& c, const Stmt& s) {
    const std::string &from = c.src->buffer->memory, &to = c.dst->buffer->memory;
    const CopyPath* path = caps_.path(from, to);
    // Between tiles, element loops copy where no engine does.
    if (!path && !from.empty() && !to.empty()) return on(scalar_, s);
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
        "assign_engines",
        fmt::format("{} moves {} without converting; {} converts {} to {} in a tile of the copy's own", path.engine,
                    to_string(path.from.empty() ? from : to), scalar_, to_string(from), to_string(to)),
        c.at);
  }

  PassContext& context_;
  const Caps& caps_;
  std::string scalar_;
};

}  // namespace

KernelRef assign_engines(const KernelRef& kernel, PassContext& context) {
  return make_at<Kernel>(kernel->at, kernel->name, kernel->stage, kernel->scalars, kernel->params,
                         AssignEngines(context).run(kernel->body));
}

}  // namespace tilewright
