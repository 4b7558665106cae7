#pragma once
// The layout algebra. A layout maps logical coordinates to a place (block of the cluster, group, thread) and an offset
// in memory. It is written in mixed radix: the coordinate of an axis is split into digits, and each digit (a mode) has
// a stride.
//
//   image(x) = xor(base + sum over the digits d of x: d * stride(d))
//
// A stride is a Point, so a digit may drive the offset, a place, or several at once. Offsets and their strides count
// BITS; text and builders count elements of `element_bits`. Axes are row-major: the last axis varies fastest in a
// linear index, and within an axis the last mode is the least significant digit, as in a written number. An axis may be
// padded: its radices multiply to more than its extent. A layout that no modes express is a table.
//
// The laws (each is a property test in test/unit/layout; x is a coordinate, "expressible" means: by modes with
// strides >= 0 and at most one XOR whose bits lie below the top bit of the largest offset):
//   L1   at(x) = xor(base + sum of digit * stride), digits taken most significant first.
//   L2   parse_layout(to_string(L)) == L, structurally.
//   L3   cosize() = 1 + the largest element offset over logical coordinates; footprint() = the same over the
//        padded domain.
//   L4   coalesce(L) is the same function with the same padded extents; no two neighbouring modes of it can be
//        merged.
//   L5   equivalent(L, M) iff shapes, element sizes and, at every x, the sets of images agree.
//   L6   compose(L, T).at(x) = L.at(the index T(x) in L); refused only when no modes express it.
//   L7   divide(L, t).at(q..., r...) = L.at(q * t + r) per axis; refused only when no modes express it.
//   L8   divide_by(L, T).at(i..., j) = L.at(the index T(i) + C(j)), C = complement(T, L.size()).
//   L9   product(A, B).at(b * A.shape + a) = A.at(a) + B(b) counted in whole copies of A.
//   L10  right_inverse(L) = R: L.at(R(p)) = p for every point p of L's box; R gives the smallest such index.
//   L11  left_inverse(L) = R: R(L.at(x)) = the linear index of x, for every replica.
//   L12  complement(A, n) = B: every offset below n is A(i) + B(j) for exactly one (i, j); B ascends.
//   L13  slice, permute, concat, reshape and recast equal their pointwise definitions.
//   L14  is_injective and covers speak of logical coordinates only: padding neither collides nor covers.
//   L15  from_function(f).at(x) = f(x); it is a table only when f is not expressible.
//   L16  replicas add their strides to every image; all of them lie in images(x).
//   L17  an extent, index or offset that does not fit int64 is a UserError, never a wrapped number.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright {

using Coord = std::vector<int64_t>;

/// What a stride can drive.
enum class Dim : uint8_t { block, group, thread, offset };

/// A place and an offset, or a stride over them.
struct Point {
  int64_t block = 0;   // block in the cluster
  int64_t group = 0;   // warp group, role or sub-core
  int64_t thread = 0;  // thread of the group
  int64_t offset = 0;  // bits

  auto operator<=>(const Point&) const = default;
  int64_t& operator[](Dim d);
  int64_t operator[](Dim d) const;
};

/// One digit of a coordinate: `extent` values, `stride` apart.
struct Mode {
  int64_t extent = 1;
  Point stride;

  bool operator==(const Mode&) const = default;
  /// Builders for make_layout(), whose memory strides count elements.
  static Mode memory(int64_t extent, int64_t stride) { return {extent, {0, 0, 0, stride}}; }
  static Mode thread(int64_t extent, int64_t stride) { return {extent, {0, 0, stride, 0}}; }
  static Mode group(int64_t extent, int64_t stride) { return {extent, {0, stride, 0, 0}}; }
  static Mode block(int64_t extent, int64_t stride) { return {extent, {stride, 0, 0, 0}}; }
};

/// One logical axis: its digits, most significant first.
struct Axis {
  Axis() = default;
  Axis(Mode mode) : extent(mode.extent), modes{mode} {}  // NOLINT: one mode is an axis
  /// `logical_extent` 0 stands for the product of the radices (no padding).
  Axis(std::vector<Mode> digits, int64_t logical_extent = 0) : extent(logical_extent), modes(std::move(digits)) {}

