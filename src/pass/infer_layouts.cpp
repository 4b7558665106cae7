#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "pass/distribution.h"
#include "pass/lower.h"
#include "pass/matrix_unit.h"
#include "pass/passes.h"

namespace tilewright {
namespace {

using namespace ir;

/// A fragment of one phase, while it may still be distributed.
struct Fragment {
  Ref<Buffer> buffer;
  std::vector<int64_t> shape;
  int64_t size = 1;
  std::string kept_whole;  // why it lies in memory
  std::optional<Distribution> placed;
};

/// Axis `axes[k]` of `from` runs with axis k of `to`; an axis of extent 1 runs with none (-1).
struct Relation {
  std::string from, to;
  std::vector<int> axes;
};

/// What the statements of a phase ask of its fragments.
class Uses {
 public:
  Uses(const Stmt& body, const Caps& caps) : caps_(caps), memory_(caps.memory_of[static_cast<int>(Space::fragment)]) {
    statement(body);
  }

  std::map<std::string, Fragment> fragments;
  std::vector<std::string> order;  // of declaration
  std::vector<Relation> relations;
  /// Fragments that can only be distributed when one of some others is: the source of a reduction needs its result, and
  /// what lacks a variable of a loop needs one that has all.
  std::vector<std::pair<std::string, std::vector<std::string>>> needs;
  /// Loops that write what they read. Where several threads hold the elements of their fragments, the buffers must be
  /// distributed too: one thread would write memory while another one reads it.
  struct Update {
    std::vector<std::string> fragments, buffers;
  };
  std::vector<Update> updates;
  /// Gemms that a matrix unit can do when it has c, and a where that is a fragment, its own way.
  struct Product {
    Ref<Gemm> gemm;
    const MatrixUnit* unit;
    int64_t m, n, k;
  };
  std::vector<Product> products;

 private:
  Fragment* find(const Buffer& b) {
    auto found = fragments.find(b.name);
    return found == fragments.end() ? nullptr : &found->second;
  }
  void keep_whole(const Buffer& b, const std::string& why) {
    if (Fragment* f = find(b); f && f->kept_whole.empty()) f->kept_whole = why;
  }

  void alloc(const Buffer& b) {
    if (b.space != Space::fragment || b.memory != memory_ || b.shape.empty()) return;
    Fragment f{ref(&b), {}, element_count(b), {}, {}};
    for (const Expr& e : b.shape) {
      int64_t n = 0;
      is_constant(e, &n);
      f.shape.push_back(n);
    }
    fragments.emplace(b.name, std::move(f));
    order.push_back(b.name);
  }

  /// The whole fragment, or it stays in memory.
  Fragment* whole(const Region& r) {
    Fragment* f = find(*r.buffer);
    if (!f) return nullptr;
    for (size_t d = 0; d < r.extent.size(); ++d)
      if (!is_constant_equal(r.offset[d], 0) || !is_constant_equal(r.extent[d], f->shape[d]))
        keep_whole(*r.buffer, "a part of it is used by itself");
    return f;
  }

  /// The element of a fragment that has one lies with every thread.
  void elements_outside_loops(const Any& root) {
    auto is_single = [&](const Buffer& b, const Exprs& indices) {
      const Fragment* f = find(b);
      return f && f->size == 1 &&
             std::all_of(indices.begin(), indices.end(), [](const Expr& i) { return is_constant_equal(i, 0); });
    };
    post_order(root, [&](const Node& node) {
      if (const auto* l = as<Load>(&node); l && !is_single(*l->buffer, l->indices))
        keep_whole(*l->buffer, "an element is read outside a parallel loop");
      if (const auto* s = as<Store>(&node); s && !is_single(*s->buffer, s->indices))
        keep_whole(*s->buffer, "an element is written outside a parallel loop");
    });
  }

