// docs/language.md against the compiler: each code block there is a snippet of this file or the wrong half of a case in
// compile/cases.cpp; accepted ones run in the interpreter, refused ones give the message that the page quotes.
#include <fstream>
#include <map>
#include <sstream>

#include "ir/text.h"
#include "ir/walk.h"
#include "refuse.h"
#include "source.h"
#include "tilewright/jit.h"

namespace tilewright::refused {
namespace {

// ---- whole programs -------------------------------------------------------------------------------------------------

// snippet: kernel
/// y = s * x, tile by tile.  x, y (M, N) f32.
void scale_kernel(Buffer x, Buffer y, Expr s, int rows, int columns) {
  auto [M, N] = x.shape<2>();
  for (auto [bx, by] : grid(ceildiv(N, columns), ceildiv(M, rows), threads{128})) {
    auto t = fragment(f32, {rows, columns});  // (rows, columns)
    copy(x[{by * rows, bx * columns}], t);
    for (auto [i, j] : parallel(rows, columns)) t(i, j) *= s;
    copy(t, y[{by * rows, bx * columns}]);
  }
}
// end

void run_scale(std::vector<float>& x_data, std::vector<float>& y_data) {
  // snippet: call
  Kernel scale = compile(
      "scale", [](Buffer x, Buffer y, Expr s) { scale_kernel(x, y, s, 4, 8); },
      signature(tensor("x", f32, {"M", "N"}), tensor("y", f32, {"M", "N"}).contiguous(), scalar("s", f32)), "interp");
  Tensor x{x_data.data(), f32, {5, 7}, {}}, y{y_data.data(), f32, {5, 7}, {}};
  scale(x, y, 0.5);
  // end
}

void wrong_launch(std::vector<float>& data) {
  Kernel scale = compile(
      "scale", [](Buffer x, Buffer y, Expr s) { scale_kernel(x, y, s, 4, 8); },
      signature(tensor("x", f32, {"M", "N"}), tensor("y", f32, {"M", "N"}).contiguous(), scalar("s", f32)), "interp");
  // snippet: wrong_launch
  Tensor x{data.data(), f32, {5, 7}, {}}, y{data.data() + 35, f32, {5, 6}, {}};
  scale(x, y, 0.5);
  // end
}

void wrong_output(std::vector<float>& data) {
  Kernel scale = compile(
      "scale", [](Buffer x, Buffer y, Expr s) { scale_kernel(x, y, s, 4, 8); },
      signature(tensor("x", f32, {"M", "N"}), tensor("y", f32, {"M", "N"}).contiguous(), scalar("s", f32)), "interp");
  // snippet: wrong_output
  Tensor x{data.data(), f32, {5, 7}, {}};
  scale(x, x, 0.5);
  // end
}

// ---- snippets in a grid ---------------------------------------------------------------------------------------------
// A (M, N) f32 is a tensor, v = (1, 2, .. 8) and w = (0, .. 0) are shared f32 tiles, n is an i32 argument, -7.

#define SNIPPET(name) \
  void name([[maybe_unused]] Buffer A, [[maybe_unused]] Buffer v, [[maybe_unused]] Buffer w, [[maybe_unused]] Expr n)

SNIPPET(integers) {
  // snippet: integers
  w(0) = n / 2;                   // -4: rounds down
  w(1) = n % 2;                   // 1: has the sign of the divisor
  w(2) = truncdiv(n, 2);          // -3
  w(3) = cast(i8, n * 19);        // 123: wraps at 8 bits
  w(4) = n / (n + 7);             // 0: so is any x / 0 and x % 0
  w(5) = n >> 40;                 // -1: the sign; n << 40 is 0
  w(6) = cast(u8, cast(f32, n));  // 0: a float saturates, NaN gives 0
  w(7) = ceildiv(n, 2);           // -3
  // end
}

SNIPPET(mixed) {
  auto h = shared(f16, {8});
  // snippet: mixed
  h(0) = 0.1;             // the number becomes an f16: 0.0999755859375
  w(0) = h(0) * 10;       // f16 with a number: an f16, computed in f32
  w(1) = v(1) + n;        // f32 with i32: f32
  w(2) = n + int64_t{1};  // a host number of any C++ type takes the other's type: i32
  w(3) = select(n < 0 && n > -100, v(3), v(4));
  w(4) = max(v(4), std::numeric_limits<float>::quiet_NaN());  // 5: the number
  // end
}

SNIPPET(wrong_number) {
  auto bytes = shared(u8, {8});
  // snippet: wrong_number
  bytes(0) = bytes(1) + 300;
  // end
}

SNIPPET(wrong_store) {
  auto counts = shared(i32, {8});
  // snippet: wrong_store
  counts(0) = v(0) * 2;
  // end
}

SNIPPET(lazy) {
  // snippet: lazy
  for (Var i : parallel(8)) w(i) = select(i > 0, v(i - 1), 0);
  // end
}

SNIPPET(wrong_index) {
  // snippet: wrong_index
  for (Var i : parallel(8)) w(i) = v(i + 1);
  // end
}

SNIPPET(loops) {
  // snippet: loops
  for (Var k : serial(2))
    for (Var u : unroll(2))
      for (Var i : vectorized(2)) w(k * 4 + u * 2 + i) = k * 4 + u * 2 + i;
  when(n < 0, [&] { w(0) = 10; }).otherwise([&] { w(0) = 20; });
  // end
}

SNIPPET(conflict) {
  // snippet: conflict
  for (Var i : parallel(8)) w(0) += v(i);
  // end
}

SNIPPET(no_conflict) {
  // snippet: no_conflict
  reduce_sum(v, w.tile({0}, {1}), 0);
  // end
}

SNIPPET(variables) {
  // snippet: variables
  auto total = var(f32, 0);  // one for the block
  for (Var k : serial(8)) total += v(k);
  for (Var i : parallel(8)) {
    auto mine = var(f32, 0);  // one for each iteration
    for (Var k : serial(2)) mine += v(i);
    w(i) = mine;
  }
  w(0) = total;
  // end
}

SNIPPET(wrong_variable) {
  // snippet: wrong_variable
  auto total = var(f32, 0);
  for (Var i : parallel(8)) total += v(i);
  // end
}

SNIPPET(copies) {
  auto m = shared(f16, {2, 4});
  // snippet: copies
  copy(v.tile({0}, {4}), m.tile({1, 0}, {1, 4}));  // f32 to f16; an extent of 1 may be left out
  copy(A[{0, 0}], m.tile({0, 0}, {1, 4}));         // A[{...}] has the other side's extents
  copy(A[{-1, 0}], w.tile({4}, {4}), 9);           // rows before A give the fill
  copy(m.tile({1, 0}, {1, 4}), w.tile({0}, {4}));
  // end
}

SNIPPET(wrong_copy) {
  auto m = shared(f16, {2, 4});
  // snippet: wrong_copy
  copy(v, m);
  // end
}

SNIPPET(wrong_overlap) {
  // snippet: wrong_overlap
  copy(v.tile({0}, {7}), v.tile({1}, {7}));
  // end
}

SNIPPET(product) {
  // snippet: product
  auto a = shared(f16, {1, 8}), b = shared(f16, {8, 2});
  auto c = fragment(f32, {1, 2});
  fill(a, 2), fill(b, 3), clear(c);
  gemm(a, b, c);                       // c (m, n) += a (m, k) b (k, n)
  reduce_max(c, w.tile({0}, {1}), 1);  // (1, 2) along axis 1: (1)
  // end
}

SNIPPET(wrong_gemm) {
  // snippet: wrong_gemm
  auto a = shared(f16, {128, 32}), b = shared(f16, {64, 128});
  auto c = fragment(f32, {128, 128});
  gemm(a, b, c);
  // end
}

// ---- the rules ------------------------------------------------------------------------------------------------------

SNIPPET(exchange) {
  // snippet: exchange
  auto x = let(v(0));
  v(0) = v(1);
  v(1) = x;
  // end
}

SNIPPET(stale) {
  // snippet: stale
  Expr x = v(0);
  v(0) = v(1);
  v(1) = x;
  // end
}

SNIPPET(other_block) {
  // snippet: other_block
  Expr x = v(0);
  for (Var k : serial(8)) {
    w(k) = x;
    v(0) = k;
  }
  // end
}

SNIPPET(kept) {
  // snippet: kept
  auto x = let(v(0));
  for (Var k : serial(8)) {
    w(k) = x;
    v(0) = k;
  }
  // end
}

SNIPPET(after_its_loop) {
  // snippet: after_its_loop
  std::vector<Expr> last;
  for (Var k : serial(8)) last.push_back(k * 2);
  w(0) = last[0];
  // end
}

SNIPPET(in_a_variable) {
  // snippet: in_a_variable
  auto last = var(i32, 0);
  for (Var k : serial(8)) last = k * 2;
  w(0) = last;
  // end
}

SNIPPET(host_assignment) {
  // snippet: host_assignment
  Expr sum = 0;
  for (Var k : serial(8)) sum += v(k);
  w(0) = sum;
  // end
}

SNIPPET(host_loop) {
  // snippet: host_loop
  Expr sum = 0;
  for (int k = 0; k < 8; ++k) sum += v(k);  // a host loop: eight additions in one block
  w(0) = sum;
  // end
}

SNIPPET(left_early) {
  // snippet: left_early
  for (Var k : serial(8)) {
    w(k) = 1;
    break;
  }
  // end
}

SNIPPET(not_left) {
  // snippet: not_left
  for (Var k : serial(8)) when(k < 3, [&] { w(k) = 1; });
  // end
}

SNIPPET(exception) {
  // snippet: exception
  try {
    for (Var k : serial(8)) {
      w(k) = 1;
      throw std::runtime_error("mine");
    }
  } catch (const std::runtime_error&) {
  }
  w(0) = 2;
  // end
}

SNIPPET(epilogue) {
  // snippet: epilogue
  auto apply = [&](auto f) {
    for (Var i : parallel(8)) w(i) = f(v(i));
  };
  apply([](auto x) { return x; });
  apply([](auto x) { return x * x; });
  // end
}

void outside() {
  // snippet: outside
  auto t = shared(f32, {8});
  // end
}

void no_grid() {
  // snippet: no_grid
  auto nothing = [](Buffer y) { y.extent(0); };
  compile("nothing", nothing, signature(tensor("y", f32, {"N"})), "interp");
  // end
}

void repeated() {
  // snippet: repeated
  auto repeat = [](Buffer y) {
    for (Var b : grid(1))
      for (int i = 0; i < 10'000'000; ++i) y(b) += 1;
  };
  compile("repeat", repeat, signature(tensor("y", f32, {"N"})), "interp");
  // end
}

// ---- running them ---------------------------------------------------------------------------------------------------

/// v and w after the snippet, in the interpreter.
template <class F>
std::vector<float> run(F snippet) {
  auto build = [&](Buffer x, Buffer y, Buffer A, Expr n) {
    for (Var b : grid(1, threads{32})) {
      auto v = shared(f32, {8}), w = shared(f32, {8});
      copy(x.tile({0}, {8}), v);
      clear(w);
      snippet(A, v, w, n);
      copy(v, y[{b}]);
      copy(w, y[{8}]);
    }
  };
  Kernel k =
      compile("snippet", build,
              signature(tensor("x", f32, {8}), tensor("y", f32, {16}), tensor("A", f32, {"M", "N"}), scalar("n", i32)),
              "interp", {.checked = true});
  std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8}, y(16), a(12, 0.25f);
  k(Tensor{x.data(), f32, {8}, {}}, Tensor{y.data(), f32, {16}, {}}, Tensor{a.data(), f32, {3, 4}, {}}, -7);
  return y;
}

using Values = std::vector<float>;

/// What v and w are after an accepted snippet; empty: they keep their values.
struct Accepted {
  void (*snippet)(Buffer, Buffer, Buffer, Expr);
  Values v, w;
};

const Values kStart{1, 2, 3, 4, 5, 6, 7, 8};

std::map<std::string, Accepted> accepted() {
  return {
      {"integers", {integers, kStart, {-4, 1, -3, 123, 0, -1, 0, -3}}},
      {"mixed", {mixed, kStart, {0.999755859375f, -5, -6, 4, 5, 0, 0, 0}}},
      {"lazy", {lazy, kStart, {0, 1, 2, 3, 4, 5, 6, 7}}},
      {"loops", {loops, kStart, {10, 1, 2, 3, 4, 5, 6, 7}}},
      {"no_conflict", {no_conflict, kStart, {36, 0, 0, 0, 0, 0, 0, 0}}},
      {"variables", {variables, kStart, {36, 4, 6, 8, 10, 12, 14, 16}}},
      {"copies", {copies, kStart, {1, 2, 3, 4, 9, 9, 9, 9}}},
      {"product", {product, kStart, {48, 0, 0, 0, 0, 0, 0, 0}}},
      {"exchange", {exchange, {2, 1, 3, 4, 5, 6, 7, 8}, Values(8)}},
      {"kept", {kept, {7, 2, 3, 4, 5, 6, 7, 8}, Values(8, 1)}},
      {"in_a_variable", {in_a_variable, kStart, {14, 0, 0, 0, 0, 0, 0, 0}}},
      {"host_loop", {host_loop, kStart, {36, 0, 0, 0, 0, 0, 0, 0}}},
      {"not_left", {not_left, kStart, {1, 1, 1, 0, 0, 0, 0, 0}}},
      {"epilogue", {epilogue, kStart, {1, 4, 9, 16, 25, 36, 49, 64}}},
  };
}

template <void (*snippet)(Buffer, Buffer, Buffer, Expr)>
void traced() {
  run(snippet);
}

std::map<std::string, void (*)()> refused() {
  return {
      {"wrong_number", traced<wrong_number>},
      {"wrong_store", traced<wrong_store>},
      {"wrong_index", traced<wrong_index>},
      {"conflict", traced<conflict>},
      {"wrong_variable", traced<wrong_variable>},
      {"wrong_copy", traced<wrong_copy>},
      {"wrong_overlap", traced<wrong_overlap>},
      {"wrong_gemm", traced<wrong_gemm>},
      {"stale", traced<stale>},
      {"other_block", traced<other_block>},
      {"after_its_loop", traced<after_its_loop>},
      {"host_assignment", traced<host_assignment>},
      {"left_early", traced<left_early>},
      {"exception", traced<exception>},
      {"outside", outside},
      {"no_grid", no_grid},
      {"repeated", repeated},
      {"wrong_launch",
       [] {
         std::vector<float> data(100);
         wrong_launch(data);
       }},
      {"wrong_output",
       [] {
         std::vector<float> data(100);
         wrong_output(data);
       }},
  };
}

// ---- the page -------------------------------------------------------------------------------------------------------

/// A code block of the page: `<!-- NAME -->` or `<!-- case N -->` stands before it, a quoted message may follow.
struct CodeBlock {
  std::string name, code, message;
};

std::vector<CodeBlock> code_blocks_of_page() {
  std::vector<CodeBlock> blocks;
  std::string marker;
  bool inside = false, after = false;
  for (const std::string& line : lines_of("docs/language.md")) {
    if (inside && line == "```") {
      inside = false, after = true;
    } else if (inside) {
      blocks.back().code += line + "\n";
    } else if (line.starts_with("```")) {
      EXPECT_EQ(line, "```cpp");
      EXPECT_FALSE(marker.empty()) << "a code block without a marker follows "
                                   << (blocks.empty() ? "" : blocks.back().name);
      blocks.push_back({marker, "", ""});
      marker.clear();
      inside = true;
    } else if (line.starts_with("<!-- ")) {
      marker = line.substr(5, line.find(" -->") - 5);
    } else if (after && line.starts_with("> ")) {
      blocks.back().message += (blocks.back().message.empty() ? "" : " ") + line.substr(2);
    } else if (!line.empty()) {
      after = false;
    }
  }
  return blocks;
}

TEST(Language, EveryCodeBlockOfThePageIsTested) {
  for (const CodeBlock& b : code_blocks_of_page()) {
    SCOPED_TRACE("block " + b.name);
    if (b.name.starts_with("case ")) {
      EXPECT_EQ(b.code, wrong_half_of_case(std::stoi(b.name.substr(5))));
      EXPECT_EQ(b.message, message_of_case(std::stoi(b.name.substr(5))));
    } else {
      EXPECT_EQ(b.code, snippet_of("test/error/language_test.cpp", b.name));
      bool is_refused = refused().contains(b.name);
      EXPECT_EQ(b.message.empty(), !is_refused);
      EXPECT_TRUE(is_refused || accepted().contains(b.name) || b.name == "kernel" || b.name == "call");
    }
  }
}

TEST(Language, EverySnippetIsOnThePage) {
  std::map<std::string, int> on_page;
  for (const CodeBlock& b : code_blocks_of_page()) on_page[b.name]++;
  for (const auto& [name, snippet] : accepted()) EXPECT_EQ(on_page[name], 1) << name;
  for (const auto& [name, snippet] : refused()) EXPECT_EQ(on_page[name], 1) << name;
}

TEST(Language, AcceptedSnippetsMeanWhatThePageSays) {
  for (const auto& [name, a] : accepted()) {
    SCOPED_TRACE(name);
    Values wanted = a.v;
    wanted.insert(wanted.end(), a.w.begin(), a.w.end());
    EXPECT_EQ(run(a.snippet), wanted);
  }
}

TEST(Language, RefusedSnippetsGiveTheMessageOfThePage) {
  const auto all = refused();
  for (const CodeBlock& b : code_blocks_of_page()) {
    auto it = all.find(b.name);
    if (it == all.end()) continue;
    try {
      it->second();
      ADD_FAILURE() << b.name << " is accepted";
    } catch (const UserError& e) {
      EXPECT_EQ(e.message(), b.message) << b.name;
      EXPECT_NE(std::string(e.location().file).find("language_test.cpp"), std::string::npos) << e.what();
    }
  }
}

TEST(Language, TheFirstProgramRuns) {
  std::vector<float> x(35), y(35);
  for (int i = 0; i < 35; ++i) x[i] = static_cast<float>(i);
  run_scale(x, y);
  for (int i = 0; i < 35; ++i) EXPECT_EQ(y[i], 0.5f * static_cast<float>(i));
}

}  // namespace
}  // namespace tilewright::refused
