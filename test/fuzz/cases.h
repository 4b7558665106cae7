#pragma once
// Random cases that can be repeated. Every case has a seed of its own, which a failure prints:
//   TW_FUZZ_SEED=417 TW_FUZZ_CASES=1 build/bin/fuzz --gtest_filter=...
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilewright::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 to n - 1.
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  /// low to high.
  int64_t in(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  uint64_t state_;
};

/// Runs `one` on the seeds first, first + 1, ...; stops at the first failure and says how to repeat it. TW_FUZZ_SEED
/// replaces the first seed, which is 1, and TW_FUZZ_CASES the number of cases.
void for_cases(int64_t cases, const std::function<void(Random&)>& one);

/// What a failure of this case prints beside its seed.
void note(std::string text);

}  // namespace tilewright::fuzz
