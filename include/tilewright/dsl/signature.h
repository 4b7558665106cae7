#pragma once
// What a kernel takes. signature(tensor(...), scalar(...)) gives the builder one Buffer for each tensor and one Expr
// for each scalar, in order.
#include "tilewright/dsl/loop.h"

namespace tilewright {

/// An extent or stride of a tensor argument: a symbol (one name, one value) or a fixed number.
struct DimSpec {
  DimSpec(const char* symbol) : name(symbol) {}
  DimSpec(std::string symbol) : name(std::move(symbol)) {}
  template <std::integral T>
  DimSpec(T n) : fixed(static_cast<int64_t>(n)) {}
  std::string name;   // empty: fixed
  int64_t fixed = 0;  // elements
};

/// A tensor argument. Strides are run-time symbols NAME_stride0.. unless said.
struct TensorSpec {
  enum class Access : uint8_t { inferred, in, out, inout };
  std::string name;
  DType dtype;
  std::vector<DimSpec> dims;
  std::vector<DimSpec> stride;  // empty: symbols, or products of extents
  bool row_major = false;
  Access access = Access::inferred;
  Location at;

  /// Row-major and without gaps: strides are products of extents.
  TensorSpec contiguous() && { return row_major = true, std::move(*this); }
  /// Strides in elements, one an axis.
  TensorSpec strides(std::initializer_list<DimSpec> s) && { return stride = s, std::move(*this); }
  TensorSpec in() && { return access = Access::in, std::move(*this); }
  TensorSpec out() && { return access = Access::out, std::move(*this); }
  TensorSpec inout() && { return access = Access::inout, std::move(*this); }
};

struct ScalarSpec {
  std::string name;
  DType dtype;
  Location at;
};

inline TensorSpec tensor(std::string name, DType type, std::initializer_list<DimSpec> dims,
                         Location at = Here::current()) {
  TensorSpec t;
  t.name = std::move(name), t.dtype = type, t.dims = dims, t.at = at;
  return t;
}
inline ScalarSpec scalar(std::string name, DType type, Location at = Here::current()) {
  return {std::move(name), type, at};
}

/// The arguments with their C++ types erased.
struct Arguments {
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
};

template <class... S>
struct Signature : Arguments {};

/// The kernel's arguments in the order of the builder's parameters.
template <class... S>
  requires((std::same_as<S, TensorSpec> || std::same_as<S, ScalarSpec>) && ...)
Signature<S...> signature(S... specs) {
  Signature<S...> s;
  [[maybe_unused]] auto add = [&](auto& spec) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(spec)>, TensorSpec>)
      s.tensors.push_back(std::move(spec));
    else
      s.scalars.push_back(std::move(spec));
  };
  (add(specs), ...);
  return s;
}

/// The user's function with its type erased: call(context, tensors, scalars).
struct Builder {
  void (*call)(void* context, Buffer* tensors, Expr* scalars) = nullptr;
  void* context = nullptr;
};

namespace detail {

template <class S>
using ArgumentOf = std::conditional_t<std::same_as<S, TensorSpec>, Buffer, Expr>;

template <class... S>
constexpr size_t count_before(size_t n, bool tensors) {
  constexpr bool is_tensor[] = {std::same_as<S, TensorSpec>..., false};
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) count += is_tensor[i] == tensors;
  return count;
}

template <class... S, class F, size_t... I>
void call_builder(F& f, Buffer* tensors, Expr* scalars, std::index_sequence<I...>) {
  [[maybe_unused]] auto pick = [&]<class T, size_t K>() -> ArgumentOf<T>& {
    if constexpr (std::same_as<T, TensorSpec>)
      return tensors[count_before<S...>(K, true)];
    else
      return scalars[count_before<S...>(K, false)];
  };
  f(pick.template operator()<S, I>()...);
}

}  // namespace detail

/// Erases the type of `f`, which must outlive the result.
template <class... S, class F>
Builder make_builder(const Signature<S...>&, F& f) {
  static_assert(std::is_invocable_v<F&, detail::ArgumentOf<S>&...>,
                "the kernel's parameters do not match its signature: it is called with a Buffer for each tensor(...) "
                "and an Expr for each scalar(...), in order");
  return {[](void* context, Buffer* tensors, Expr* scalars) {
            detail::call_builder<S...>(*static_cast<F*>(context), tensors, scalars,
                                       std::make_index_sequence<sizeof...(S)>{});
          },
          &f};
}

}  // namespace tilewright
