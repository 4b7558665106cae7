// What the six programs do not use of the language, on every machine: the interpreter's result, bit for bit. Data are
// small integers, which f32 holds exactly.
#include <gtest/gtest.h>

#include <limits>

#include "tilewright/jit.h"

namespace tilewright::test {
namespace {

/// A kernel of x, y (N) f32 and n i64.
struct Feature {
  const char* name;
  void (*build)(Buffer x, Buffer y, Expr n);
  std::string_view refused_by = {};  // a machine that refuses it at compile time
};

void one_iterations_own(Buffer x, Buffer y, Expr) {
  for (Var b : grid(ceildiv(x.extent(0), 48), threads{16})) {
    auto t = shared(f32, {48}), r = shared(f32, {48});
    copy(x[{b * 48}], t);
    for (Var i : parallel(48)) {
      auto sum = var(f32, 0);
      auto last = local(f32, {3});
      for (Var k : serial(3)) {
        last(k) = t((i + k) % 48);
        sum += t((i * k) % 48);
      }
      r(i) = sum * 2 + last(i % 3);
    }
    copy(r, y[{b * 48}]);
  }
}

void the_blocks_own(Buffer x, Buffer y, Expr) {
  for (Var b : grid(ceildiv(x.extent(0), 32), threads{8})) {
    auto t = fragment(f32, {32});
    auto sum = fragment(f32, {1});
    auto bias = var(f32, 1);
    copy(x[{b * 32}], t);
    reduce_sum(t, sum, 0);
    bias += sum(0);
    for (Var i : parallel(32)) t(i) += bias;
    copy(t, y[{b * 32}]);
  }
}

void two_phases(Buffer x, Buffer y, Expr) {
  auto [N] = x.shape<1>();
  for (Var b : grid(ceildiv(N, 40), threads{16})) {
    auto t = shared(f32, {40});
    copy(x[{b * 40}], t);
    copy(t, y[{b * 40}]);
  }
  for (Var b : grid(ceildiv(N, 24), threads{16})) {
    auto t = shared(f32, {24}), r = shared(f32, {24});
    copy(y[{b * 24}], t);
    for (Var i : parallel(24)) r(i) = t(23 - i) + t(i);
    copy(r, y[{b * 24}]);
  }
}

void branches_around_tiles(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 16), threads{16})) {
    auto t = shared(f32, {16});
    when(b % 2 == 0, [&] { copy(x[{b * 16}], t); }).otherwise([&] { fill(t, 7); });
    for (Var k : serial(n)) {
      auto r = shared(f32, {16});
      for (Var i : parallel(16)) r(i) = t(15 - i);
      when(k < 2, [&] {
        for (Var i : parallel(16)) t(i) = r(i) + k;
      });
    }
    copy(t, y[{b * 16}]);
  }
}

void integers(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 32), threads{32})) {
    auto t = shared(f32, {32});
    auto w = shared(i32, {32});
    copy(x[{b * 32}], t);
    for (Var i : parallel(32)) {
      auto v = let(cast(i32, t(i)) * 7 - cast(i32, n) * 11);
      w(i) = v / 3 + v % 5 + truncdiv(v, 4) - (v >> 2) + (v & 6);
    }
    for (Var i : parallel(32)) t(i) = cast(f32, w(31 - i));
    copy(t, y[{b * 32}]);
  }
}

/// No blocks: two extents below 0 make a positive product. Then a grid of one block.
void no_blocks(Buffer x, Buffer y, Expr n) {
  for (auto [p, q] : grid(n - 5, n - 4)) {
    (void)p;
    auto t = shared(f32, {16});
    fill(t, 3);
    copy(t, y[{0}]);
  }
  for (Var b : grid(1, threads{16})) {
    auto t = shared(f32, {16});
    copy(x[{b * 16}], t);
    copy(t, y[{b * 16}]);
  }
}

/// i64 elements beside numbers that would fit an int.
void wide_choices(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 16), threads{16})) {
    auto t = shared(f32, {16});
    auto w = shared(i64, {16});
    copy(x[{b * 16}], t);
    for (Var i : parallel(16)) w(i) = cast(i64, t(i)) << 33;
    for (Var i : parallel(16)) t(i) = cast(f32, select(i < n, w(i), 7) >> 31);
    copy(t, y[{b * 16}]);
  }
}

