#include "ir/verify_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/build.h"
#include "ir/text.h"
#include "ir/walk.h"

namespace tilewright::ir::detail {
namespace {

std::string sentence(Stage stage, const Node& where, const std::string& rule) {
  std::string text = print(Any(&where), {.locations = false, .bodies = false});
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return fmt::format("stage {}: {}: {}", name_of(stage), rule, text);
}

// ---- threads ------------------------------------------------------------------------------------------------------

/// A phase is `for blocks { lets, allocs, for threads {...} }`; a barrier is reached by all threads. An alloc inside
/// the loop over threads is each thread's own.
class Threads {
 public:
  void phase(const For& blocks) {
    if (blocks.how != LoopKind::blocks) broken(Stage::threads, blocks, "a phase is a loop over blocks");
    body_of_block(*blocks.body);
    if (!found_) broken(Stage::threads, blocks, "a block has no loop over threads");
  }

 private:
  void body_of_block(const StmtNode& s) {
    const auto* loop = as<For>(&s);
    if (const auto* seq = as<Seq>(&s)) {
      for (const Stmt& child : seq->stmts) body_of_block(*child);
    } else if (loop && loop->how == LoopKind::threads) {
      if (std::exchange(found_, true)) broken(Stage::threads, s, "a block has a second loop over threads");
      if (!is_constant(loop->extents[0])) broken(Stage::threads, s, "the number of threads is not a constant");
      varying_.insert(loop->vars[0]->name);
      statement(*loop->body, true);
    } else if (s.kind != Kind::Let && s.kind != Kind::Alloc) {
      broken(Stage::threads, s, "only let and alloc stand between the loops over blocks and threads");
    } else if (found_) {
      broken(Stage::threads, s, "the loop over threads is the last statement of a block");
    }
  }

  /// `uniform`: all threads of the block get here together.
  void statement(const StmtNode& s, bool uniform) {
    switch (s.kind) {
      case Kind::Seq:
        for (const Stmt& child : static_cast<const Seq&>(s).stmts) statement(*child, uniform);
        break;
      case Kind::For: {
        const auto& loop = static_cast<const For&>(s);
        if (loop.how == LoopKind::threads || loop.how == LoopKind::blocks)
          broken(Stage::threads, s, "a loop over threads or blocks stands inside another one");
        bool same = uniform;
        for (const Expr& e : loop.extents) same &= !varies(e);
        if (!same)
          for (const auto& v : loop.vars) varying_.insert(v->name);
        statement(*loop.body, same);
        break;
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(s);
        bool same = uniform && !varies(when.cond);
        statement(*when.then, same);
        if (when.otherwise) statement(*when.otherwise, same);
        break;
      }
      case Kind::Let: {
        const auto& let = static_cast<const Let&>(s);
        if (!uniform || varies(let.value)) varying_.insert(let.var->name);
        break;
      }
      case Kind::Shuffle:
        if (!uniform) broken(Stage::threads, s, "some threads of the block cannot reach this shuffle");
        varying_.insert(static_cast<const Shuffle&>(s).var->name);
        break;
      case Kind::Mma:
        if (!uniform) broken(Stage::threads, s, "some threads of the block cannot reach this product");
        break;
      case Kind::Barrier:
        if (!uniform) broken(Stage::threads, s, "some threads of the block cannot reach this barrier");
        break;
      default:
        break;
    }
  }

  bool varies(const Expr& e) const {
    bool found = false;
    post_order(e, [&](const Node& n) {
      if (const auto* v = as<Var>(&n)) found |= varying_.contains(v->name);
    });
    return found;
  }

  std::set<std::string> varying_;  // names whose value may differ between threads
  bool found_ = false;
};

// ---- engines ------------------------------------------------------------------------------------------------------

/// Statements on memory stand inside `on` (values of control flow are read by the issuing engine); flags are set and
/// waited for in turn on every path.
class Engines {
 public:
  void phase(const For& cores) {
    if (cores.how != LoopKind::cores) broken(Stage::engines, cores, "a phase is a loop over cores");
    issued(*cores.body);
    for (const auto& [flag, where] : set_) broken(Stage::engines, *where, "nothing waits for this flag");
  }