  void statement(const Stmt& s) {
    switch (s->kind) {
      case Kind::Alloc:
        return alloc(*static_cast<const Alloc&>(*s).buffer);
      case Kind::For: {
        const auto& loop = static_cast<const For&>(*s);
        if (loop.how == LoopKind::parallel) return parallel(loop);
        break;
      }
      case Kind::When:
        elements_outside_loops(static_cast<const When&>(*s).cond);
        break;
      case Kind::Let:
      case Kind::Store:
        return elements_outside_loops(s);
      case Kind::Copy: {
        const auto& copy = static_cast<const Copy&>(*s);
        const Fragment *from = whole(*copy.src), *to = whole(*copy.dst);
        if (from && to) equal_places(*copy.src, *copy.dst);
        return;
      }
      case Kind::Fill:
        whole(*static_cast<const Fill&>(*s).dst);
        return;
      case Kind::Gemm:
        return gemm(static_cast<const Gemm&>(*s));
      case Kind::Reduce:
        return reduce(static_cast<const Reduce&>(*s));
      default:
        break;
    }
    with_bodies(s, [this](const Stmt& body) {
      statement(body);
      return body;
    });
  }

  /// Extents agree after those that are 1 are dropped.
  void equal_places(const Region& a, const Region& b) {
    auto relate = [&](const Region& from, const Region& to) {
      Relation r{from.buffer->name, to.buffer->name, {}};
      const std::vector<size_t> axes = loop_axes(from);
      size_t next = 0;
      for (size_t d = 0; d < to.extent.size(); ++d)
        r.axes.push_back(is_constant_equal(to.extent[d], 1) ? -1 : static_cast<int>(axes[next++]));
      relations.push_back(std::move(r));
    };
    if (loop_axes(a).size() != loop_axes(b).size()) return;
    relate(a, b);
    relate(b, a);
  }

  /// The last two extents, where they are constants and the region lies inside its buffer.
  static bool matrix(const Region& r, bool transposed, int64_t& rows, int64_t& columns) {
    const size_t rank = r.extent.size();
    for (size_t d = 0; d < rank; ++d)
      if (!plainly_inside(r, d)) return false;
    is_constant(r.extent[rank - 2], transposed ? &columns : &rows);
    is_constant(r.extent[rank - 1], transposed ? &rows : &columns);
    return true;
  }

  const MatrixUnit* unit_for(const Gemm& g) const {
    const DType a = g.a->buffer->dtype, b = g.b->buffer->dtype;
    for (const MatrixUnit& u : caps_.matrix_units)
      if (a == b && g.c->buffer->dtype == u.accumulator &&
          std::find(u.inputs.begin(), u.inputs.end(), a) != u.inputs.end())
        return &u;
    return nullptr;
  }

  void gemm(const Gemm& g) {
    keep_whole(*g.b->buffer, "it is the second operand of a gemm");
    const Fragment* c = whole(*g.c);
    const MatrixUnit* unit = unit_for(g);
    Product p{ref(&g), unit, 0, 0, 0};
    int64_t k_of_b = 0;
    if (!c || c->shape.size() != 2 || !unit || !matrix(*g.a, g.transpose_a, p.m, p.k) ||
        !matrix(*g.b, g.transpose_b, k_of_b, p.n))
      return keep_whole(*g.a->buffer, "it is an operand of a gemm that no matrix unit does");
    if (const Fragment* a = whole(*g.a)) {
      if (g.transpose_a || a->shape.size() != 2) keep_whole(*g.a->buffer, "it is a transposed operand of a gemm");
      needs.emplace_back(g.a->buffer->name, std::vector<std::string>{g.c->buffer->name});
    }
    products.push_back(std::move(p));
  }

  void reduce(const Reduce& r) {
    const Fragment *src = whole(*r.src), *dst = whole(*r.dst);
    if (!src) return;
    if (!dst) return keep_whole(*r.src->buffer, "it is reduced into memory");
    if (r.dst->buffer->dtype.is_narrow_float())
      return keep_whole(*r.src->buffer, "its reduction is rounded to a narrow type");
    needs.emplace_back(r.src->buffer->name, std::vector<std::string>{r.dst->buffer->name});
    Relation relation{r.src->buffer->name, r.dst->buffer->name, {}};
    std::vector<int> left;
    for (size_t d = 0; d < src->shape.size(); ++d)
      if (static_cast<int64_t>(d) != r.axis && src->shape[d] != 1) left.push_back(static_cast<int>(d));
    size_t next = 0;
    for (int64_t extent : dst->shape) relation.axes.push_back(extent == 1 ? -1 : left.at(next++));
    relations.push_back(std::move(relation));
  }

