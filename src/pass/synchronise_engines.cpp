#include <fmt/format.h>

#include <map>
#include <set>

#include "base/check.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// The latest access of one engine to one buffer, reading or writing. A flag counts as a buffer that its wait reads.
struct Key {
  std::string buffer, engine;
  bool write;
  auto operator<=>(const Key&) const = default;
};

/// For each such access, the engines that are known to start nothing before it is done.
using State = std::map<Key, std::set<std::string>>;

/// What holds after either of two paths.
State join(const State& a, const State& b) {
  State joined = a;
  for (const auto& [key, seen] : b) {
    auto [at, is_new] = joined.try_emplace(key, seen);
    if (!is_new) std::erase_if(at->second, [&](const std::string& engine) { return !seen.contains(engine); });
  }
  return joined;
}

using Accesses = std::set<std::pair<std::string, bool>>;  // of a buffer, writing or not

Accesses accesses_of(const Any& root) {
  Accesses found;
  post_order(root, [&](const Node& node) {
    if (const auto* l = as<Load>(&node)) found.emplace(l->buffer->name, false);
    if (const auto* st = as<Store>(&node)) found.emplace(st->buffer->name, true);
    if (const auto* c = as<Copy>(&node)) {
      found.emplace(c->src->buffer->name, false);
      found.emplace(c->dst->buffer->name, true);
    }
  });
  return found;
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
        Stmts stmts;
        for (const Expr& extent : loop.extents) before(issuing_engine(), accesses_of(extent), stmts, s);
        State entry = state_;
        Stmt body;
        for (bool stable = false; !stable;) {
          state_ = entry;
          body = run(loop.body);
          State again = join(entry, state_);
          stable = again == entry;
          entry = std::move(again);
        }
        state_ = std::move(entry);
        stmts.push_back(make_at<For>(s->at, loop.how, loop.vars, loop.extents, loop.stages, body));
        return sequence(std::move(stmts), s->at);
      }
      case Kind::When: {
        const auto& when = static_cast<const When&>(*s);
        Stmts stmts;
        before(issuing_engine(), accesses_of(when.cond), stmts, s);
        State entry = state_;
        Stmt then = run(when.then);
        State after_then = std::exchange(state_, entry);
        Stmt otherwise = when.otherwise ? run(when.otherwise) : Stmt();
        state_ = join(after_then, state_);
        stmts.push_back(make_at<When>(s->at, when.cond, then, otherwise));
        return sequence(std::move(stmts), s->at);
      }
      case Kind::Let:
        return operation(issuing_engine(), s);
      case Kind::OnEngine: {
        const std::string& name = static_cast<const OnEngine&>(*s).engine;
        const Engine* engine = caps_.engine(name);
        TW_CHECK(engine, fmt::format("no engine named '{}'", name));
        return operation(*engine, s);
      }
      default:
        return s;
    }
  }

 private:
  Stmt operation(const Engine& engine, const Stmt& s) {
    Stmts stmts;
    before(engine, accesses_of(s), stmts, s);
    stmts.push_back(s);
    return sequence(std::move(stmts), s->at);
  }

  /// What must be waited for before the engine does these accesses; then they are its latest.
  void before(const Engine& engine, const Accesses& accesses, Stmts& stmts, const Stmt& s) {
    // Other engines first: what they have seen may make a barrier of this one unnecessary.
    for (bool own : {false, true})
      for (const auto& [buffer, write] : accesses)
        for (const Engine& other : caps_.engines)
          for (bool earlier_write : {false, true}) {
            if ((other.name == engine.name) != own || (!write && !earlier_write)) continue;
            auto earlier = state_.find({buffer, other.name, earlier_write});
            if (earlier == state_.end() || earlier->second.contains(engine.name)) continue;
            wait(other, engine, stmts, s);
          }
    for (const auto& [buffer, write] : accesses) {
      std::set<std::string> seen;
      if (engine.self_ordered) seen.insert(engine.name);
      state_[{buffer, engine.name, write}] = seen;
    }
  }

  /// Before the statement, `to` waits for all that was issued to `from`: it then knows what `from` did and what `from`
  /// knew.
  void wait(const Engine& from, const Engine& to, Stmts& stmts, const Stmt& s) {
    if (from.name == to.name) {
      stmts.push_back(make_at<EngineBarrier>(s->at, from.name));
    } else {
      const int64_t id = flag_before(s, from, to, stmts);
      stmts.push_back(make_at<SetFlag>(s->at, from.name, to.name, id));
      stmts.push_back(make_at<WaitFlag>(s->at, from.name, to.name, id));
      state_[{flag_name(from, to, id), to.name, false}] = {};
    }
    for (auto& [key, seen] : state_) {
      if (key.engine != from.name && !seen.contains(from.name)) continue;
      if (to.issues)
        for (const Engine& any : caps_.engines) seen.insert(any.name);
      else
        seen.insert(to.name);
    }
  }

  static std::string flag_name(const Engine& from, const Engine& to, int64_t id) {
    return fmt::format("{} -> {} id {}", from.name, to.name, id);
  }

  /// The flag with which `to` waits for `from` before the statement. `from` may set it when it has seen the last wait
  /// for it complete, else the set could come before that wait and be lost; so the issuing engine waits for `to` first
  /// where that is not known. A wait of the issuing engine itself is complete, because it issues the set too.
  int64_t flag_before(const Stmt& s, const Engine& from, const Engine& to, Stmts& stmts) {
    const std::string pair = from.name + " -> " + to.name;
    auto [known, is_new] = flags_.try_emplace({s.get(), pair}, 0);
    if (is_new) known->second = given_[pair]++ % caps_.flags_per_pair;
    const int64_t id = known->second;
    if (to.issues) return id;
    auto last = state_.find({flag_name(from, to, id), to.name, false});
    if (last != state_.end() && !last->second.contains(from.name)) wait(to, issuing_engine(), stmts, s);
    return id;
  }

  const Engine& issuing_engine() const {
    for (const Engine& e : caps_.engines)
      if (e.issues) return e;
    TW_CHECK(false, "no engine issues to the others");
    return caps_.engines.front();
  }

  const Caps& caps_;
  State state_;
  std::map<std::pair<const StmtNode*, std::string>, int64_t> flags_;  // of each statement and pair of engines
  std::map<std::string, int64_t> given_;                              // flags of each pair so far
};

}  // namespace

KernelRef synchronise_engines(const KernelRef& kernel, PassContext& context) {
  return rewrite_as(kernel, [&](const Any& node) -> Any {
    const auto* loop = as<For>(node);
    if (!loop || loop->how != LoopKind::cores) return node;
    return make_at<For>(loop->at, loop->how, loop->vars, loop->extents, loop->stages,
                        Synchronise(context.caps()).run(loop->body));
  });
}

}  // namespace tilewright
