#include "source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace tilewright::refused {
namespace {

constexpr const char* kCases = "test/error/compile/cases.cpp";

std::string without_indentation(const std::vector<std::string>& lines) {
  size_t common = std::string::npos;
  for (const std::string& l : lines)
    if (size_t n = l.find_first_not_of(' '); n != std::string::npos) common = std::min(common, n);
  std::string text;
  for (const std::string& l : lines) text += (l.size() > common ? l.substr(common) : "") + "\n";
  return text;
}

std::string trimmed(const std::string& line) {
  size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first);
}

}  // namespace

std::string source_path(const std::string& path) {
  const char* dir = std::getenv("TW_SOURCE_DIR");
  return (dir ? dir : TW_DEFAULT_SOURCE_DIR) + ("/" + path);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(source_path(path));
  EXPECT_TRUE(in) << path << " cannot be read";
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string snippet_of(const std::string& path, const std::string& name) {
  std::vector<std::string> part;
  bool inside = false;
  for (const std::string& line : lines_of(path)) {
    if (inside && trimmed(line) == "// end") break;
    if (inside) part.push_back(line);
    inside = inside || trimmed(line) == "// snippet: " + name;
  }
  EXPECT_TRUE(inside) << "no snippet " << name;
  return without_indentation(part);
}

std::string wrong_half_of_case(int number) {
  std::vector<std::string> part;
  bool inside = false;
  for (const std::string& line : lines_of(kCases)) {
    if (inside && (line == "#else" || line == "#endif")) break;
    if (inside) part.push_back(line);
    inside = inside || line == "#if CASE == " + std::to_string(number);
  }
  EXPECT_TRUE(inside) << "no case " << number;
  return without_indentation(part);
}

std::string message_of_case(int number) {
  const std::string start = "// expect " + std::to_string(number) + ": ";
  for (const std::string& line : lines_of(kCases))
    if (line.starts_with(start)) return line.substr(start.size());
  return "";
}

int count_cases() {
  int n = 0;
  for (const std::string& line : lines_of(kCases)) n += line.starts_with("// expect ");
  return n;
}

}  // namespace tilewright::refused
