#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/build.h"
#include "ir/walk.h"
#include "pass/fragment_uses.h"
#include "pass/matrix_unit.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// Gives the fragments of a phase their places, the largest first; what is not possible together stays in memory.
class Inference {
 public:
  Inference(FragmentUses& uses, const Caps& caps, int64_t threads) : uses_(uses), caps_(caps), threads_(threads) {}

  /// The unit that does a gemm, after run(); nothing where none does.
  std::string unit_of(const Gemm& gemm) const {
    for (const FragmentUses::Product& p : uses_.products)
      if (p.gemm.get() == &gemm && !is_whole(gemm.c->buffer->name) && tiling_for(p)) return p.unit->name;
    return {};
  }

  void run() {
    while (!settle()) {
      for (auto& [name, f] : uses_.fragments) f.placed.reset();
    }
  }

 private:
  /// One warp gets whole rows where they are reduced, or become an operand.
  std::optional<UnitTiling> tiling_for(const FragmentUses::Product& p) const {
    const std::string& c = p.gemm->c->buffer->name;
    bool related = uses_.fragments.contains(p.gemm->a->buffer->name);
    for (const Relation& r : uses_.relations) related |= r.from == c || r.to == c;
    return tile_unit(*p.unit, p.m, p.n, p.k, threads_ / caps_.lanes, related);
  }

  bool is_whole(const std::string& name) const { return !uses_.fragments.at(name).kept_whole.empty(); }

  void keep_whole(const std::string& name, const std::string& why) {
    Fragment& f = uses_.fragments.at(name);
    if (f.kept_whole.empty()) f.kept_whole = why;
  }

  /// One attempt; false when a fragment had to be given up and the others must be placed anew.
  bool settle() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [name, others] : uses_.needs) {
        if (is_whole(name) || !std::all_of(others.begin(), others.end(), [&](const auto& o) { return is_whole(o); }))
          continue;
        keep_whole(name, fmt::format("it is used beside {}, which lies in memory", others[0]));
        changed = true;
      }
    }
    for (const FragmentUses::Product& p : uses_.products)
      if (!place_product(p)) return false;
    // The largest first, then in the order of declaration.
    std::vector<std::pair<int64_t, size_t>> by_size;
    for (size_t i = 0; i < uses_.order.size(); ++i)
      if (!is_whole(uses_.order[i])) by_size.emplace_back(-uses_.fragments.at(uses_.order[i]).size, i);
    std::sort(by_size.begin(), by_size.end());
    std::vector<std::string> names;
    for (const auto& [size, i] : by_size) names.push_back(uses_.order[i]);
    for (const std::string& name : names) {
      Fragment& f = uses_.fragments.at(name);
      if (f.placed) continue;
      f.placed = Distribution::rows(f.shape, threads_, caps_.lanes);
      if (!propagate(name)) return false;
    }
    return updates_alone() && fits(names);
  }

  bool updates_alone() {
    for (const FragmentUses::Update& update : uses_.updates) {
      auto memory = std::find_if(update.buffers.begin(), update.buffers.end(),
                                 [&](const std::string& b) { return !uses_.fragments.contains(b) || is_whole(b); });
      if (memory == update.buffers.end()) continue;
      bool given_up = false;
      for (const std::string& name : update.fragments) {
        const Fragment& f = uses_.fragments.at(name);
        if (!f.placed || f.placed->copies.empty()) continue;
        keep_whole(name, fmt::format("several threads would hold it where {} in memory is read and written", *memory));
        given_up = true;
      }
      if (given_up) return false;
    }
    return true;
  }

  bool place_product(const FragmentUses::Product& p) {
    const std::string &c = p.gemm->c->buffer->name, &a = p.gemm->a->buffer->name;
    if (is_whole(c)) return true;
    const std::optional<UnitTiling> tiling = tiling_for(p);
    const bool in_registers = uses_.fragments.contains(a) && !is_whole(a);
    if (!tiling) {
      if (!in_registers) return true;
      keep_whole(a, "it is an operand of a gemm that no matrix unit does");
      return false;
    }
    if (!place(c, accumulator_of(*p.unit, *tiling, caps_.lanes))) return false;
    return !in_registers || place(a, operand_a_of(*p.unit, *tiling, caps_.lanes));
  }

  /// The fragment as a matrix unit wants it; false when it has to be given up.
  bool place(const std::string& name, const Distribution& wanted) {
    Fragment& f = uses_.fragments.at(name);
    if (!f.placed) {
      f.placed = wanted;
      return propagate(name);
    }
    if (f.placed->same_places(wanted)) {
      f.placed = wanted;  // with the slots in the unit's order
      return true;
    }
    keep_whole(name, "a matrix unit needs it distributed in another way than its other uses");
    return false;
  }

  bool propagate(const std::string& from) {
    std::vector<std::string> todo{from};
    while (!todo.empty()) {
      const std::string name = todo.back();
      todo.pop_back();
      for (const Relation& r : uses_.relations) {
        if (r.from != name || is_whole(r.to)) continue;
        const Fragment& source = uses_.fragments.at(name);
        Fragment& target = uses_.fragments.at(r.to);
        const Distribution wanted = related(r, source, target);
        if (!target.placed) {
          target.placed = wanted;
          todo.push_back(r.to);
        } else if (!target.placed->same_places(wanted)) {
          const bool smaller = target.size <= source.size;
          keep_whole(smaller ? r.to : name,
                     fmt::format("{} needs it distributed in another way", smaller ? name : r.to));
          return false;
        }
      }
    }
    return true;
  }

  /// The places of `to` that follow from those of `from`.
  static Distribution related(const Relation& r, const Fragment& from, const Fragment& to) {
    std::vector<size_t> kept;
    for (int axis : r.axes)
      if (axis >= 0) kept.push_back(static_cast<size_t>(axis));
    const Distribution parts = from.placed->project(kept);
    Distribution result = parts;
    result.axes.clear();
    size_t next = 0;
    for (size_t d = 0; d < r.axes.size(); ++d)
      result.axes.push_back(r.axes[d] < 0 ? Distribution::Axis{to.shape[d], {}} : parts.axes[next++]);
    return result;
  }

  bool fits(const std::vector<std::string>& names) {
    int64_t bytes = 0;
    std::string largest;
    int64_t most = 0;
    for (const std::string& name : names) {
      const Fragment& f = uses_.fragments.at(name);
      const int64_t mine = f.buffer->dtype.bytes(f.placed->slots());
      bytes += mine;
      if (mine > most) most = mine, largest = name;
    }
    if (bytes <= caps_.register_bytes) return true;
    keep_whole(largest, fmt::format("the fragments need {} bytes of registers of a thread, which has {} for them",
                                    bytes, caps_.register_bytes));
    return false;
  }

  FragmentUses& uses_;
  const Caps& caps_;
  int64_t threads_;
};