  int64_t extent = 1;  // logical coordinates 0 .. extent - 1
  std::vector<Mode> modes;

  bool operator==(const Axis&) const = default;
  bool is_padded() const { return padded_extent() > extent; }
  int64_t padded_extent() const;
};

/// offset ^= ((offset >> from) % 2^bits) << to. Positions are bits of the bit offset. bits = 0: no swizzle.
struct Xor {
  int bits = 0;
  int to = 0;
  int from = 0;

  bool operator==(const Xor&) const = default;
  int64_t apply(int64_t offset) const { return offset ^ (((offset >> from) & ((int64_t{1} << bits) - 1)) << to); }
};

[[noreturn]] void throw_not_expressible(const std::string& reason);

/// A value, or the reason why there is none.
template <class T>
class Expected {
 public:
  Expected(T value) : value_(std::move(value)), ok_(true) {}  // NOLINT: a value is an answer
  static Expected refuse(std::string reason) {
    Expected e;
    e.reason_ = std::move(reason);
    return e;
  }
  explicit operator bool() const { return ok_; }
  /// The value; a UserError with the reason when there is none.
  const T& value() const {
    if (!ok_) throw_not_expressible(reason_);
    return value_;
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  /// A sentence, empty when there is a value.
  const std::string& reason() const { return reason_; }

 private:
  Expected() = default;
  T value_{};
  std::string reason_;
  bool ok_ = false;
};

class Layout {
 public:
  /// The scalar: rank 0, everything at 0, elements of one bit.
  Layout() = default;

  // Construction. ---------------------------------------------------------------------------------------------------
  /// Modes with strides in bits. UserError: extents below 1, radices that do not reach the extent, negative strides,
  /// memory strides that are no multiple of the element, an XOR that would split an element or whose bit ranges
  /// overlap, overflow.
  static Layout from_modes(int64_t element_bits, std::vector<Axis> axes, std::vector<Mode> replication = {},
                           Point base = {}, Xor swizzle = {});
  /// A table: `points` of every coordinate in linear order, `replicas` points each, offsets in bits.
  static Layout from_table(int64_t element_bits, Coord shape, std::vector<Point> points, int64_t replicas = 1);
  /// The points of a function, fitted by modes, then by modes under an XOR, else a table.
  static Layout from_points(int64_t element_bits, const Coord& shape, std::vector<Point> points, int64_t replicas = 1);
  /// from_points() of f(coordinate) -> Point (offset in bits), evaluated at every coordinate.
  template <class F>
  static Layout from_function(int64_t element_bits, const Coord& shape, F&& f) {
    std::vector<Point> points;
    points.reserve(static_cast<size_t>(shape_size(shape)));
    Coord x = first_coordinate(shape);
    do points.push_back(f(static_cast<const Coord&>(x)));
    while (next_coordinate(shape, x));
    return from_points(element_bits, shape, std::move(points));
  }

  /// The same modes with another replication (strides in elements), base or swizzle. UserError for a table.
  Layout with_replication(std::vector<Mode> modes) const;
  Layout with_base(Point base) const;
  Layout with_swizzle(Xor swizzle) const;
  /// The same modes with another logical extent of one axis, within its radices: grows into the padding or shrinks.
  Layout with_extent(int64_t axis, int64_t extent) const;

  // Parts. -----------------------------------------------------------------------------------------------------------
  bool is_table() const { return !table_.empty(); }
  int64_t rank() const { return static_cast<int64_t>(axes_.size()); }
  const std::vector<Axis>& axes() const { return axes_; }  // of a table: extents without modes
  const std::vector<Mode>& replication() const { return replication_; }
  const Point& base() const { return base_; }
  const Xor& swizzle() const { return xor_; }
  int64_t element_bits() const { return element_bits_; }
  const std::vector<Point>& table() const { return table_; }
  Coord shape() const;
  int64_t size() const;      // logical coordinates
  int64_t replicas() const;  // images of each coordinate

  // Evaluation. UserError: a wrong rank, a coordinate outside its axis. ---------------------------------------------
  Point at(const Coord& x, int64_t replica = 0) const;
  /// Offset of x in elements.
  int64_t element(const Coord& x) const { return at(x).offset / element_bits_; }
  /// at() of a linear index (row-major over shape()).
  Point at_index(int64_t index, int64_t replica = 0) const;
  /// Every replica's image of x.
  std::vector<Point> images(const Coord& x) const;
  int64_t linear_index(const Coord& x) const;
  Coord coordinate(int64_t index) const;

