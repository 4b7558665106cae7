#include <algorithm>

#include "ir/build.h"
#include "ir/walk.h"
#include "pass/distribution.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// One access since the last barrier. `loop` is the parallel loop that deals its iterations out to the threads; null
/// when every thread makes the access.
struct MemoryAccess {
  Ref<Buffer> buffer;
  bool write;
  Ref<For> loop;
  Exprs indices;
};

bool equal_lists(const Exprs& a, const Exprs& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const Expr& x, const Expr& y) { return equal(x, y); });
}

bool operator==(const MemoryAccess& a, const MemoryAccess& b) {
  return a.buffer->name == b.buffer->name && a.write == b.write && equal(a.loop, b.loop) &&
         equal_lists(a.indices, b.indices);
}

/// Whether iteration i of both loops runs on the same thread, and on no other.
bool dealt_alike(const For& a, const For& b) {
  const std::optional<Distribution> x = dealing_of(a), y = dealing_of(b);
  if (!x || !y) return !x && !y;
  return x->copies.empty() && x->same_places(*y);
}

/// Two accesses never meet on different threads when their loops over equal constant extents are dealt out alike, their
/// indices agree and every loop variable stands alone in one of them.
bool on_one_thread(const MemoryAccess& a, const MemoryAccess& b) {
  if (!a.loop || !b.loop || !equal_lists(a.loop->extents, b.loop->extents) || a.indices.size() != b.indices.size())
    return false;
  for (const Expr& extent : a.loop->extents)
    if (!is_constant(extent)) return false;
  std::vector<std::pair<Ref<Var>, Expr>> renamed;
  for (size_t d = 0; d < a.loop->vars.size(); ++d) renamed.emplace_back(a.loop->vars[d], b.loop->vars[d]);
  std::vector<bool> used(b.loop->vars.size());
  for (size_t d = 0; d < a.indices.size(); ++d) {
    if (!equal(substitute(a.indices[d], renamed), b.indices[d])) return false;
    for (size_t v = 0; v < used.size(); ++v)
      if (const Var* var = as<Var>(b.indices[d]); var && var->name == b.loop->vars[v]->name) used[v] = true;
  }
  return std::all_of(used.begin(), used.end(), [](bool u) { return u; }) && dealt_alike(*a.loop, *b.loop);
}

bool conflict(const MemoryAccess& a, const MemoryAccess& b) {
  return (a.write || b.write) && a.buffer->name == b.buffer->name && !on_one_thread(a, b);
}

using Accesses = std::vector<MemoryAccess>;

void add_accesses(Accesses& to, const Accesses& from) {
  for (const MemoryAccess& a : from)
    if (std::find(to.begin(), to.end(), a) == to.end()) to.push_back(a);
}

class Synchronise {
 public:
  explicit Synchronise(const Caps& caps) : caps_(caps) {}

  Stmt run(const Stmt& s) {
    switch (s->kind) {
      case Kind::Seq:
        return with_bodies(s, [this](const Stmt& body) { return run(body); });
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        if (loop.how == LoopKind::parallel) return after_barrier(s, accesses_of(s, ref(&loop)));
        if (loop.how == LoopKind::reduction) return once(s);
        return serial(loop, s);
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(*s);
        Stmts before;
        use(accesses_of(when.cond, nullptr), before, s->at);
        Accesses entry = pending_;
        Stmt then = run(when.then);
        Accesses after_then = std::exchange(pending_, entry);
        Stmt otherwise = when.otherwise ? run(when.otherwise) : Stmt();
        add_accesses(pending_, after_then);
        before.push_back(make_at<When>(s->at, when.cond, then, otherwise));
        return sequence(std::move(before), s->at);
      }
      case Kind::Store:
        return once(s);
      default:
        return after_barrier(s, accesses_of(s, nullptr));
    }
  }

 private:
  /// All loads and stores under a statement or value that another thread may meet.
  Accesses accesses_of(const Any& root, const Ref<For>& loop) const {
    Accesses found;
    auto add = [&](const Ref<Buffer>& buffer, bool write, const Exprs& indices) {
      bool own = buffer->space != Space::global && buffer->memory == caps_.iteration_memory;
      if (!own) found.push_back({buffer, write, loop, indices});
    };
    post_order(root, [&](const Node& node) {
      if (const auto* l = as<Load>(&node)) add(l->buffer, false, l->indices);
      if (const auto* s = as<Store>(&node)) add(s->buffer, true, s->indices);
      if (const auto* r = as<Reduce>(&node); r && r->scratch) add(r->scratch, true, {});
      if (const auto* g = as<Gemm>(&node))
        for (const auto& operand : {g->a, g->b}) add(operand->buffer, false, {});
    });
    return found;
  }

  void use(const Accesses& accesses, Stmts& before, Location at) {
    bool wait = false;
    for (const MemoryAccess& mine : accesses)
      for (const MemoryAccess& earlier : pending_) wait |= conflict(earlier, mine);
    if (wait) {
      before.push_back(make_at<Barrier>(at));
      pending_.clear();
    }
    add_accesses(pending_, accesses);
  }

  /// What one thread does for the block: a parallel loop of one iteration.
  Stmt once(const Stmt& s) {
    auto loop = make_at<For>(s->at, LoopKind::parallel, std::vector<Ref<Var>>{}, Exprs{}, int64_t{0}, s);
    return after_barrier(loop, accesses_of(loop, loop));
  }

  Stmt after_barrier(const Stmt& s, const Accesses& accesses) {
    Stmts stmts;
    use(accesses, stmts, s->at);
    stmts.push_back(s);
    return sequence(std::move(stmts), s->at);
  }

  /// A loop that all threads run. Where its iterations need no barrier among themselves, one before the loop is enough.
  Stmt serial(const For& loop, const Stmt& s) {
    constexpr int kDeepest = 4;  // each level looks at its body twice
    const Accesses before = pending_;
    ++depth_;
    Stmt body = body_of(loop);
    bool hoist = false;
    if (depth_ <= kDeepest && has_barrier(body)) {
      const Accesses after = std::exchange(pending_, {});
      Stmt alone = body_of(loop);
      hoist = !before.empty() && !has_barrier(alone);
      if (hoist)
        body = alone;
      else
        pending_ = after;
    }
    --depth_;
    Stmt result = make_at<For>(s->at, loop.how, loop.vars, loop.extents, loop.stages, body);
    return hoist ? sequence({make_at<Barrier>(s->at), result}, s->at) : result;
  }

  /// The body also follows its own end: repeated until the accesses at its start are stable.
  Stmt body_of(const For& loop) {
    Accesses entry = pending_;
    Stmt body;
    for (size_t known = entry.size() + 1; known != entry.size();) {
      known = entry.size();
      pending_ = entry;
      body = run(loop.body);
      add_accesses(entry, pending_);
    }
    add_accesses(pending_, entry);
    return body;
  }

  static bool has_barrier(const Stmt& s) {
    bool found = false;
    post_order(s, [&](const Node& node) { found |= node.kind == Kind::Barrier; });
    return found;
  }

  const Caps& caps_;
  Accesses pending_;
  int depth_ = 0;  // of serial loops
};

}  // namespace

KernelRef synchronise_threads(const KernelRef& kernel, PassContext& context) {
  return rewrite_as(kernel, [&](const Any& node) -> Any {
    const auto* loop = as<For>(node);
    if (!loop || loop->how != LoopKind::threads) return node;
    return make_at<For>(loop->at, loop->how, loop->vars, loop->extents, loop->stages,
                        Synchronise(context.caps()).run(loop->body));
  });
}

}  // namespace tilewright
