#pragma once
// Walks over the IR. They visit a shared node once, keep sharing, and do not recurse on expression depth (statements
// nest at most a few hundred deep, expressions without limit).
#include "ir/nodes.h"

namespace tilewright::ir {

/// A callable passed by reference, valid during the call.
template <class>
class FunctionRef;
template <class R, class... A>
class FunctionRef<R(A...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef>)
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* object, A... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(static_cast<A>(args)...);
        }) {}
  R operator()(A... args) const { return call_(object_, static_cast<A>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

/// Appends the children of `node` in field order; null children (no `otherwise`, no `fill`) are left out.
void append_children(const Node& node, std::vector<const Node*>& out);

/// Structural equality: kinds and fields, locations aside. Shared subtrees are compared once.
bool equal(const Any& a, const Any& b);

/// Calls `visit` for every node reachable from `root`, each once, children before parents.
void post_order(const Any& root, FunctionRef<void(const Node&)> visit);

/// What a kernel runs one after the other: grids, or loops over blocks or cores.
Stmts phases(const Kernel& kernel);

/// The statement with `change` of each statement directly inside it; one without any is given back itself.
Stmt with_bodies(const Stmt& s, FunctionRef<Stmt(const Stmt&)> change);

/// Whether a value reads an element of a buffer.
bool reads_memory(const Expr& value);

/// Rebuilds bottom-up. `change` gets each distinct node once, with its children already rewritten, and returns the
/// node to use instead; returning its argument keeps it. A null result removes a statement: from its Seq, as a body (an
/// empty Seq is left), as an `otherwise`. Untouched subtrees keep their identity.
Any rewrite(const Any& root, FunctionRef<Any(const Any&)> change);

/// rewrite() for a typed root; the result must be of the same base.
template <class T>
Ref<T> rewrite_as(const Ref<T>& root, FunctionRef<Any(const Any&)> change) {
  Any result = rewrite(root, change);
  return Ref<T>(static_cast<const T*>(result.get()));
}

/// The node with every occurrence of a variable replaced by an expression of the same type.
Any substitute(const Any& root, const std::vector<std::pair<Ref<Var>, Expr>>& values);
template <class T>
Ref<T> substitute_in(const Ref<T>& root, const std::vector<std::pair<Ref<Var>, Expr>>& values) {
  Any result = substitute(root, values);
  return Ref<T>(static_cast<const T*>(result.get()));
}

}  // namespace tilewright::ir
