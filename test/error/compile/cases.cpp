// C++ that must not compile: with -DCASE=n the wrong half of case n is compiled, with -DCASE=0 none is. A line
// `expect n: text` names a text that the diagnostic must contain.
#include <algorithm>
#include <array>
#include <utility>

#include "tilewright/dsl.h"

using namespace tilewright;

struct Pair {
  Expr m, l;
};

// expect 1: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_if(Buffer& v, Expr n) {
  for (Var i : serial(n)) {
#if CASE == 1
    if (i < n) v(i) = 1;
#else
    when(i < n, [&] { v(i) = 1; });
#endif
  }
}

// expect 2: A[i, j] is C++'s comma operator: write A(i, j) for an element, A[{i, j}] for a tile
void comma_index(Buffer& A, Buffer& v, Expr n) {
  for (auto [i, j] : parallel(n, n)) {
#if CASE == 2
    v(i) = A[i, j];
#else
    v(i) = A(i, j);
#endif
  }
}

// expect 3: the result of let(...) must be named: auto x = let(...); then use x
void unnamed_let(Buffer& v) {
#if CASE == 3
  v(0) = let(v(0)) + 1;
#else
  auto x = let(v(0));
  v(0) = x + 1;
#endif
}

// expect 4: the result of let(...) must be named: auto x = let(...); then use x
void let_as_expr(Buffer& v) {
#if CASE == 4
  Expr x = let(v(0));
#else
  auto x = let(v(0));
#endif
  v(0) = x;
}

// expect 5: a loop variable cannot be assigned
void assigned_variable(Buffer& v, Expr n) {
  for (Var i : serial(n)) {
#if CASE == 5
    i = n;
#endif
    v(i) = n;
  }
}

// expect 6: a loop variable cannot be assigned
void assigned_binding(Buffer& v, Expr n) {
  for (auto [i, j] : parallel(n, n)) {
#if CASE == 6
    i = j;
#endif
    v(i) = j;
  }
}

// expect 7: a tile must be named: auto t = shared(...); then use t
void allocation_as_argument(Buffer& v) {
#if CASE == 7
  gemm(shared(f16, {4, 4}), shared(f16, {4, 4}), v);
#else
  auto a = shared(f16, {4, 4}), b = shared(f16, {4, 4});
  gemm(a, b, v);
#endif
}

// expect 8: this variable holds the value read, not the place: write t(i, j) = x
void named_element(Buffer& v) {
  auto x = v(0);
#if CASE == 8
  x = 3;
#endif
  v(0) = x;
}

// expect 9: the result of let(...) must be named: auto x = let(...); then use x
void stored_let(Buffer& v) {
#if CASE == 9
  v(0) = let(v(1));
#else
  auto x = let(v(1));
  v(0) = x;
#endif
}

// expect 10: a tile must be named: auto t = shared(...); then use t
void indexed_allocation() {
#if CASE == 10
  shared(f32, {4})(0) = 1;
#else
  auto t = shared(f32, {4});
  t(0) = 1;
#endif
}

// expect 11: char
void text_as_index(Buffer& v) {
#if CASE == 11
  v("x") = 1;
#else
  v('x') = 1;
#endif
}

// expect 12: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_while(Buffer& v, Expr n) {
#if CASE == 12
  while (n < 3) v(0) = 1;
#else
  for (Var i : serial(n)) v(i) = 1;
#endif
}

// expect 13: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_ternary(Buffer& v, Expr n) {
#if CASE == 13
  v(0) = n < 3 ? v(0) : v(1);
#else
  v(0) = select(n < 3, v(0), v(1));
#endif
}

// expect 14: the result of let(...) must be named: auto x = let(...); then use x
void const_let(Buffer& v) {
  const Let c = let(v(0));
  auto get = [&]() -> const Let { return c; };
#if CASE == 14
  v(0) = get() + 1;
#else
  const Let d = get();
  v(0) = d + 1;
#endif
}