  /// Every access of a fragment has the loop's variables as its indices, and one fragment has all of them.
  void parallel(const For& loop) {
    struct FragmentUse {
      const Buffer* buffer;
      bool write;
      std::vector<int> vars;  // of each axis; -1: extent 1
    };
    std::vector<FragmentUse> accesses;
    auto note = [&](const Buffer& b, const Exprs& indices, bool write) {
      Fragment* f = find(b);
      if (!f) return;
      FragmentUse a{&b, write, {}};
      std::vector<bool> used(loop.vars.size());
      for (size_t d = 0; d < indices.size(); ++d) {
        if (f->shape[d] == 1) {
          a.vars.push_back(-1);
          continue;
        }
        const auto* v = as<Var>(indices[d]);
        size_t k = 0;
        while (v && k < loop.vars.size() && loop.vars[k]->name != v->name) ++k;
        if (!v || k == loop.vars.size() || used[k] || !is_constant_equal(loop.extents[k], f->shape[d]))
          return keep_whole(b, "an index is not the variable of a loop over its axis");
        used[k] = true;
        a.vars.push_back(static_cast<int>(k));
      }
      accesses.push_back(std::move(a));
    };
    post_order(loop.body, [&](const Node& node) {
      if (const auto* l = as<Load>(&node)) note(*l->buffer, l->indices, false);
      if (const auto* s = as<Store>(&node)) note(*s->buffer, s->indices, true);
    });
    auto covers = [&](const FragmentUse& a) {
      for (size_t k = 0; k < loop.vars.size(); ++k)
        if (!is_constant_equal(loop.extents[k], 1) &&
            std::find(a.vars.begin(), a.vars.end(), static_cast<int>(k)) == a.vars.end())
          return false;
      return true;
    };
    Update update;
    std::set<std::string> read;
    post_order(loop.body, [&](const Node& node) {
      if (const auto* l = as<Load>(&node)) read.insert(l->buffer->name);
    });
    post_order(loop.body, [&](const Node& node) {
      if (const auto* s = as<Store>(&node); s && read.contains(s->buffer->name))
        update.buffers.push_back(s->buffer->name);
    });
    for (const FragmentUse& a : accesses) update.fragments.push_back(a.buffer->name);
    if (!update.buffers.empty() && !accesses.empty()) updates.push_back(std::move(update));

    std::vector<std::string> full;
    for (const FragmentUse& a : accesses)
      if (covers(a)) full.push_back(a.buffer->name);
    for (const FragmentUse& to : accesses) {
      if (full.empty()) keep_whole(*to.buffer, "a loop over more than its axes uses it");
      if (covers(to)) continue;
      if (to.write) keep_whole(*to.buffer, "a loop over more than its axes writes it");
      needs.emplace_back(to.buffer->name, full);
    }
    for (const FragmentUse& from : accesses) {
      if (!covers(from)) continue;
      for (const FragmentUse& to : accesses) {
        if (to.buffer->name == from.buffer->name) {
          if (to.vars != from.vars) keep_whole(*to.buffer, "a loop uses it in two orders");
          continue;
        }
        Relation r{from.buffer->name, to.buffer->name, {}};
        for (int var : to.vars) {
          auto axis = std::find(from.vars.begin(), from.vars.end(), var);
          r.axes.push_back(var < 0 ? -1 : static_cast<int>(axis - from.vars.begin()));
        }
        relations.push_back(std::move(r));
      }
    }
  }

  const Caps& caps_;
  const std::string& memory_;
};

/// Gives the fragments of a phase their places, the largest first; what is not possible together stays in memory.
class Inference {
 public:
  Inference(Uses& uses, const Caps& caps, int64_t threads) : uses_(uses), caps_(caps), threads_(threads) {}

  /// The unit that does a gemm, after run(); nothing where none does.
  std::string unit_of(const Gemm& gemm) const {
    for (const Uses::Product& p : uses_.products)
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
  std::optional<UnitTiling> tiling_for(const Uses::Product& p) const {
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
    for (const Uses::Product& p : uses_.products)
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
    for (const Uses::Update& update : uses_.updates) {
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

  bool place_product(const Uses::Product& p) {
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

  Uses& uses_;
  const Caps& caps_;
  int64_t threads_;
};

Stmt distribute_phase(const For& threads, PassContext& context) {
  const Caps& caps = context.caps();
  int64_t count = 0;
  is_constant(threads.extents[0], &count);
  const Stmt same = ref(&threads);
  if (caps.lanes == 0 || count % caps.lanes != 0) return same;
  Uses uses(threads.body, caps);
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
