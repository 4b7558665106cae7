// Well-known layouts, each built from the algebra: an atom repeated by product(), then cut to its logical extent.
#include <fmt/format.h>

#include <string_view>

#include "layout/arith.h"
#include "tilewright/layout.h"

namespace tilewright {
namespace {

void check_extents(const char* what, int64_t a, int64_t b) {
  if (a < 1 || b < 1) throw UserError({}, fmt::format("{}: extents ({}, {}); wanted 1 or more", what, a, b));
}

void check_bits(const char* what, int64_t bits, std::initializer_list<int64_t> allowed) {
  for (int64_t b : allowed)
    if (b == bits) return;
  throw UserError({}, fmt::format("{}: elements of {} bits; wanted {}", what, bits, fmt::join(allowed, ", ")));
}

/// Repeats `atom` (rank 2) by `copies` and cuts the result to (rows, columns).
Layout tiled(const Layout& atom, const Layout& copies, int64_t rows, int64_t columns) {
  Layout whole = coalesce(product(atom, copies).value());
  return whole.with_extent(0, rows).with_extent(1, columns);
}

/// Fractals of `rows` x `columns` elements, row- or column-major inside, that follow each other along the rows of
/// fractals (row_first) or down their columns.
Layout fractals(const Coord& shape, const Coord& fractal, int64_t bits, bool row_major_inside, bool row_first) {
  Coord count{ceil_div(shape[0], fractal[0]), ceil_div(shape[1], fractal[1])};
  Layout atom = row_major_inside ? row_major(fractal, bits) : col_major(fractal, bits);
  return tiled(atom, row_first ? row_major(count) : col_major(count), shape[0], shape[1]);
}

constexpr int64_t kFractalRows = 16;
constexpr int64_t kFractalRowBits = 256;  // C0: 32 bytes

}  // namespace

namespace known {

Layout nz(int64_t rows, int64_t columns, int64_t bits) {
  check_extents("nz", rows, columns);
  check_bits("nz", bits, {4, 8, 16, 32});
  return fractals({rows, columns}, {kFractalRows, kFractalRowBits / bits}, bits, true, false);
}

Layout zz(int64_t rows, int64_t columns, int64_t bits) {
  check_extents("zz", rows, columns);
  check_bits("zz", bits, {4, 8, 16, 32});
  return fractals({rows, columns}, {kFractalRows, kFractalRowBits / bits}, bits, true, true);
}

Layout zn(int64_t rows, int64_t columns, int64_t bits) {
  check_extents("zn", rows, columns);
  check_bits("zn", bits, {4, 8, 16, 32});
  return fractals({rows, columns}, {kFractalRowBits / bits, kFractalRows}, bits, false, true);
}

Layout nz_accumulator(int64_t rows, int64_t columns) {
  check_extents("nz_accumulator", rows, columns);
  return fractals({rows, columns}, {kFractalRows, kFractalRows}, 32, true, false);
}

Layout panel_a(int64_t m, int64_t k, int64_t bits, int64_t rows) {
  check_extents("panel_a", m, k);
  check_extents("panel_a", rows, bits);
  return tiled(col_major({rows, k}, bits), row_major({ceil_div(m, rows), 1}), m, k);
}

Layout panel_b(int64_t k, int64_t n, int64_t bits, int64_t columns) {
  check_extents("panel_b", k, n);
  check_extents("panel_b", columns, bits);
  return tiled(row_major({k, columns}, bits), row_major({1, ceil_div(n, columns)}), k, n);
}

// An mma fragment keeps one 32-bit register of neighbouring elements a thread; 8 groups of 4 threads make 8 rows of 4
// registers.
namespace {
constexpr int64_t kRegisterBits = 32;
Layout register_rows(int64_t bits) {  // (8, 4 registers)
  int64_t packed = kRegisterBits / bits;
  return make_layout(bits, {Axis(Mode::thread(8, 4)), Axis({Mode::thread(4, 1), Mode::memory(packed, 1)})});
}
}  // namespace

Layout mma_a(int64_t bits) {
  check_bits("mma_a", bits, {8, 16, 32});
  // Registers: rows 0..7 and 8..15 of the first half of k, then of the second.
  return product(register_rows(bits), col_major({2, 2})).value();
}

Layout mma_b(int64_t bits) {
  check_bits("mma_b", bits, {8, 16, 32});
  return product(register_rows(bits), row_major({1, 2})).value().transpose();
}

Layout mma_c(int64_t bits) {
  check_bits("mma_c", bits, {16, 32});
  Layout rows = make_layout(bits, {Axis(Mode::thread(8, 4)), Axis({Mode::thread(4, 1), Mode::memory(2, 1)})});
  return product(rows, row_major({2, 1})).value();
}

Layout wgmma_d(int64_t n, int64_t bits) {
  if (n < 8 || n > 256 || n % 8 != 0)
    throw UserError({}, fmt::format("wgmma_d: n = {}; wanted a multiple of 8 from 8 to 256", n));
  return product(mma_c(bits), make_layout(1, {Mode::thread(4, 1), Mode::memory(n / 8, 1)})).value();
}

Layout wgmma_a(int64_t bits) {
  return product(mma_a(bits), make_layout(1, {Mode::thread(4, 1), Mode::memory(1, 0)})).value();
}

Layout swizzled(int64_t rows, int64_t columns, int64_t bits, int64_t span_bytes) {
  check_extents("swizzled", rows, columns);
  check_bits("swizzled", bits, {4, 8, 16, 32, 64});
  int xor_bits = span_bytes == 128 ? 3 : span_bytes == 64 ? 2 : span_bytes == 32 ? 1 : 0;
  if (xor_bits == 0) throw UserError({}, fmt::format("swizzled: a span of {} bytes; wanted 128, 64 or 32", span_bytes));
  int64_t span = span_bytes * 8 / bits;
  // Chunks of 16 bytes start at bit 7 of the bit offset; every 128 bytes of the tile move on the XOR, from bit 10.
  Layout panels = tiled(row_major({rows, span}, bits), row_major({1, ceil_div(columns, span)}), rows, columns);
  return panels.with_swizzle({xor_bits, 7, 10});
}

}  // namespace known

namespace {

struct Request {
  std::string_view name;
  std::vector<std::string_view> parameters;
};

struct Entry {
  NamedLayout doc;
  Layout (*make)(const Request&);
};

[[noreturn]] void bad(const Request& r, const std::string& what);

int64_t parse_int(const Request& r, std::string_view s) {
  int64_t v = 0;
  if (s.empty() || s.size() > 9) bad(r, fmt::format("'{}' is no extent", s));
  for (char c : s) {
    if (c < '0' || c > '9') bad(r, fmt::format("'{}' is no extent", s));
    v = v * 10 + (c - '0');
  }
  if (v < 1) bad(r, "an extent must be 1 or more");
  return v;
}

int64_t parse_bits(const Request& r, std::string_view s) {
  static constexpr std::pair<std::string_view, int64_t> kBits[] = {
      {"f64", 64}, {"f32", 32}, {"tf32", 32}, {"f16", 16}, {"bf16", 16}, {"e4m3", 8}, {"e5m2", 8}, {"e8m0", 8},
      {"e2m1", 4}, {"i4", 4},   {"u4", 4},    {"i8", 8},   {"u8", 8},    {"i16", 16}, {"u16", 16}, {"i32", 32},
      {"u32", 32}, {"i64", 64}, {"u64", 64},  {"bool", 8}, {"e3m2", 8},  {"e2m3", 8}, {"e5m6", 16}};
  for (auto [name, bits] : kBits)
    if (name == s) return bits;
  bad(r, fmt::format("'{}' is no element type such as f16, bf16, f32, e4m3 or i8", s));
}

std::pair<int64_t, int64_t> parse_shape(const Request& r, std::string_view s) {
  size_t x = s.find('x');
  if (x == std::string_view::npos) bad(r, fmt::format("'{}' is no shape such as 16x32", s));
  return {parse_int(r, s.substr(0, x)), parse_int(r, s.substr(x + 1))};
}

using TileLayout = Layout (*)(int64_t rows, int64_t columns, int64_t bits);

template <TileLayout F>
Layout of_tile(const Request& r) {
  if (r.parameters.size() != 2) bad(r, fmt::format("{} parameters", r.parameters.size()));
  auto [rows, columns] = parse_shape(r, r.parameters[0]);
  return F(rows, columns, parse_bits(r, r.parameters[1]));
}

template <Layout (*F)(int64_t), int64_t Bits>
Layout of_bits(const Request& r) {
  if (!r.parameters.empty()) bad(r, fmt::format("{} parameters", r.parameters.size()));
  return F(Bits);
}

std::string_view only_parameter(const Request& r) {
  if (r.parameters.size() != 1) bad(r, fmt::format("{} parameters", r.parameters.size()));
  return r.parameters[0];
}

Layout nz_accumulator_of(const Request& r) {
  auto [rows, columns] = parse_shape(r, only_parameter(r));
  return known::nz_accumulator(rows, columns);
}

Layout wgmma_a_of(const Request& r) { return known::wgmma_a(parse_bits(r, only_parameter(r))); }
Layout wgmma_d_of(const Request& r) { return known::wgmma_d(parse_int(r, only_parameter(r))); }

Layout rows_of(int64_t m, int64_t n, int64_t bits) { return row_major({m, n}, bits); }
Layout columns_of(int64_t m, int64_t n, int64_t bits) { return col_major({m, n}, bits); }
Layout panel_a_of(int64_t m, int64_t k, int64_t bits) { return known::panel_a(m, k, bits); }
Layout panel_b_of(int64_t k, int64_t n, int64_t bits) { return known::panel_b(k, n, bits); }
template <int64_t Span>
Layout swizzled_of(int64_t m, int64_t n, int64_t bits) {
  return known::swizzled(m, n, bits, Span);
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"row", "MxN:dtype", "row-major"}, of_tile<rows_of>},
      {{"col", "MxN:dtype", "column-major"}, of_tile<columns_of>},
      {{"nz", "MxN:dtype", "Ascend L1: fractals down the columns, rows inside"}, of_tile<known::nz>},
      {{"zz", "MxN:dtype", "Ascend L0A: fractals along the rows, rows inside"}, of_tile<known::zz>},
      {{"zn", "KxN:dtype", "Ascend L0B: fractals along the rows, columns inside"}, of_tile<known::zn>},
      {{"nz_acc", "MxN", "Ascend L0C: 16x16 fractals of 32-bit accumulators"}, nz_accumulator_of},
      {{"panel_a", "MxK:dtype", "CPU: packed panels of 6 rows"}, of_tile<panel_a_of>},
      {{"panel_b", "KxN:dtype", "CPU: packed panels of 16 columns"}, of_tile<panel_b_of>},
      {{"mma_m16n8k16_a", "", "A (16, 16), 16 bits, 32 threads"}, of_bits<known::mma_a, 16>},
      {{"mma_m16n8k16_b", "", "B (16, 8), 16 bits, 32 threads"}, of_bits<known::mma_b, 16>},
      {{"mma_m16n8k16_c", "", "C (16, 8), f32, 32 threads"}, of_bits<known::mma_c, 32>},
      {{"mma_m16n8k8_a", "", "A (16, 8), tf32, 32 threads"}, of_bits<known::mma_a, 32>},
      {{"mma_m16n8k8_b", "", "B (8, 8), tf32, 32 threads"}, of_bits<known::mma_b, 32>},
      {{"mma_m16n8k8_c", "", "C (16, 8), f32, 32 threads"}, of_bits<known::mma_c, 32>},
      {{"mma_m16n8k32_a", "", "A (16, 32), 8 bits, 32 threads"}, of_bits<known::mma_a, 8>},
      {{"mma_m16n8k32_b", "", "B (32, 8), 8 bits, 32 threads"}, of_bits<known::mma_b, 8>},
      {{"mma_m16n8k32_c", "", "C (16, 8), f32 or i32, 32 threads"}, of_bits<known::mma_c, 32>},
      {{"wgmma_a", "dtype", "A (64, 256 bits) in registers of 128 threads"}, wgmma_a_of},
      {{"wgmma_d", "N", "accumulator (64, N), f32, 128 threads"}, wgmma_d_of},
      {{"swizzle128", "MxN:dtype", "shared tile, 128-byte XOR swizzle"}, of_tile<swizzled_of<128>>},
      {{"swizzle64", "MxN:dtype", "shared tile, 64-byte XOR swizzle"}, of_tile<swizzled_of<64>>},
      {{"swizzle32", "MxN:dtype", "shared tile, 32-byte XOR swizzle"}, of_tile<swizzled_of<32>>},
  };
  return all;
}