/// Offsets, fillings and extents are read once, before the statement that overwrites them.
void its_own_offsets(Buffer x, Buffer y, Expr) {
  for (Var b : grid(ceildiv(x.extent(0), 32), threads{16})) {
    auto t = shared(f32, {32});
    auto at = shared(i32, {40}), count = shared(i32, {64});
    auto s = shared(i32, {1, 40});
    fill(at, 3);
    fill(count, 40);
    // The source's offset is an element of the destination.
    for (Var i : parallel(40)) s(0, i) = i + b;
    at(0) = 2;
    copy(s[{0, at(0)}], at);
    fill(at.tile({1}, {7}), at(1) + 1);
    reduce_max(s, at.tile({at(5)}, {1}), 1, {.accumulate = true});
    // An extent that the loop's body overwrites.
    for (Var i : parallel(count(0))) count(i) = i;
    for (Var k : serial(count(3))) count(3) += k;
    copy(x[{b * 32}], t);
    for (Var i : parallel(32)) t(i) += at(i) + count(i) * 2 + s(0, i);
    copy(t, y[{b * 32}]);
  }
}

/// Copies from and to offsets close to the ends of i64, which touch nothing.
void far_away(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 16), threads{16})) {
    auto end = let((int64_t{1} << 62) - (n >> 60 & 1));
    auto t = shared(f32, {16}), r = shared(f32, {16});
    copy(x[{b * 16}], t);
    for (Var k : serial(20)) {
      copy(x[{end * 2 + k}], r);
      for (Var i : parallel(16)) t(i) += r(i);
      copy(x[{end * 2 - 1 - k}], r);
      for (Var i : parallel(16)) t(i) += r(i);
      copy(x[{std::numeric_limits<int64_t>::max() - 2}], r);
      for (Var i : parallel(16)) t(i) += r(i);
      copy(t, y[{end - 1 + end - k}]);
    }
    copy(t, y[{b * 16}]);
  }
}

/// From tensor to tensor, both far outside; writes before the start of a tensor too.
void far_away_twice(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 16), threads{16})) {
    auto t = shared(f32, {16});
    auto end = let((int64_t{1} << 62) - (n >> 60 & 1));
    copy(x[{b * 16}], t);
    for (Var k : serial(20)) {
      copy(x.tile({end * 2 + k}, {16}), y[{end * 2 - 1 - k}]);
      copy(x.tile({end * 2 - 1 - k}, {16}), y[{end * 2 + k}]);
      copy(x.tile({end * 2 + k}, {16}), y[{end * 2 + 3}]);
      copy(t, y[{end * 2 + k}]);
    }
    copy(t, y[{b * 16}]);
  }
}

/// Rows, columns and planes of fragments: sums, extrema, broadcasts; y gets what depends on each.
template <int kRows, int kColumns, int kThreads>
void fragments(Buffer x, Buffer y, Expr) {
  constexpr int kSize = kRows * kColumns;
  for (Var b : grid(ceildiv(x.extent(0), kSize), threads{kThreads})) {
    auto line = shared(f32, {kSize}), out = shared(f32, {kSize});
    auto v = fragment(f32, {kRows, kColumns}), w = fragment(f32, {kRows, kColumns});
    auto sums = fragment(f32, {kRows}), most = fragment(f32, {kRows, 1}), least = fragment(f32, {kColumns});
    auto widest = fragment(f32, {1, kColumns}), all = fragment(f32, {1});
    copy(x[{b * kSize}], line);
    for (auto [i, j] : parallel(kRows, kColumns)) v(i, j) = line(i * kColumns + j);
    reduce_sum(v, sums, 1);
    reduce_max(v, most, 1);
    copy(v, w);
    for (auto [i, j] : parallel(kRows, kColumns)) w(i, j) += sums(i) - most(i, 0);
    fill(least, 3);
    reduce_min(w, least, 0, accumulate);
    reduce_abs_max(w, widest, 0);
    reduce_sum(sums, all, 0);
    for (auto [j, i] : parallel(kColumns, kRows)) w(i, j) += widest(0, j) * 2 + least(j);
    for (auto [i, j] : parallel(kRows, kColumns)) out(i * kColumns + j) = w(i, j) + all(0);
    copy(out, y[{b * kSize}]);
  }
}