 private:
  using Flag = std::tuple<std::string, std::string, int64_t>;
  using Flags = std::map<Flag, const StmtNode*>;  // those that are set, with the statement that did it

  static bool same(const Flags& a, const Flags& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) { return x.first == y.first; });
  }

  void issued(const StmtNode& s) {
    switch (s.kind) {
      case Kind::Seq:
        for (const Stmt& child : static_cast<const Seq&>(s).stmts) issued(*child);
        break;
      case Kind::For: {
        const auto& loop = static_cast<const For&>(s);
        if (loop.how == LoopKind::cores) broken(Stage::engines, s, "a loop over cores stands inside another one");
        Flags entry = set_;
        issued(*loop.body);
        if (!same(entry, set_)) broken(Stage::engines, s, "the flags at the end of the loop differ from its start");
        break;
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(s);
        Flags entry = set_;
        issued(*when.then);
        Flags after_then = std::exchange(set_, entry);
        if (when.otherwise) issued(*when.otherwise);
        if (!same(after_then, set_)) broken(Stage::engines, s, "the two sides leave different flags set");
        break;
      }
      case Kind::Store:
      case Kind::Copy:
        broken(Stage::engines, s, "memory is touched outside `on`");
      case Kind::OnEngine:
        on_engine(*static_cast<const OnEngine&>(s).body);
        break;
      case Kind::SetFlag: {
        const auto& flag = static_cast<const SetFlag&>(s);
        if (!set_.emplace(Flag{flag.from, flag.to, flag.id}, &s).second)
          broken(Stage::engines, s, "the flag is set already");
        break;
      }
      case Kind::WaitFlag: {
        const auto& flag = static_cast<const WaitFlag&>(s);
        if (set_.erase(Flag{flag.from, flag.to, flag.id}) == 0) broken(Stage::engines, s, "nothing has set this flag");
        break;
      }
      default:
        break;
    }
  }

  /// One copy, or loops over elements.
  static void on_engine(const StmtNode& body) {
    if (body.kind == Kind::Copy) return;
    post_order(Any(&body), [&](const Node& n) {
      if (!is_stmt(n.kind)) return;
      switch (n.kind) {
        case Kind::Seq:
        case Kind::For:
        case Kind::When:
        case Kind::Let:
        case Kind::Store:
          return;
        default:
          broken(Stage::engines, static_cast<const StmtNode&>(n), "inside `on` stand one copy or loops over elements");
      }
    });
  }

  Flags set_;
};

// ---- loops --------------------------------------------------------------------------------------------------------

void verify_loops(const For& phase) {
  if (phase.how != LoopKind::blocks) broken(Stage::loops, phase, "a phase is a loop over blocks");
}

}  // namespace

void broken(Stage stage, const StmtNode& where, const std::string& rule) {
  throw BrokenPromise{sentence(stage, where, rule), where.at};
}
void broken(Stage stage, const DeclNode& where, const std::string& rule) {
  std::string name;
  if (const auto* k = as<Kernel>(&where)) name = fmt::format("kernel {}", k->name);
  throw BrokenPromise{
      name.empty() ? sentence(stage, where, rule) : fmt::format("stage {}: {}: {}", name_of(stage), rule, name),
      where.at};
}

void verify_form(Stage stage, const StmtNode& phase) {
  switch (stage) {
    case Stage::loops:
      return verify_loops(static_cast<const For&>(phase));
    case Stage::threads:
      return Threads().phase(static_cast<const For&>(phase));
    case Stage::engines:
      return Engines().phase(static_cast<const For&>(phase));
    default:
      return;
  }
}

}  // namespace tilewright::ir::detail
