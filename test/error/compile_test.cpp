// Runs each compiler on the cases of compile/cases.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string source_dir() {
  const char* dir = std::getenv("TW_SOURCE_DIR");
  return dir ? dir : TW_DEFAULT_SOURCE_DIR;
}

/// The texts that the diagnostics of each case must contain.
std::map<int, std::string> expectations(const std::string& file) {
  std::map<int, std::string> expected;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    int n = 0, used = 0;
    if (std::sscanf(line.c_str(), "// expect %d: %n", &n, &used) == 1 && used > 0) expected[n] = line.substr(used);
  }
  return expected;
}

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
  std::string file = source_dir() + "/test/error/compile/cases.cpp";
  std::map<int, std::string> expected = expectations(file);
  ASSERT_EQ(expected.size(), 35u) << "in " << file;
  std::string command = compiler + " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -fdiagnostics-color=never -I" +
                        source_dir() + "/include " + file + " -DCASE=";
  std::vector<int> cases{0};
  for (const auto& [n, text] : expected) cases.push_back(n);
  std::vector<Outcome> outcomes(cases.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next++) < cases.size();) outcomes[i] = run(command + std::to_string(cases[i]));
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(outcomes[0].status, 0) << "the right halves must compile:\n" << outcomes[0].output;
  for (size_t i = 1; i < cases.size(); ++i) {
    EXPECT_NE(outcomes[i].status, 0) << "case " << cases[i] << " compiles";
    EXPECT_NE(outcomes[i].output.find(expected[cases[i]]), std::string::npos)
        << "case " << cases[i] << " lacks \"" << expected[cases[i]] << "\":\n"
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