  // Extent of the image. --------------------------------------------------------------------------------------------
  /// 1 + the largest offset, in elements, over logical coordinates and replicas.
  int64_t cosize() const { return box().offset / element_bits_; }
  /// cosize() of the padded domain: the elements of memory that the layout needs.
  int64_t footprint() const { return padded().cosize(); }
  /// 1 + the largest block, group and thread, and (the largest offset + element_bits) bits.
  Point box() const;
  /// The layout whose logical extents are the products of its radices. A table has no padding.
  Layout padded() const;
  /// Whether some image has a non-zero coordinate in `dim`.
  bool uses(Dim dim) const { return box()[dim] > (dim == Dim::offset ? element_bits_ : 1); }

  /// No two logical coordinates share an image (replicas included).
  bool is_injective() const;
  /// Every point with block, group, thread and offset below `extent` (offset in bits) is the image of a coordinate.
  bool covers(const Point& extent) const;
  /// covers(box()): no holes.
  bool is_compact() const { return covers(box()); }

  // Rearranging; all exact. -----------------------------------------------------------------------------------------
  /// Fixes one axis; the rank drops by one.
  Layout slice(int64_t axis, int64_t coordinate) const;
  /// Axis i of the result is axis order[i] of this.
  Layout permute(const Coord& order) const;
  Layout transpose() const;  // rank 2

  /// Structural equality; equivalent() compares functions.
  bool operator==(const Layout&) const = default;
  uint64_t hash() const;

  /// Iteration over a shape in linear order.
  static int64_t shape_size(const Coord& shape);
  static Coord first_coordinate(const Coord& shape) { return Coord(shape.size(), 0); }
  static bool next_coordinate(const Coord& shape, Coord& x);

 private:
  Point raw(const Coord& x, int64_t replica) const;