// expect 15: the result of let(...) must be named: auto x = let(...); then use x
void moved_let(Buffer& v) {
  Let x = let(v(0));
#if CASE == 15
  v(0) = std::move(x) * 2;
#else
  v(0) = x * 2;
#endif
}

// expect 16: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_not(Buffer& v, Expr n) {
#if CASE == 16
  if (!(n < 3)) v(0) = 1;
#else
  when(!(n < 3), [&] { v(0) = 1; });
#endif
}

// expect 17: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_and(Buffer& v, Expr n) {
#if CASE == 17
  if (n < 3 && n > 1) v(0) = 1;
#else
  when(n < 3 && n > 1, [&] { v(0) = 1; });
#endif
}

// expect 18: deleted
void struct_assigned(Buffer& v, Expr n) {
  Pair p;
#if CASE == 18
  p = Pair{n, n};
#else
  p.m = n, p.l = n;
#endif
  v(0) = p.m + p.l;
}

// expect 19: swap
void swapped_elements(Buffer& v) {
#if CASE == 19
  std::swap(v(0), v(1));
#else
  auto x = let(v(0));
  v(0) = v(1);
  v(1) = x;
#endif
}

// expect 20: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_max(Buffer& v, Expr n) {
#if CASE == 20
  v(0) = std::max(n, n);
#else
  v(0) = max(n, n);
#endif
}

// expect 21: a tile is not a value: write t(i, j) for an element, copy(...) for a tile
void tile_stored(Buffer& A, Buffer& v) {
#if CASE == 21
  v(0) = A[{0, 0}];
#else
  v(0) = A(0, 0);
#endif
}

// expect 22: this variable holds the value read, not the place: write t(i, j) = x
void named_element_added(Buffer& v) {
  auto x = v(0);
#if CASE == 22
  x += 3;
#endif
  v(0) += x;
}

// expect 23: a tile is not assigned: use copy(a, b), fill(t, x) or t(i, j) = x
void tile_assigned(Buffer& A, Buffer& v) {
#if CASE == 23
  v = A;
#else
  copy(A, v);
#endif
}

// expect 24: a tile is not assigned: use copy(a, b), fill(t, x) or t(i, j) = x
void region_assigned(Buffer& A, Buffer& v) {
#if CASE == 24
  A[{0, 0}] = v;
#else
  copy(v, A[{0, 0}]);
#endif
}

// expect 25: a tile is not a value: write t(i, j) for an element, copy(...) for a tile
void tile_added(Buffer& v) {
#if CASE == 25
  v(0) = v + 1;
#else
  v(0) = v(0) + 1;
#endif
}

// expect 26: the result of var(...) must be named: auto x = var(...); then use x
void unnamed_var(Buffer& v) {
#if CASE == 26
  v(0) = var(f32, 0) + 1;
#else
  auto x = var(f32, 0);
  v(0) = x + 1;
#endif
}

// expect 27: a let value cannot be assigned: use var(...)
void assigned_let(Buffer& v) {
  auto x = let(v(0));
#if CASE == 27
  x = 3;
#endif
  v(0) = x;
}

// expect 28: a tile must be named: auto t = shared(...); then use t
void region_of_allocation(Buffer& v) {
#if CASE == 28
  copy(shared(f32, {4})[{0}], v);
#else
  auto t = shared(f32, {4});
  copy(t[{0}], v);
#endif
}

// expect 29: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_if_on_var(Buffer& v) {
  auto x = var(boolean, true);
#if CASE == 29
  if (x) v(0) = 1;
#else
  when(x, [&] { v(0) = 1; });
#endif
}

// expect 30: the kernel's parameters do not match its signature: it is called with a Buffer for each tensor(...) and an
void too_few_parameters() {
  auto s = signature(tensor("A", f32, {"N"}), scalar("x", f32));
#if CASE == 30
  auto f = [](Buffer) {};
#else
  auto f = [](Buffer, Expr) {};
#endif
  (void)make_builder(s, f);
}

