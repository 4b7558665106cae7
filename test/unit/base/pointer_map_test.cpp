#include "base/pointer_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/error.h"

namespace tilewright {
namespace {

TEST(PointerMap, FindsWhatWasInsertedAndNothingElse) {
  PointerMap<int> map;
  int a = 0, b = 0, c = 0;
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find(&a), nullptr);
  EXPECT_TRUE(map.insert(&a, 1).second);
  EXPECT_TRUE(map.insert(&b, 2).second);
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(*map.find(&a), 1);
  EXPECT_EQ(*map.find(&b), 2);
  EXPECT_TRUE(map.contains(&b));
  EXPECT_FALSE(map.contains(&c));
  EXPECT_EQ(std::as_const(map).find(&c), nullptr);
}

TEST(PointerMap, InsertKeepsTheFirstValueAndIndexingAddsADefault) {
  PointerMap<int> map;
  int a = 0, b = 0;
  map.insert(&a, 1);
  const auto [value, added] = map.insert(&a, 5);
  EXPECT_FALSE(added);
  EXPECT_EQ(value, 1);
  map[&a] = 7;
  EXPECT_EQ(map[&b], 0);
  EXPECT_EQ(*map.find(&a), 7);
  EXPECT_EQ(map.size(), 2u);
}

TEST(PointerMap, AgreesWithTheStandardMapThroughGrowth) {
  // Keys at strides of a node, of a page, and neighbouring bytes; present and missing ones.
  for (uintptr_t stride : {uintptr_t{1}, uintptr_t{48}, uintptr_t{4096}, uintptr_t{1} << 33}) {
    PointerMap<uint64_t> map;
    std::unordered_map<const void*, uint64_t> expected;
    for (uint64_t i = 1; i <= 3000; ++i) {
      const void* key = reinterpret_cast<const void*>(stride * (i * 7919 % 2503 + 1));
      EXPECT_EQ(map.insert(key, i).second, expected.emplace(key, i).second);
      ASSERT_EQ(map.size(), expected.size());
      ASSERT_FALSE(map.contains(reinterpret_cast<const void*>(stride * 5000 + i)));  // ends at every size
    }
    for (uint64_t i = 0; i < 5000; ++i) {
      const void* key = reinterpret_cast<const void*>(stride * (i + 1));
      const auto found = expected.find(key);
      ASSERT_EQ(map.contains(key), found != expected.end());
      if (found == expected.end()) continue;
      ASSERT_EQ(*map.find(key), found->second);
    }
  }
}

TEST(PointerMap, ClearForgetsAndDestroysTheValues) {
  PointerMap<std::shared_ptr<int>> map;
  const auto value = std::make_shared<int>(3);
  int keys[100];
  for (int& k : keys) map.insert(&k, value);
  EXPECT_EQ(value.use_count(), 101);
  map.clear();
  EXPECT_EQ(value.use_count(), 1);
  EXPECT_EQ(map.size(), 0u);
  EXPECT_FALSE(map.contains(&keys[5]));
  map.insert(&keys[5], value);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_EQ(**map.find(&keys[5]), 3);
}

TEST(PointerMap, ValuesMayBeMoveOnly) {
  PointerMap<std::unique_ptr<std::string>> map;
  int keys[50];
  for (int i = 0; i < 50; ++i) map.insert(&keys[i], std::make_unique<std::string>(std::to_string(i)));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(**map.find(&keys[i]), std::to_string(i));
}

TEST(PointerMap, ReserveKeepsReferencesWhileItsCountIsNotExceeded) {
  PointerMap<int> map;
  map.reserve(1000);
  int keys[1000];
  int* const first = &map.insert(&keys[0], 11).first;
  for (int i = 1; i < 1000; ++i) map.insert(&keys[i], i);
  EXPECT_EQ(map.find(&keys[0]), first);
  EXPECT_EQ(*first, 11);
}

TEST(PointerMap, ANullKeyIsOurFault) {
  PointerMap<int> map;
  EXPECT_THROW(map.insert(nullptr, 1), InternalError);
  EXPECT_EQ(map.size(), 0u);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr bool kOptimised = false;
#elif defined(__has_feature)
constexpr bool kOptimised = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kOptimised = true;
#endif

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(PointerMap, IsFasterThanTheStandardMapOnHeapNodes) {
  if (!kOptimised) GTEST_SKIP() << "not an optimised build";
  std::vector<std::unique_ptr<char[]>> nodes;
  for (size_t i = 0; i < 200000; ++i) nodes.push_back(std::make_unique<char[]>(48 + i * 7 % 5 * 16));
  for (size_t i = nodes.size(); i-- > 1;) std::swap(nodes[i], nodes[i * 2654435761u % i]);
  double ours = 1e9, standard = 1e9;
  for (int run = 0; run < 5; ++run) {
    PointerMap<int> map;
    std::unordered_map<const void*, int> other;
    ours = std::min(ours, seconds([&] {
                      for (const auto& n : nodes) map.insert(n.get(), 1);
                    }));
    standard = std::min(standard, seconds([&] {
                          for (const auto& n : nodes) other.emplace(n.get(), 1);
                        }));
    EXPECT_EQ(map.size(), other.size());
  }
  EXPECT_LT(ours, standard);
}

}  // namespace
}  // namespace tilewright
