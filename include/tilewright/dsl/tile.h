#pragma once
// Tiles: tensor arguments and on-chip buffers, their elements and regions, and the statements on whole tiles.
#include <array>

#include "tilewright/dsl/math.h"

namespace tilewright {

using Indices = std::initializer_list<Operand>;

/// Part of a tile, or a whole one: what statements on tiles take.
class Region {
 public:
  Region(const Buffer& whole);
  Region(const Cell& cell);
  template <class T>
    requires(std::same_as<std::remove_const_t<T>, Buffer> || std::same_as<std::remove_const_t<T>, Cell>)
  Region(T&&) {
    static_assert(detail::always_false<T>, "a tile must be named: auto t = shared(...); then use t");
  }
  Region(const Region&) = delete;
  template <class T>
  void operator=(T&&) {
    static_assert(detail::always_false<T>, "a tile is not assigned: use copy(a, b), fill(t, x) or t(i, j) = x");
  }
  void operator=(const Region&) = delete;
  ~Region();
  struct Data;
  explicit Region(Data* data) : data_(data) {}
  const Data& data() const { return *data_; }

 private:
  Data* data_ = nullptr;
};

/// A tensor argument or an on-chip tile: a handle, cheap to copy, that is never assigned.
class Buffer {
 public:
  Buffer(DType type, detail::Place place) : dtype(type), place_(std::move(place)) {}
  Buffer(const Buffer&) = default;
  template <class T>
  void operator=(T&&) {
    static_assert(detail::always_false<T>, "a tile is not assigned: use copy(a, b), fill(t, x) or t(i, j) = x");
  }
  void operator=(const Buffer&) = delete;

  /// One element.
  Element operator()(const Operand& i0) const& { return at({i0}); }
  Element operator()(const Operand& i0, const Operand& i1) const& { return at({i0, i1}); }
  Element operator()(const Operand& i0, const Operand& i1, const Operand& i2) const& { return at({i0, i1, i2}); }
  Element operator()(const Operand& i0, const Operand& i1, const Operand& i2, const Operand& i3) const& {
    return at({i0, i1, i2, i3});
  }
  Element operator()(const Operand& i0, const Operand& i1, const Operand& i2, const Operand& i3,
                     const Operand& i4) const& {
    return at({i0, i1, i2, i3, i4});
  }
  Element operator()(const Operand& i0, const Operand& i1, const Operand& i2, const Operand& i3, const Operand& i4,
                     const Operand& i5) const& {
    return at({i0, i1, i2, i3, i4, i5});
  }
  template <class... T>
  Element operator()(T&&...) && {
    static_assert(detail::always_false<T...>, "a tile must be named: auto t = shared(...); then use t");
    return at({});
  }

  /// The tile that starts there; its extent is the other operand's, aligned at the last axis.
  Region operator[](Indices offset) const&;
  template <class T = void>
  Region operator[](Indices offset) && {
    static_assert(detail::always_false<T>, "a tile must be named: auto t = shared(...); then use t");
    return std::as_const(*this)[offset];
  }
  template <class T>
    requires(Traced<std::remove_cvref_t<T>> || Arithmetic<std::remove_cvref_t<T>>)
  void operator[](T&&) const {
    static_assert(detail::always_false<T>,
                  "A[i, j] is C++'s comma operator: write A(i, j) for an element, A[{i, j}] for a tile");
  }
  /// The tile that starts at `offset` with the given extents.
  Region tile(Indices offset, Indices extent, Location at = Here::current()) const&;

  /// The extents, N of them.
  template <size_t N>
  std::array<Expr, N> shape(Location at = Here::current()) const {
    check_rank(N, at);
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::array<Expr, N>{extent_value(I)...};
    }(std::make_index_sequence<N>{});
  }
  Expr extent(int64_t axis, Location at = Here::current()) const;
  int rank() const;

  const DType dtype;
  const detail::Place& place() const { return place_; }

 private:
  Element at(Indices index) const;
  void check_rank(size_t n, Location at) const;
  Expr extent_value(size_t axis) const;
  detail::Place place_;
};

// ---- making tiles: extents are host numbers, at least 1 -------------------------------------------------------------

[[nodiscard]] Buffer shared(DType type, Indices extents, Location at = Here::current());
[[nodiscard]] Buffer fragment(DType type, Indices extents, Location at = Here::current());
/// Inside `parallel` it belongs to one iteration; elsewhere to the block.
[[nodiscard]] Buffer local(DType type, Indices extents, Location at = Here::current());
/// One mutable scalar. Inside `parallel` it belongs to one iteration; elsewhere to the block.
Cell var(DType type, const Operand& init, Location at = Here::current());

// ---- statements ---------------------------------------------------------------------------------------------------

/// Evaluates x once, here.
Let let(const Operand& x);

/// Tile to tile, converting the type. Reads outside the source give `fill` (of the source's type; 0 unless
/// said), writes outside are dropped.
void copy(const Region& src, const Region& dst, Location at = Here::current());
void copy(const Region& src, const Region& dst, const Operand& fill, Location at = Here::current());
void fill(const Region& dst, const Operand& value, Location at = Here::current());
void clear(const Region& dst, Location at = Here::current());

/// What an f32 gemm may use: f32 products, or tf32 matrix units.
enum class Precision : uint8_t { exact, tf32 };
namespace precision {
inline constexpr Precision exact = Precision::exact, tf32 = Precision::tf32;
}
struct GemmOptions {
  bool transpose_a = false;  // a is (k, m)
  bool transpose_b = false;  // b is (n, k)
  Precision precision = Precision::exact;
};
/// c (m, n) += a (m, k) b (k, n), widened to c's type before multiplying.
void gemm(const Region& a, const Region& b, const Region& c, GemmOptions options = {}, Location at = Here::current());

struct ReduceOptions {
  bool accumulate = false;     // dst = op(dst, result)
  bool propagate_nan = false;  // max, min and abs_max give NaN when an element is NaN
};
struct Accumulate {
  constexpr operator ReduceOptions() const { return {.accumulate = true}; }
};
inline constexpr Accumulate accumulate{};

/// dst = op of src along `axis` (negative: from the end); dst has src's shape without that axis, or with 1 there.
void reduce_sum(const Region& src, const Region& dst, int axis, ReduceOptions options = {},
                Location at = Here::current());
void reduce_max(const Region& src, const Region& dst, int axis, ReduceOptions options = {},
                Location at = Here::current());
void reduce_min(const Region& src, const Region& dst, int axis, ReduceOptions options = {},
                Location at = Here::current());
void reduce_abs_max(const Region& src, const Region& dst, int axis, ReduceOptions options = {},
                    Location at = Here::current());

/// Refuses the kernel unless both extents are one symbol or one number, for a kernel that relies on it.
void require_equal(const Operand& a, const Operand& b);

/// Claims that the kernel writes every element of the tensor; checked mode verifies it.
void covers(const Buffer& tensor, Location at = Here::current());

}  // namespace tilewright
