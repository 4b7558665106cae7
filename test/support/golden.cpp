#include "support/golden.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

namespace tilewright::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

size_t indentation(const std::string& line) { return line.find_first_not_of(' '); }

/// Without blank first and last lines and without the indentation that all lines share.
std::vector<std::string> normalised(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  auto blank = [](const std::string& l) { return indentation(l) == std::string::npos; };
  while (!lines.empty() && blank(lines.front())) lines.erase(lines.begin());
  while (!lines.empty() && blank(lines.back())) lines.pop_back();
  size_t common = std::string::npos;
  for (const std::string& l : lines)
    if (!blank(l)) common = std::min(common, indentation(l));
  for (std::string& l : lines) l = blank(l) ? "" : l.substr(common);
  return lines;
}

/// Replaces the first raw string at or after the line of the check that ends a statement: those before it are the
/// check's inputs.
bool rewrite_source(const char* file, int line, const std::vector<std::string>& actual) {
  // Rewrites earlier in this run have moved the lines after them.
  struct Moved {
    std::string file;
    int line, by;
  };
  static std::vector<Moved> moved;
  int original = line;
  for (const Moved& m : moved)
    if (m.file == file && m.line < original) line += m.by;
  std::ifstream in(file);
  std::stringstream content;
  content << in.rdbuf();
  std::string source = content.str();
  size_t at = 0;
  for (int i = 1; i < line; ++i) at = source.find('\n', at) + 1;
  size_t open = at, close = at;
  do {
    open = source.find("R\"(", close);
    if (open == std::string::npos) return false;
    close = source.find(")\"", open);
  } while (source.compare(close + 2, 2, ");") != 0);
  auto count = [](const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); };
  int before = count(source.substr(open, close - open));
  std::string body = "\n";
  for (const std::string& l : actual) body += l.empty() ? "\n" : "    " + l + "\n";
  source.replace(open + 3, close - open - 3, body + "  ");
  moved.push_back({file, original, count(body) - before});
  std::ofstream(file) << source;
  return true;
}

}  // namespace

bool matches_golden(const std::string& actual, const char* expected, const char* file, int line, std::string& message) {
  std::vector<std::string> got = normalised(actual), wanted = normalised(expected);
  if (got == wanted) return true;
  if (std::getenv("TW_UPDATE_GOLDEN") && rewrite_source(file, line, got)) return true;
  size_t i = 0;
  while (i < got.size() && i < wanted.size() && got[i] == wanted[i]) ++i;
  message = "line " + std::to_string(i + 1) + "\n  wanted: " + (i < wanted.size() ? wanted[i] : "<end>") +
            "\n  got:    " + (i < got.size() ? got[i] : "<end>") + "\nthe whole text:\n";
  for (const std::string& l : got) message += l + "\n";
  return false;
}

}  // namespace tilewright::test
