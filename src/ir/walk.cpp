#include "ir/walk.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/pointer_map.h"
#include "ir/build.h"

namespace tilewright::ir {
namespace {

template <class T>
inline constexpr bool is_ref = false;
template <class T>
inline constexpr bool is_ref<Ref<T>> = true;
template <class T>
inline constexpr bool is_refs = false;
template <class T>
inline constexpr bool is_refs<std::vector<Ref<T>>> = true;

/// The pairs of children that must be equal for a and b to be; false when a and b differ in kind or in other fields.
bool compare_shallow(const Node& a, const Node& b, std::vector<std::pair<const Node*, const Node*>>& pairs) {
  if (a.kind != b.kind) return false;
  return dispatch(a, [&]<class T>(const T& x) {
    const T& y = static_cast<const T&>(b);
    bool same_fields = true;
    std::apply(
        [&](auto... f) {
          [[maybe_unused]] auto one = [&](auto member) {
            const auto& u = x.*member;
            const auto& v = y.*member;
            using V = std::remove_cvref_t<decltype(u)>;
            if constexpr (is_ref<V>) {
              if (!u || !v)
                same_fields &= !u && !v;
              else
                pairs.emplace_back(u.get(), v.get());
            } else if constexpr (is_refs<V>) {
              same_fields &= u.size() == v.size();
              for (size_t i = 0; same_fields && i < u.size(); ++i) pairs.emplace_back(u[i].get(), v[i].get());
            } else {
              same_fields &= u == v;
            }
          };
          (one(f.member), ...);
        },
        T::fields());
    return same_fields;
  });
}

}  // namespace

void append_children(const Node& node, std::vector<const Node*>& out) {
  dispatch(node, [&](const auto& n) {
    each_field(n, [&](std::string_view, const auto& value) {
      using V = std::remove_cvref_t<decltype(value)>;
      if constexpr (is_ref<V>) {
        if (value) out.push_back(value.get());
      } else if constexpr (is_refs<V>) {
        for (const auto& child : value) out.push_back(child.get());
      }
    });
  });
}

bool equal(const Any& a, const Any& b) {
  if (!a || !b) return !a && !b;
  // Nodes that are compared with each other are merged into classes and taken as equal until a difference shows
  // (Hopcroft and Karp): at most as many comparisons as there are nodes, however the two sides share.
  PointerMap<const Node*> parent;
  auto class_of = [&](const Node* node) {
    while (const Node** up = parent.find(node)) {
      if (const Node** above = parent.find(*up)) *up = *above;
      node = *up;
    }
    return node;
  };
  std::vector<std::pair<const Node*, const Node*>> todo{{a.get(), b.get()}};
  while (!todo.empty()) {
    auto [x, y] = todo.back();
    todo.pop_back();
    if (x == y) continue;
    if (x->hash != y->hash) return false;
    const Node *of_x = class_of(x), *of_y = class_of(y);
    if (of_x == of_y) continue;
    parent.insert(of_x, of_y);
    if (!compare_shallow(*x, *y, todo)) return false;
  }
  return true;
}

void post_order(const Any& root, FunctionRef<void(const Node&)> visit) {
  if (!root) return;
  struct Frame {
    const Node* node;
    size_t first, next;  // its children are pool[first, end); next is the one to enter
  };
  std::vector<const Node*> pool;
  std::vector<Frame> stack;
  PointerMap<bool> seen;
  auto enter = [&](const Node* node) {
    if (seen.find(node)) return;
    seen.insert(node, true);
    size_t first = pool.size();
    append_children(*node, pool);
    stack.push_back({node, first, first});
  };
  enter(root.get());
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next < pool.size()) {
      enter(pool[top.next++]);
    } else {
      const Node* node = top.node;
      pool.resize(top.first);
      stack.pop_back();
      visit(*node);
    }
  }
}

