#include "pass/fragment_uses.h"

#include <algorithm>
#include <set>

#include "ir/build.h"
#include "ir/region.h"
#include "ir/walk.h"
#include "pass/lower.h"

namespace tilewright {
namespace {

using namespace ir;

/// Walks the statements of a phase.
class Collect {
 public:
  Collect(const Caps& caps, FragmentUses& uses)
      : caps_(caps), memory_(caps.memory_of[static_cast<int>(Space::fragment)]), uses_(uses) {}

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

 private:
  Fragment* find(const Buffer& b) {
    auto found = uses_.fragments.find(b.name);
    return found == uses_.fragments.end() ? nullptr : &found->second;
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
    uses_.fragments.emplace(b.name, std::move(f));
    uses_.order.push_back(b.name);
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

  /// Extents agree after those that are 1 are dropped.
  void equal_places(const Region& a, const Region& b) {
    auto relate = [&](const Region& from, const Region& to) {
      Relation r{from.buffer->name, to.buffer->name, {}};
      const std::vector<size_t> axes = loop_axes(from);
      size_t next = 0;
      for (size_t d = 0; d < to.extent.size(); ++d)
        r.axes.push_back(is_constant_equal(to.extent[d], 1) ? -1 : static_cast<int>(axes[next++]));
      uses_.relations.push_back(std::move(r));
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
    FragmentUses::Product p{ref(&g), unit, 0, 0, 0};
    int64_t k_of_b = 0;
    if (!c || c->shape.size() != 2 || !unit || !matrix(*g.a, g.transpose_a, p.m, p.k) ||
        !matrix(*g.b, g.transpose_b, k_of_b, p.n))
      return keep_whole(*g.a->buffer, "it is an operand of a gemm that no matrix unit does");
    if (const Fragment* a = whole(*g.a)) {
      if (g.transpose_a || a->shape.size() != 2) keep_whole(*g.a->buffer, "it is a transposed operand of a gemm");
      uses_.needs.emplace_back(g.a->buffer->name, std::vector<std::string>{g.c->buffer->name});
    }
    uses_.products.push_back(std::move(p));
  }

  void reduce(const Reduce& r) {
    const Fragment *src = whole(*r.src), *dst = whole(*r.dst);
    if (!src) return;
    if (!dst) return keep_whole(*r.src->buffer, "it is reduced into memory");
    if (r.dst->buffer->dtype.is_narrow_float())
      return keep_whole(*r.src->buffer, "its reduction is rounded to a narrow type");
    uses_.needs.emplace_back(r.src->buffer->name, std::vector<std::string>{r.dst->buffer->name});
    Relation relation{r.src->buffer->name, r.dst->buffer->name, {}};
    std::vector<int> left;
    for (size_t d = 0; d < src->shape.size(); ++d)
      if (static_cast<int64_t>(d) != r.axis && src->shape[d] != 1) left.push_back(static_cast<int>(d));
    size_t next = 0;
    for (int64_t extent : dst->shape) relation.axes.push_back(extent == 1 ? -1 : left.at(next++));
    uses_.relations.push_back(std::move(relation));
  }

  /// Every access of a fragment has the loop's variables as its indices, and one fragment has all of them.
  void parallel(const For& loop) {
    struct ElementUse {
      const Buffer* buffer;
      bool write;
      std::vector<int> vars;  // of each axis; -1: extent 1
    };
    std::vector<ElementUse> accesses;
    auto note = [&](const Buffer& b, const Exprs& indices, bool write) {
      Fragment* f = find(b);
      if (!f) return;
      ElementUse a{&b, write, {}};
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
    auto covers = [&](const ElementUse& a) {
      for (size_t k = 0; k < loop.vars.size(); ++k)
        if (!is_constant_equal(loop.extents[k], 1) &&
            std::find(a.vars.begin(), a.vars.end(), static_cast<int>(k)) == a.vars.end())
          return false;
      return true;
    };
    FragmentUses::Update update;
    std::set<std::string> read;
    post_order(loop.body, [&](const Node& node) {
      if (const auto* l = as<Load>(&node)) read.insert(l->buffer->name);
    });
    post_order(loop.body, [&](const Node& node) {
      if (const auto* s = as<Store>(&node); s && read.contains(s->buffer->name))
        update.buffers.push_back(s->buffer->name);
    });
    std::vector<std::string> full;
    for (const ElementUse& a : accesses)
      if (covers(a)) full.push_back(a.buffer->name);
    update.fragments = full;
    if (!update.buffers.empty()) uses_.updates.push_back(std::move(update));
    for (const ElementUse& to : accesses) {
      if (full.empty()) keep_whole(*to.buffer, "a loop over more than its axes uses it");
      if (covers(to)) continue;
      if (to.write) keep_whole(*to.buffer, "a loop over more than its axes writes it");
      uses_.needs.emplace_back(to.buffer->name, full);
    }
    for (const ElementUse& from : accesses) {
      if (!covers(from)) continue;
      for (const ElementUse& to : accesses) {
        if (to.buffer->name == from.buffer->name) {
          if (to.vars != from.vars) keep_whole(*to.buffer, "a loop uses it in two orders");
          continue;
        }
        Relation r{from.buffer->name, to.buffer->name, {}};
        for (int var : to.vars) {
          auto axis = std::find(from.vars.begin(), from.vars.end(), var);
          r.axes.push_back(var < 0 ? -1 : static_cast<int>(axis - from.vars.begin()));
        }
        uses_.relations.push_back(std::move(r));
      }
    }
  }

  const Caps& caps_;
  const std::string& memory_;
  FragmentUses& uses_;
};

}  // namespace

FragmentUses FragmentUses::of(const Stmt& body, const Caps& caps) {
  FragmentUses uses;
  Collect(caps, uses).statement(body);
  return uses;
}

}  // namespace tilewright
