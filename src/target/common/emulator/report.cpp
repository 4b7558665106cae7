#include "target/common/emulator/report.h"

#include <utility>

namespace tilewright {

bool Report::has(std::string_view kind) const {
  for (const Fault& f : faults) {
    if (f.kind == kind) return true;
  }
  return false;
}

void Report::add(Fault f) {
  ++total;
  for (Fault& known : faults) {
    if (known.line == f.line && known.other_line == f.other_line && known.kind == f.kind && known.memory == f.memory &&
        known.actor == f.actor && known.other == f.other && known.kernel == f.kernel) {
      ++known.count;
      return;
    }
  }
  if (faults.size() < kMaxFaults) faults.push_back(std::move(f));
}

std::string Report::to_string() const {
  if (clean()) return "no faults";
  std::string out;
  int64_t shown = 0;
  for (const Fault& f : faults) {
    out += f.kernel + ":" + std::to_string(f.line) + ": " + f.kind + ": " + f.sentence;
    if (f.count > 1) out += " (" + std::to_string(f.count) + " times)";
    out += '\n';
    shown += f.count;
  }
  if (shown < total) out += "and " + std::to_string(total - shown) + " more\n";
  return out;
}

}  // namespace tilewright