Any rewrite(const Any& root, FunctionRef<Any(const Any&)> change) {
  if (!root) return root;
  PointerMap<Any> done;
  auto result_of = [&](const Node* node) -> const Any& { return *done.find(node); };
  post_order(root, [&](const Node& node) {
    Any rebuilt = dispatch(node, [&]<class T>(const T& n) -> Any {
      bool changed = false;
      each_field(n, [&](std::string_view, const auto& value) {
        using V = std::remove_cvref_t<decltype(value)>;
        if constexpr (is_ref<V>) {
          changed |= value && result_of(value.get()).get() != value.get();
        } else if constexpr (is_refs<V>) {
          for (const auto& child : value) changed |= result_of(child.get()).get() != child.get();
        }
      });
      if (!changed) return Any(&n);
      auto* copy = new T(n);
      Ref<T> owner(copy);
      each_field(*copy, [&](std::string_view name, auto& value) {
        using V = std::remove_cvref_t<decltype(value)>;
        if constexpr (is_ref<V>) {
          using U = std::remove_cvref_t<decltype(*value)>;
          if (!value) return;
          const Any& r = result_of(value.get());
          if constexpr (std::is_same_v<V, Stmt>) {
            // A removed body is an empty one; a removed `otherwise` is none.
            value = r || name == "otherwise" ? V(static_cast<const U*>(r.get())) : Stmt(make<Seq>());
          } else {
            TW_CHECK(r, "rewrite removed a node outside a Seq");
            value = V(static_cast<const U*>(r.get()));
          }
        } else if constexpr (is_refs<V>) {
          using U = std::remove_cvref_t<decltype(*value[0])>;
          V kept;
          kept.reserve(value.size());
          for (const auto& child : value) {
            const Any& r = result_of(child.get());
            if (r) kept.push_back(typename V::value_type(static_cast<const U*>(r.get())));
          }
          TW_CHECK(T::kKind == Kind::Seq || kept.size() == value.size(), "rewrite removed a node outside a Seq");
          value = std::move(kept);
        }
      });
      finish(copy);
      return owner;
    });
    Any result = change(rebuilt);
    done.insert(&node, std::move(result));
  });
  return result_of(root.get());
}

Any substitute(const Any& root, const std::vector<std::pair<Ref<Var>, Expr>>& values) {
  return rewrite(root, [&](const Any& node) -> Any {
    if (const Var* v = as<Var>(node)) {
      for (const auto& [var, value] : values)
        if (var->name == v->name) return value;
    }
    return node;
  });
}

Stmts phases(const Kernel& kernel) {
  const auto* seq = as<Seq>(kernel.body);
  return seq ? seq->stmts : Stmts{kernel.body};
}

Stmt with_bodies(const Stmt& s, FunctionRef<Stmt(const Stmt&)> change) {
  switch (s->kind) {
    case Kind::Seq: {
      Stmts stmts;
      for (const Stmt& child : static_cast<const Seq&>(*s).stmts) stmts.push_back(change(child));
      return sequence(std::move(stmts), s->at);
    }
    case Kind::Grid: {
      const auto& grid = static_cast<const Grid&>(*s);
      return make_at<Grid>(s->at, grid.vars, grid.extents, grid.threads, change(grid.body));
    }
    case Kind::For: {
      const auto& loop = static_cast<const For&>(*s);
      return make_at<For>(s->at, loop.how, loop.vars, loop.extents, loop.stages, change(loop.body));
    }
    case Kind::When: {
      const auto& when = static_cast<const When&>(*s);
      return make_at<When>(s->at, when.cond, change(when.then), when.otherwise ? change(when.otherwise) : Stmt());
    }
    case Kind::OnEngine: {
      const auto& on = static_cast<const OnEngine&>(*s);
      return make_at<OnEngine>(s->at, on.engine, change(on.body));
    }
    default:
      return s;
  }
}

bool reads_memory(const Expr& value) {
  bool found = false;
  post_order(value, [&](const Node& node) { found |= node.kind == Kind::Load; });
  return found;
}

}  // namespace tilewright::ir
