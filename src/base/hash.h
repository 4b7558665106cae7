#pragma once
// 64-bit hashing for structural hashes and content keys. Not cryptographic.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tilewright {

constexpr uint64_t hash_mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
  return hash_mix(seed * 0x9e3779b97f4a7c15u + value + 0x7f4a7c15u);
}

inline uint64_t hash_bytes(std::string_view s, uint64_t seed = 0) {
  uint64_t h = hash_combine(seed, s.size());
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, s.data() + i, 8);
    h = hash_combine(h, word);
  }
  uint64_t tail = 0;
  if (i < s.size()) std::memcpy(&tail, s.data() + i, s.size() - i);
  return hash_combine(h, tail);
}

}  // namespace tilewright
