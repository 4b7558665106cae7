// What README.md shows is what the repository holds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <stdexcept>

#include "tool/command.h"

namespace tilewright::test {
namespace {

std::filesystem::path source_dir() {
  const char* folder = std::getenv("TW_SOURCE_DIR");
  if (!folder) throw std::runtime_error("TW_SOURCE_DIR is not set; ctest sets it");
  return folder;
}

std::string readme() { return read_file(source_dir() / "README.md"); }

TEST(Readme, ItsKernelIsTheTextOfAnExample) {
  const std::string text = readme();
  std::string examples;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "examples"))
    examples += read_file(file.path());
  int blocks = 0;
  const std::string open = "```cpp\n", close = "```\n";
  for (size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    const size_t end = text.find(close, at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_NE(examples.find(text.substr(at, end - at)), std::string::npos) << "no example has this text:\n"
                                                                           << text.substr(at, end - at);
    at = end + close.size();
    ++blocks;
  }
  EXPECT_GE(blocks, 1);
}

TEST(Readme, ItsLinksLeadToFiles) {
  const std::string text = readme();
  const std::regex link(R"(\]\(([^)#]+)\))");
  int links = 0;
  for (std::sregex_iterator m(text.begin(), text.end(), link), end; m != end; ++m, ++links)
    EXPECT_TRUE(std::filesystem::exists(source_dir() / (*m)[1].str())) << (*m)[1];
  EXPECT_GE(links, 5);
}

TEST(Readme, ItNamesEveryExample) {
  const std::string text = readme();
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "examples")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string path = "examples/" + file.path().filename().string();
    EXPECT_NE(text.find(path), std::string::npos) << path;
  }
}

}  // namespace
}  // namespace tilewright::test
