#pragma once
// Expected texts inside tests. `EXPECT_GOLDEN(actual, R"(...)")` compares line by line, the common indentation of the
// expected text aside. With TW_UPDATE_GOLDEN=1 the raw string in the test's source file is rewritten instead.
#include <string>

namespace tilewright::test {

/// True when equal (or rewritten); else `message` shows the first difference and the whole actual text.
bool matches_golden(const std::string& actual, const char* expected, const char* file, int line, std::string& message);

}  // namespace tilewright::test

#define EXPECT_GOLDEN(actual, expected)                                                                              \
  do {                                                                                                               \
    std::string tw_golden_message;                                                                                   \
    bool tw_golden_ok = ::tilewright::test::matches_golden(actual, expected, __FILE__, __LINE__, tw_golden_message); \
    EXPECT_TRUE(tw_golden_ok) << tw_golden_message;                                                                  \
  } while (false)
