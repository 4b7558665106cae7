#include "fuzz/cases.h"

#include <cstdlib>
#include <exception>

namespace tilewright::fuzz {
namespace {

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

std::string noted;

}  // namespace

void note(std::string text) { noted = std::move(text); }

void for_cases(int64_t cases, const std::function<void(Random&)>& one) {
  const int64_t first = setting("TW_FUZZ_SEED", 1);
  cases = setting("TW_FUZZ_CASES", cases);
  for (int64_t seed = first; seed < first + cases && !testing::Test::HasFailure(); ++seed) {
    Random random(static_cast<uint64_t>(seed));
    noted.clear();
    try {
      one(random);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "an exception: " << e.what();
    }
    if (testing::Test::HasFailure())
      ADD_FAILURE() << noted << "\nto repeat it: TW_FUZZ_SEED=" << seed << " TW_FUZZ_CASES=1 --gtest_filter="
                    << testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() << '.'
                    << testing::UnitTest::GetInstance()->current_test_info()->name();
  }
}

}  // namespace tilewright::fuzz