Stmt distribute_phase(const For& threads, PassContext& context) {
  const Caps& caps = context.caps();
  int64_t count = 0;
  is_constant(threads.extents[0], &count);
  const Stmt same = ref(&threads);
  if (caps.lanes == 0 || count % caps.lanes != 0) return same;
  FragmentUses uses = FragmentUses::of(threads.body, caps);
  Inference inference(uses, caps, count);
  inference.run();
  std::map<std::string, Ref<Buffer>> distributed;
  for (const std::string& name : uses.order) {
    const Fragment& f = uses.fragments.at(name);
    if (!f.kept_whole.empty()) {
      context.fact("infer_layouts", fmt::format("{} lies in {}: {}", name, f.buffer->memory, f.kept_whole),
                   f.buffer->at);
      continue;
    }
    const Layout layout = f.placed->layout(f.buffer->dtype.storage_bits);
    distributed[name] = altered(*f.buffer, [&](Buffer& b) {
      b.memory = caps.iteration_memory;
      b.layout = to_string(layout);
    });
    context.fact("infer_layouts",
                 fmt::format("{} lies in registers, {} of each thread: {}", name, f.placed->slots(), to_string(layout)),
                 f.buffer->at);
  }
  if (distributed.empty()) return same;
  const Stmt with_units = rewrite_as(same, [&](const Any& node) -> Any {
    const auto* gemm = as<Gemm>(node);
    const std::string unit = gemm ? inference.unit_of(*gemm) : "";
    if (!gemm) return node;
    context.fact("infer_layouts",
                 unit.empty() ? fmt::format("gemm: products one by one, in {}", to_string(gemm->c->buffer->dtype))
                              : fmt::format("gemm: done by {}", unit),
                 gemm->at);
    if (unit.empty()) return node;
    return make_at<Gemm>(gemm->at, gemm->a, gemm->b, gemm->c, gemm->transpose_a, gemm->transpose_b, gemm->precision,
                         unit);
  });
  return rewrite_as(with_units, [&](const Any& node) -> Any {
    const auto* b = as<Buffer>(node);
    auto found = b ? distributed.find(b->name) : distributed.end();
    return found == distributed.end() ? node : Any(found->second);
  });
}

}  // namespace

KernelRef infer_layouts(const KernelRef& kernel, PassContext& context) {
  if (context.opt_level == 0) return kernel;
  return rewrite_as(kernel, [&](const Any& node) -> Any {
    const auto* loop = as<For>(node);
    return loop && loop->how == LoopKind::threads ? Any(distribute_phase(*loop, context)) : node;
  });
}

}  // namespace tilewright