// expect 31: the kernel's parameters do not match its signature: it is called with a Buffer for each tensor(...) and an
void parameters_of_wrong_kind() {
  auto s = signature(tensor("A", f32, {"N"}), scalar("x", f32));
#if CASE == 31
  auto f = [](Expr, Buffer) {};
#else
  auto f = [](Buffer, Expr) {};
#endif
  (void)make_builder(s, f);
}

// expect 32: Var
void host_int(Buffer& v, Expr n) {
  for (Var i : serial(n)) {
#if CASE == 32
    int k = i;
#else
    Expr k = i;
#endif
    v(k) = 1;
  }
}

// expect 33: when
void when_without_lambda(Buffer& v, Expr n) {
#if CASE == 33
  when(n < 3, v(0) = 1);
#else
  when(n < 3, [&] { v(0) = 1; });
#endif
}

// expect 34: a tile must be named: auto t = shared(...); then use t
void rank_two_allocation() {
#if CASE == 34
  shared(f32, {4, 4})(0, 1) += 1;
#else
  auto t = shared(f32, {4, 4});
  t(0, 1) += 1;
#endif
}

// expect 35: the result of var(...) must be named: auto x = var(...); then use x
void var_as_expr(Buffer& v) {
#if CASE == 35
  Expr x = var(f32, 0);
#else
  auto x = var(f32, 0);
#endif
  v(0) = x;
}

// expect 36: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_for(Buffer& v, Expr n) {
#if CASE == 36
  for (int i = 0; i < n; ++i) v(i) = 1;
#else
  for (Var i : serial(n)) v(i) = 1;
#endif
}

// expect 37: a traced value has no host value: use select(cond, a, b) or when(cond, [&] { ... })
void host_while_not(Buffer& v) {
  auto done = var(boolean, false);
#if CASE == 37
  while (!done) v(0) = 1;
#else
  when(!done, [&] { v(0) = 1; });
#endif
}

// expect 38: &&
void and_of_an_int(Buffer& v, Expr n) {
#if CASE == 38
  when(n < 3 && 1, [&] { v(0) = 1; });
#else
  when(n < 3 && true, [&] { v(0) = 1; });
#endif
}

// expect 39: bool
void host_bool(Buffer& v, Expr n) {
#if CASE == 39
  bool small = n < 3;
#else
  Expr small = n < 3;
#endif
  v(0) = select(small, 1, 0);
}

// expect 40: threads
void traced_threads(Buffer& v, Expr n) {
#if CASE == 40
  for (Var b : grid(n, threads{n})) v(b) = 1;
#else
  for (Var b : grid(n, threads{64})) v(b) = 1;
#endif
}

// expect 41: int64_t
void traced_stages(Buffer& v, Expr n) {
#if CASE == 41
  for (Var k : pipelined(4, n)) v(k) = 1;
#else
  for (Var k : pipelined(n, 4)) v(k) = 1;
#endif
}

// expect 42: ++
void incremented_element(Buffer& v) {
#if CASE == 42
  v(0)++;
#else
  v(0) += 1;
#endif
}

// expect 43: operator[]
void host_array(Buffer& v, Expr n) {
  std::array<float, 4> table{1, 2, 3, 4};
#if CASE == 43
  v(0) = table[n];
#else
  for (int i = 0; i < 4; ++i) v(n + i) = table[i];
#endif
}

// expect 44: A[i, j] is C++'s comma operator: write A(i, j) for an element, A[{i, j}] for a tile
void one_index_in_brackets(Buffer& v, Expr n) {
#if CASE == 44
  v(0) = v[n];
#else
  v(0) = v(n);
#endif
}

// expect 45: deleted
void array_assigned(Buffer& v, Expr n) {
  std::array<Expr, 2> a{n, n}, b{n + 1, n + 2};
#if CASE == 45
  a = b;
#else
  a[0] = b[0], a[1] = b[1];
#endif
  v(0) = a[0] + a[1];
}
