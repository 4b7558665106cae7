// Runs each compiler on the cases of compile/cases.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "source.h"

namespace tilewright::refused {
namespace {

struct Outcome {
  int status = 0;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome r;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {-1, "cannot start: " + command};
  char part[4096];
  for (size_t n; (n = std::fread(part, 1, sizeof part, pipe)) > 0;) r.output.append(part, n);
  r.status = pclose(pipe);
  return r;
}

void check_compiler(const std::string& compiler) {
  const int cases = count_cases();
  ASSERT_GE(cases, 45);
  std::string command = compiler + " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -fdiagnostics-color=never -I" +
                        source_path("include") + " " + source_path("test/error/compile/cases.cpp") + " -DCASE=";
  std::vector<Outcome> outcomes(cases + 1);  // 0: no wrong half
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < outcomes.size();) outcomes[i] = run(command + std::to_string(i));
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(outcomes[0].status, 0) << "the right halves must compile:\n" << outcomes[0].output;
  for (int i = 1; i <= cases; ++i) {
    EXPECT_NE(outcomes[i].status, 0) << "case " << i << " compiles";
    ASSERT_FALSE(message_of_case(i).empty()) << "case " << i << " has no expected text";
    EXPECT_NE(outcomes[i].output.find(message_of_case(i)), std::string::npos)
        << "case " << i << " lacks \"" << message_of_case(i) << "\":\n"
        << outcomes[i].output.substr(0, 1500);
  }
}

TEST(MustNotCompile, OnTheCompilerOfThisBuild) { check_compiler(TW_CXX); }

TEST(MustNotCompile, OnClang) {
  if (std::string(TW_CLANG).empty()) GTEST_SKIP() << "no clang++ found when this build was configured";
  if (std::string(TW_CLANG) == TW_CXX) GTEST_SKIP() << "it is the compiler of this build";
  check_compiler(TW_CLANG);
}

}  // namespace
}  // namespace tilewright::refused