/// Sums and extrema of each type, to their bounds; y gets what depends on all.
template <DType... kTypes>
void reductions_of(Buffer x, Buffer y, Expr) {
  constexpr int kRows = 3, kColumns = 40;
  for (Var b : grid(1, threads{64})) {
    auto line = shared(f32, {97}), out = shared(f32, {kRows});
    copy(x[{b}], line);
    fill(out, 0);
    auto one_type = [&](DType type) {
      auto v = fragment(type, {kRows, kColumns});
      auto sum = fragment(type, {kRows}), most = fragment(type, {kRows}), least = fragment(type, {kRows});
      for (auto [i, j] : parallel(kRows, kColumns)) v(i, j) = cast(type, abs(line((i * 31 + j) % 97)) / 8);
      reduce_sum(v, sum, 1);
      reduce_max(v, most, 1);
      reduce_min(v, least, 1);
      for (Var i : parallel(kRows)) out(i) += cast(f32, sum(i)) + cast(f32, most(i)) * 16 - cast(f32, least(i)) * 32;
    };
    (one_type(kTypes), ...);
    copy(out, y[{b}]);
  }
}

void reductions_of_integers(Buffer x, Buffer y, Expr n) {
  reductions_of<i8, i16, i32, i64, u8, u16, u32, u64>(x, y, n);
}
void reductions_of_doubles(Buffer x, Buffer y, Expr n) { reductions_of<f64>(x, y, n); }

/// A loop that reads and writes memory beside a fragment that several threads would hold.
void fragments_and_updates(Buffer x, Buffer y, Expr) {
  for (Var b : grid(ceildiv(x.extent(0), 96), threads{64})) {
    auto t = shared(f32, {96}), q = shared(f32, {3});
    auto v = fragment(f32, {3, 32});
    auto r = fragment(f32, {3}), w = fragment(f32, {3});
    copy(x[{b * 96}], t);
    fill(q, 1);
    for (auto [i, j] : parallel(3, 32)) v(i, j) = t(i * 32 + j);
    reduce_sum(v, r, 1);
    for (Var i : parallel(3)) {
      w(i) = q(i) + r(i);
      q(i) = w(i) * 2;
      r(i) = q(i) - 1;
    }
    for (auto [i, j] : parallel(3, 32)) t(i * 32 + j) = v(i, j) + r(i) + w(i) + q(i);
    copy(t, y[{b * 96}]);
  }
}

/// Distributed tiles beside memory that other threads write: in loops that are dealt out differently.
void fragments_and_memory(Buffer x, Buffer y, Expr n) {
  for (Var b : grid(ceildiv(x.extent(0), 96), threads{64})) {
    auto t = shared(f32, {96}), s = shared(f32, {3, 32});
    auto v = fragment(f32, {3, 32}), m = fragment(f32, {2, 3, 4});
    auto r = fragment(f32, {3});
    auto q = shared(f32, {3}), u = shared(f32, {3});
    copy(x[{b * 96}], t);
    fill(m, 2);
    fill(q, 1);
    for (auto [i, j] : parallel(3, 32)) v(i, j) = t(95 - i * 32 - j);
    for (Var k : serial(n)) {
      copy(v, s);
      for (auto [i, j] : parallel(3, 32)) v(i, j) = s(2 - i, 31 - j) + k;
      reduce_sum(v, r, 1);
      for (Var i : parallel(3)) {
        u(i) = r(i) + 1;
        r(i) -= 1;
      }
      for (Var i : parallel(3)) s(i, 5) = r(i) + u(i);
      for (auto [p, i, j] : parallel(2, 3, 4)) m(p, i, j) += s(i, p + 4);
    }
    for (auto [i, j] : parallel(3, 32)) t(i * 32 + j) = v(i, j) + s(i, 5) + q(i);
    for (auto [p, i, j] : parallel(2, 3, 4)) t(p * 48 + i * 16 + j) = m(p, i, j);
    copy(t, y[{b * 96}]);
  }
}

