#include "target/common/emulator/refuse.h"

#include <fmt/format.h>

#include <algorithm>

namespace tilewright {

constexpr size_t kShown = 8;  // faults: one mistake is often one for each element

void refuse(const Report& report, const Artifact& artifact, bool (*is_users)(const Fault&), Location at) {
  auto user_line = [&](uint32_t line) {
    return line > 0 && line <= artifact.lines.size() && artifact.lines[line - 1] ? artifact.lines[line - 1] : at;
  };
  const Fault& first = report.faults.at(0);
  const Location line = user_line(first.line ? first.line : first.other_line);
  const std::string sentence = fmt::format("{}: {}: {}", artifact.plan.kernel, first.kind, first.sentence);
  if (!is_users(first)) throw InternalError(sentence, line);
  std::vector<Note> notes;
  if (first.line > 0 && first.other_line > 0)
    notes.push_back({user_line(first.other_line), "the other access is here"});
  int64_t shown = first.count;
  for (size_t i = 1; i < std::min(kShown, report.faults.size()); ++i) {
    notes.push_back({user_line(report.faults[i].line), report.faults[i].sentence});
    shown += report.faults[i].count;
  }
  if (shown < report.total) notes.push_back({at, fmt::format("and {} more", report.total - shown)});
  throw UserError(line, sentence, notes);
}

}  // namespace tilewright
