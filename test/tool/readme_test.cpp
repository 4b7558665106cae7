// What README.md and docs/using.md show is what the repository holds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tool/command.h"

namespace tilewright::test {
namespace {

std::filesystem::path source_dir() {
  const char* folder = std::getenv("TW_SOURCE_DIR");
  if (!folder) throw std::runtime_error("TW_SOURCE_DIR is not set; ctest sets it");
  return folder;
}

std::string readme() { return read_file(source_dir() / "README.md"); }

/// The code blocks of a page in that language, in order.
std::vector<std::string> code_blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> blocks;
  const std::string open = "\n```" + language + "\n", close = "\n```\n";
  for (size_t at = 0; (at = page.find(open, at)) != std::string::npos;) {
    at += open.size();
    const size_t end = page.find(close, at);
    if (end == std::string::npos) throw std::runtime_error("a code block without an end: " + page.substr(at));
    blocks.push_back(page.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

TEST(Readme, ItsKernelIsTheTextOfAnExample) {
  const std::string text = readme();
  std::string examples;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "examples"))
    if (file.is_regular_file()) examples += read_file(file.path());
  const std::vector<std::string> blocks = code_blocks(text, "cpp");
  EXPECT_GE(blocks.size(), 1u);
  for (const std::string& block : blocks)
    EXPECT_NE(examples.find(block), std::string::npos) << "no example has this text:\n" << block;
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

TEST(Using, ItsProgramIsTheOneThatIsTested) {
  const std::string page = read_file(source_dir() / "docs/using.md");
  const std::filesystem::path program = source_dir() / "examples/own_program";
  EXPECT_EQ(code_blocks(page, "cpp"), std::vector{read_file(program / "main.cpp")});
  const std::vector<std::string> cmake = code_blocks(page, "cmake");
  ASSERT_GE(cmake.size(), 1u);
  EXPECT_EQ(cmake[0], read_file(program / "CMakeLists.txt"));
}

}  // namespace
}  // namespace tilewright::test
