#pragma once
// Loops, grids and conditionals. A traced loop's body runs once on the host, with variables for the device's
// iterations.
#include "tilewright/dsl/tile.h"

namespace tilewright {

/// Compute threads of a block, 1 to 1024.
struct threads {
  template <std::integral T>
  constexpr explicit threads(T n) : count(static_cast<int64_t>(n)) {}
  int64_t count;
};

namespace detail {

enum class LoopWord : uint8_t { serial, unroll, vectorized, parallel, pipelined, persistent, grid };

class LoopBase {
 public:
  LoopBase(const LoopBase&) = delete;
  LoopBase& operator=(const LoopBase&) = delete;

 protected:
  LoopBase(LoopWord word, Indices extents, int64_t number, Location at);
  ~LoopBase();
  /// Starts the body; the variables, one for each extent.
  const Value* open();
  void close();

 private:
  LoopWord word_;
  bool open_ = false;
  int exceptions_;
  uint32_t trace_ = 0, block_ = 0;
  int64_t number_;  // stages or threads
  Location at_;
  std::vector<Operand> extents_;
  std::vector<Value> vars_;
};

}  // namespace detail

/// What a range-for over a traced loop iterates: once, giving a Var or an array of N Vars.
template <size_t N>
class [[nodiscard]] Loop : detail::LoopBase {
 public:
  Loop(detail::LoopWord word, Indices extents, int64_t number, Location at) : LoopBase(word, extents, number, at) {}
  class Iterator {
   public:
    explicit Iterator(Loop* loop) : loop_(loop) {}
    auto operator*() { return loop_->variables(std::make_index_sequence<N>{}); }
    Iterator& operator++() {
      loop_->close();
      loop_ = nullptr;
      return *this;
    }
    bool operator!=(std::nullptr_t) const { return loop_ != nullptr; }

   private:
    Loop* loop_;
  };
  Iterator begin() { return Iterator(this); }
  std::nullptr_t end() { return nullptr; }

 private:
  template <size_t... I>
  auto variables(std::index_sequence<I...>) {
    const detail::Value* v = open();
    if constexpr (N == 1)
      return Var(v[0]);
    else
      return std::array<Var, N>{Var(v[I])...};
  }
};

#define TW_DSL_LOOP(word)                                                                                       \
  inline Loop<1> word(const Operand& n) { return {detail::LoopWord::word, {n}, 0, n.at}; }                      \
  inline Loop<2> word(const Operand& n, const Operand& m) { return {detail::LoopWord::word, {n, m}, 0, n.at}; } \
  inline Loop<3> word(const Operand& n, const Operand& m, const Operand& l) {                                   \
    return {detail::LoopWord::word, {n, m, l}, 0, n.at};                                                        \
  }
/// Iterations are unordered and must not conflict; the last variable varies fastest.
TW_DSL_LOOP(parallel)
/// Iterations in order, the last variable fastest.
TW_DSL_LOOP(serial)
/// serial, and the body is repeated in the code; extents are host numbers.
TW_DSL_LOOP(unroll)
/// A block takes the next iteration when it is done with one.
TW_DSL_LOOP(persistent)
#undef TW_DSL_LOOP
/// serial, as vector operations where the target can; the extent is a host number.
inline Loop<1> vectorized(const Operand& n) { return {detail::LoopWord::vectorized, {n}, 0, n.at}; }
/// serial, with the copies of up to `stages` iterations in flight (0 to 8).
inline Loop<1> pipelined(const Operand& n, int64_t stages) { return {detail::LoopWord::pipelined, {n}, stages, n.at}; }
/// One phase of the kernel: the body runs once for each block; the first variable varies fastest.
inline Loop<1> grid(const Operand& n, threads t = threads{128}) { return {detail::LoopWord::grid, {n}, t.count, n.at}; }
inline Loop<2> grid(const Operand& n, const Operand& m, threads t = threads{128}) {
  return {detail::LoopWord::grid, {n, m}, t.count, n.at};
}
inline Loop<3> grid(const Operand& n, const Operand& m, const Operand& l, threads t = threads{128}) {
  return {detail::LoopWord::grid, {n, m, l}, t.count, n.at};
}

/// The result of when(): takes an optional otherwise(), at once.
class When {
 public:
  When(const Operand& cond, void (*body)(void*), void* context);
  When(const When&) = delete;
  When& operator=(const When&) = delete;
  template <std::invocable F>
  void otherwise(F&& body) && {
    run_otherwise([](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, address_of(body));
  }
  template <class F>
  static void* address_of(F& f) {
    return const_cast<void*>(static_cast<const volatile void*>(&f));
  }

 private:
  void run_otherwise(void (*body)(void*), void* context);
  uint32_t trace_ = 0, block_ = 0;
  size_t index_ = 0;
  Location at_;
};

/// when(cond, [&] { ... }).otherwise([&] { ... }): cond is evaluated once.
template <std::invocable F>
When when(const Operand& cond, F&& body) {
  return {cond, [](void* f) { (*static_cast<std::remove_reference_t<F>*>(f))(); }, When::address_of(body)};
}

}  // namespace tilewright