  int64_t element_bits_ = 1;
  std::vector<Axis> axes_;
  std::vector<Mode> replication_;
  Point base_;
  Xor xor_;
  std::vector<Point> table_;
  int64_t table_replicas_ = 1;
};

using LayoutResult = Expected<Layout>;

/// Layout::from_modes with memory strides in elements: make_layout(16, {Mode::memory(8, 64), Mode::memory(64, 1)}).
Layout make_layout(int64_t element_bits, std::vector<Axis> axes);
/// Row-major; column-major for col_major. As an index layout (element_bits 1) it is the identity on linear indices.
Layout row_major(const Coord& shape, int64_t element_bits = 1);
Layout col_major(const Coord& shape, int64_t element_bits = 1);

// The algebra. An *index layout* has no places and no replicas; its element offset is a linear index into another
// layout. Each answers a layout, or a reason that names the digit or the first coordinate that no modes can reach.
// Beyond kSearchLimit points only the closed rules are tried, and the reason says so. A client that must go on takes
// *_or_table.
inline constexpr int64_t kSearchLimit = 1 << 16;

Layout coalesce(const Layout& layout);
bool equivalent(const Layout& a, const Layout& b);
/// x -> layout(index(x)). UserError: index is no index layout, or reaches beyond layout.size().
LayoutResult compose(const Layout& layout, const Layout& index);
/// compose(), as a table where no modes express it.
Layout compose_or_table(const Layout& layout, const Layout& index);
/// Splits every axis by a tile extent: (q0, q1, ..., r0, r1, ...), q counts tiles. Refused when a tile does not divide.
LayoutResult divide(const Layout& layout, const Coord& tile);
/// (axes of tile..., rest): the elements that `tile` selects, and the positions to which it must be moved.
LayoutResult divide_by(const Layout& layout, const Layout& tile);
/// Repeats `atom` in the pattern `copies` (same rank): offsets of copies count atom footprints, places count atom
/// places.
LayoutResult product(const Layout& atom, const Layout& copies);
/// The axes of the inverses: block, group and thread where the layout uses them, then the offset in elements; values
/// are linear indices.
LayoutResult right_inverse(const Layout& layout);
LayoutResult left_inverse(const Layout& layout);
/// The coordinate of `p` in the domain of the layout's inverses.
Coord inverse_coordinate(const Layout& layout, const Point& p);
/// The missing index digits of an index-like layout up to `n` along `dim` (offset: elements). Result: rank 1, along
/// `dim`.
LayoutResult complement(const Layout& layout, int64_t n, Dim dim = Dim::offset);
/// (axes of a..., axes of b...): images add.
LayoutResult concat(const Layout& a, const Layout& b);
/// Another shape over the same linear indices.
LayoutResult reshape(const Layout& layout, const Coord& shape);
/// The same memory seen in elements of `bits`: the last axis shrinks or grows.
LayoutResult recast(const Layout& layout, int64_t bits);

// Text. -------------------------------------------------------------------------------------------------------------
//   16b[(2:256,16:16)<20,(2:512,16:1)] xor(7-9,10-12) rep(4:1t) at 2t+8
// element bits (left out: 1), axes with modes extent:stride most significant first, <extent where padded. Strides: a
// number of elements, or with t, g, c a number of threads, groups, blocks of the cluster; sums as in 8:1t+2. Then what
// applies of the XOR (bits 7-9 ^= bits 10-12 of the bit offset), the replicas and the base. A table:
//   16b table[2,3]{0,1,2,5,4,3}      with replicas: {0|1t,2|2+1t}
std::string to_string(const Layout& layout);
/// UserError with the column of the first wrong character.
Layout parse_layout(std::string_view text);
/// The layout at the front of a longer text, which it removes from the front of `text`.
Layout parse_layout_front(std::string_view& text);

// Well-known layouts. -----------------------------------------------------------------------------------------------
struct NamedLayout {
  std::string name;
  std::string parameters;  // "MxN:dtype"
  std::string what;
};
/// Every name that named_layout() knows.
const std::vector<NamedLayout>& named_layouts();
/// "nz:16x32:f16", "mma_m16n8k16_a", "wgmma_d:64". UserError lists what exists.
Layout named_layout(std::string_view spec);

namespace known {
/// Ascend fractals of 512 bytes, shape (rows, columns); rows and columns padded to whole fractals.
Layout nz(int64_t rows, int64_t columns, int64_t element_bits);
Layout zz(int64_t rows, int64_t columns, int64_t element_bits);
Layout zn(int64_t rows, int64_t columns, int64_t element_bits);
/// Nz with 16 x 16 fractals of 32-bit accumulators.
Layout nz_accumulator(int64_t rows, int64_t columns);
/// Packed CPU panels: A (m, k) in panels of `rows` rows, B (k, n) in panels of `columns` columns; the last one padded.
Layout panel_a(int64_t m, int64_t k, int64_t element_bits, int64_t rows = 6);
Layout panel_b(int64_t k, int64_t n, int64_t element_bits, int64_t columns = 16);
/// mma.sync fragments over 32 threads. A (16, k), B (k, 8), C (16, 8); offsets count the registers' elements.
/// element_bits 16: k = 16; 32 (tf32): k = 8; 8: k = 32. C holds 32-bit elements.
Layout mma_a(int64_t element_bits);
Layout mma_b(int64_t element_bits);
Layout mma_c(int64_t accumulator_bits = 32);
/// wgmma fragments over 128 threads. D (64, n), A (64, k) in registers, k as in mma_a.
Layout wgmma_d(int64_t n, int64_t accumulator_bits = 32);
Layout wgmma_a(int64_t element_bits);
/// Shared tile (rows, columns) in rows of `span_bytes` (128, 64 or 32), where the low 3 (2, 1) bits of the 16-byte
/// chunk are XORed with those of the 128-byte line; wider tiles are panels of span_bytes one after the other.
Layout swizzled(int64_t rows, int64_t columns, int64_t element_bits, int64_t span_bytes = 128);
}  // namespace known

// Drawing. ----------------------------------------------------------------------------------------------------------
/// A grid of place and element offset, one grid for each index of the leading axes. UserError above 65536 cells.
std::string draw_text(const Layout& layout);
/// The same as SVG; cells coloured by thread, or by 4-byte bank when no thread is used; padding in grey.
std::string draw_svg(const Layout& layout);

}  // namespace tilewright
