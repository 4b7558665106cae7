#include "texts.h"

#include <algorithm>

namespace tilewright::engine {
namespace {

constexpr std::string_view kMark = "// sync ";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + '\n';
  return out;
}

std::string sync_of(const std::string& line) {
  const size_t at = line.find(kMark);
  return at == std::string::npos ? "" : line.substr(at + kMark.size());
}

}  // namespace

Text named(std::string_view text, const std::string& name) {
  std::string s(text);
  const size_t at = s.find("KERNEL");
  s.replace(at, 6, name);
  return {name, s};
}

std::vector<std::string> syncs_of(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(text)) {
    std::string s = sync_of(line);
    if (!s.empty() && std::find(names.begin(), names.end(), s) == names.end()) names.push_back(s);
  }
  return names;
}

std::string without(std::string_view text, std::string_view sync) {
  std::vector<std::string> lines = lines_of(text);
  for (std::string& line : lines) {
    if (sync_of(line) == sync) line.clear();
  }
  return join(lines);
}

std::vector<std::string> without_each_line(std::string_view text) {
  std::vector<std::string> out;
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (sync_of(lines[i]).empty()) continue;
    std::vector<std::string> fewer = lines;
    fewer[i].clear();
    out.push_back(join(fewer));
  }
  return out;
}

}  // namespace tilewright::engine