/// Products in each type, of tiles that lie in memory and in registers; y gets weighted sums of rows and of columns.
template <bool kTransposeA, bool kTransposeB>
void products(Buffer x, Buffer y, Expr) {
  constexpr int kM = 64, kN = 48, kK = 32, kSize = 97;
  for (Var b : grid(1, threads{128})) {
    auto out = shared(f32, {kM + kN});
    auto line = shared(f32, {kSize});
    copy(x[{b}], line);
    fill(out, 0);
    for (DType type : {f16, bf16, f32}) {
      auto left = kTransposeA ? shared(type, {kK, kM}) : shared(type, {kM, kK});
      auto right = kTransposeB ? shared(type, {kN, kK}) : shared(type, {kK, kN});
      auto p = fragment(type, {kM, kK});
      auto c = fragment(f32, {kM, kN});
      auto rows = fragment(f32, {kM}), columns = fragment(f32, {kN});
      for (auto [i, j] : parallel(left.extent(0), left.extent(1))) left(i, j) = line((i * 7 + j * 3) % kSize);
      for (auto [i, j] : parallel(right.extent(0), right.extent(1))) right(i, j) = line((i * 5 + j * 11) % kSize);
      fill(c, 1);
      gemm(left, right, c, {.transpose_a = kTransposeA, .transpose_b = kTransposeB});
      for (auto [i, j] : parallel(kM, kK)) p(i, j) = line((i + j * 13) % kSize);
      gemm(p, right, c, {.transpose_b = kTransposeB});
      for (auto [i, j] : parallel(kM, kN)) c(i, j) *= (i * 3 + j) % 5 - 2;
      reduce_sum(c, rows, 1);
      reduce_sum(c, columns, 0);
      for (Var i : parallel(kM)) out(i) += rows(i);
      for (Var j : parallel(kN)) out(kM + j) += columns(j);
    }
    copy(out, y[{0}]);
  }
}

const Feature kFeatures[] = {{"tiles_of_one_iteration", one_iterations_own},
                             {"tiles_of_the_block", the_blocks_own},
                             {"its_own_offsets", its_own_offsets},
                             {"fragments_8x32", fragments<8, 32, 128>},
                             {"fragments_3x70", fragments<3, 70, 64>},
                             {"fragments_1x300", fragments<1, 300, 128>},
                             {"fragments_5x8", fragments<5, 8, 96>},
                             {"fragments_33x1", fragments<33, 1, 32>},
                             {"fragments_2x129", fragments<2, 129, 192>},
                             {"reductions_of_integers", reductions_of_integers},
                             {"reductions_of_doubles", reductions_of_doubles, "ascend-emulator"},
                             {"fragments_and_updates", fragments_and_updates},
                             {"fragments_and_memory", fragments_and_memory},
                             {"products", products<false, false>},
                             {"products_ta", products<true, false>},
                             {"products_tb", products<false, true>},
                             {"products_ta_tb", products<true, true>},
                             {"far_away", far_away},
                             {"far_away_twice", far_away_twice, "ascend-emulator"},
                             {"two_phases", two_phases},
                             {"branches_around_tiles", branches_around_tiles},
                             {"integers", integers},
                             {"no_blocks", no_blocks},
                             {"wide_choices", wide_choices}};

std::vector<float> result(const Feature& feature, const std::string& machine, int64_t size) {
  Kernel kernel = compile(
      feature.name, feature.build,
      signature(tensor("x", f32, {"N"}).contiguous(), tensor("y", f32, {"N"}).contiguous(), scalar("n", i64)), machine);
  std::vector<float> x(static_cast<size_t>(size)), y(x.size(), -1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 29 % 41) - 20;
  const int64_t bytes = size * static_cast<int64_t>(sizeof(float));
  Device& device = kernel.device();
  void *in = device.allocate(bytes), *out = device.allocate(bytes);
  device.copy_in(in, x.data(), bytes);
  device.copy_in(out, y.data(), bytes);
  kernel(Tensor{in, f32, {size}}, Tensor{out, f32, {size}}, int64_t{3});
  device.copy_out(y.data(), out, bytes);
  device.release(in);
  device.release(out);
  return y;
}

struct Row {
  MachineInfo machine;
  Feature feature;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.machine.name << " " << row.feature.name; }

class Language : public testing::TestWithParam<Row> {};

TEST_P(Language, MeansWhatTheInterpreterSays) {
  const auto& [machine, feature] = GetParam();
  if (!machine.available) GTEST_SKIP() << machine.name << ": " << machine.reason;
  if (feature.refused_by == machine.name) {
    EXPECT_THROW(result(feature, machine.name, 48), UserError);
    return;
  }
  for (int64_t size : {1, 48, 97})
    EXPECT_EQ(result(feature, machine.name, size), result(feature, "interp", size)) << size;
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const MachineInfo& machine : machines())
    for (const Feature& feature : kFeatures)
      if (machine.name != "interp") all.push_back({machine, feature});
  return all;
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string s = info.param.machine.name + "_" + info.param.feature.name;
  for (char& ch : s)
    if (ch == '-') ch = '_';
  return s;
}

INSTANTIATE_TEST_SUITE_P(Machines, Language, testing::ValuesIn(rows()), row_name);

}  // namespace
}  // namespace tilewright::test
