#include "target/common/host_compiler.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tilewright/error.h"

namespace tilewright {
namespace {
namespace fs = std::filesystem;

/// An empty cache directory that is removed with the test.
struct EmptyCache {
  std::string path;
  EmptyCache() {
    char name[] = "/tmp/tilewright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~EmptyCache() { fs::remove_all(path); }
};

/// The object's function `int answer()`.
int answer(const HostLibrary& library) { return reinterpret_cast<int (*)()>(library.symbol("answer"))(); }

size_t files_in(const std::string& directory) {
  size_t n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) n += entry.is_regular_file();
  return n;
}

TEST(HostCompiler, CompilesOnceThenLoadsFromTheCacheAndLeavesNoTemporaryFile) {
  EmptyCache cache;
  HostCompileOptions options{.name = "answer", .cache_directory = cache.path};
  const char* text = "extern \"C\" int answer() { return 42; }";
  {
    auto first = compile_host_library(text, options);
    EXPECT_FALSE(first->from_cache());
    EXPECT_GT(first->compile_seconds(), 0.0);
    EXPECT_EQ(answer(*first), 42);
    EXPECT_EQ(compile_host_library(text, options), first);  // still in memory
  }
  EXPECT_EQ(files_in(cache.path), 1u);
  auto second = compile_host_library(text, options);
  EXPECT_TRUE(second->from_cache());
  EXPECT_EQ(answer(*second), 42);
}

TEST(HostCompiler, AnotherTextOrFlagIsAnotherObject) {
  EmptyCache cache;
  HostCompileOptions options{.cache_directory = cache.path};
  const char* text = "#ifndef N\n#define N 1\n#endif\nextern \"C\" int answer() { return N; }";
  auto one = compile_host_library(text, options);
  options.extra_flags = {"-DN=2"};
  auto two = compile_host_library(text, options);
  EXPECT_EQ(answer(*one), 1);
  EXPECT_EQ(answer(*two), 2);
  EXPECT_NE(one->path(), two->path());
}

TEST(HostCompiler, DamagedCacheEntryIsRebuilt) {
  EmptyCache cache;
  HostCompileOptions options{.cache_directory = cache.path};
  const char* text = "extern \"C\" int answer() { return 7; }";
  std::string path = compile_host_library(text, options)->path();
  fs::resize_file(path, fs::file_size(path) / 2);
  auto again = compile_host_library(text, options);
  EXPECT_FALSE(again->from_cache());
  EXPECT_EQ(answer(*again), 7);
}

TEST(HostCompiler, ThreadsThatAskForTheSameTextGetOneObject) {
  EmptyCache cache;
  HostCompileOptions options{.cache_directory = cache.path};
  std::vector<std::shared_ptr<const HostLibrary>> got(4);
  std::vector<std::thread> threads;
  for (auto& g : got)
    threads.emplace_back([&] { g = compile_host_library("extern \"C\" int answer() { return 5; }", options); });
  for (auto& t : threads) t.join();
  for (auto& g : got) EXPECT_EQ(g, got[0]);
  EXPECT_EQ(files_in(cache.path), 1u);
}

TEST(HostCompiler, TextThatDoesNotCompileGivesTheCompilersMessage) {
  EmptyCache cache;
  try {
    compile_host_library("int f() { return undeclared_name; }", {.cache_directory = cache.path});
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("undeclared_name"), std::string::npos) << e.message();
  }
  EXPECT_EQ(files_in(cache.path), 0u);
}

TEST(HostCompiler, MissingCompilerSaysHowToGetOne) {
  EmptyCache cache;
  try {
    compile_host_library("int x;", {.compiler = "no-such-compiler", .cache_directory = cache.path});
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(e.message().find("\"no-such-compiler\" is not an executable program"), std::string::npos) << e.message();
    EXPECT_NE(e.message().find("apt-get install g++"), std::string::npos) << e.message();
  }
}

TEST(HostCompiler, MissingSymbolIsAnErrorThatNamesIt) {
  EmptyCache cache;
  auto library = compile_host_library("extern \"C\" int answer() { return 1; }", {.cache_directory = cache.path});
  EXPECT_THROW(library->symbol("question"), DeviceError);
}

TEST(HostCompiler, CacheDirectoryFollowsTheVariable) {
  EmptyCache cache;
  const char* old = getenv("TILEWRIGHT_CACHE");
  std::string saved = old ? old : "";
  setenv("TILEWRIGHT_CACHE", (cache.path + "/deep/er").c_str(), 1);
  EXPECT_EQ(host_cache_directory(), cache.path + "/deep/er");
  EXPECT_TRUE(fs::is_directory(cache.path + "/deep/er"));
  if (old) {
    setenv("TILEWRIGHT_CACHE", saved.c_str(), 1);
  } else {
    unsetenv("TILEWRIGHT_CACHE");
  }
}

}  // namespace
}  // namespace tilewright