std::string usage(const NamedLayout& d) { return d.parameters.empty() ? d.name : d.name + ":" + d.parameters; }

void bad(const Request& r, const std::string& what) {
  for (const Entry& e : entries())
    if (e.doc.name == r.name) throw UserError({}, fmt::format("layout {}: {}; wanted {}", r.name, what, usage(e.doc)));
  throw UserError({}, fmt::format("layout {}: {}", r.name, what));
}

}  // namespace

const std::vector<NamedLayout>& named_layouts() {
  static const std::vector<NamedLayout> all = [] {
    std::vector<NamedLayout> v;
    for (const Entry& e : entries()) v.push_back(e.doc);
    return v;
  }();
  return all;
}

Layout named_layout(std::string_view spec) {
  Request r;
  size_t at = spec.find(':');
  r.name = spec.substr(0, at);
  while (at != std::string_view::npos) {
    size_t next = spec.find(':', at + 1);
    r.parameters.push_back(spec.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
  for (const Entry& e : entries())
    if (e.doc.name == r.name) return e.make(r);
  std::string list;
  for (const Entry& e : entries()) list += fmt::format("{}{}", list.empty() ? "" : ", ", usage(e.doc));
  throw UserError({}, fmt::format("no layout is named '{}'; there are {}", r.name, list));
}

}  // namespace tilewright
