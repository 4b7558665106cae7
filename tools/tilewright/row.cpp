#include "row.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/commit.h"

namespace tilewright::tool {

std::string duration_text(double seconds) {
  for (auto [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}})
    if (seconds >= unit) return fmt::format("{:.3g} {}", seconds / unit, name);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string rate_text(const Row& row) {
  const bool arithmetic = row.flop > 4 * row.bytes;
  return fmt::format("{:.3g} {}", (arithmetic ? row.flop : row.bytes) / row.seconds * 1e-9,
                     arithmetic ? "GFLOP/s" : "GB/s");
}

std::string table_text(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> lines{{"family", "case", "type", "target", "device", "threads", "time", "rate",
                                               "peer", "its time", "ratio", "error", "bound", ""}};
  for (const Row& r : rows) {
    const bool peer = !r.peer.empty();
    lines.push_back({r.family, r.label, to_string(r.type), r.target, r.device, std::to_string(r.threads),
                     duration_text(r.seconds), rate_text(r), peer ? r.peer : "-",
                     peer ? duration_text(r.peer_seconds) : "-", peer ? fmt::format("{:.2f}", r.ratio()) : "-",
                     fmt::format("{:.1e}", r.error), fmt::format("{:.1e}", r.tolerance), r.ok() ? "ok" : "WRONG"});
  }
  std::vector<size_t> width(lines[0].size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string s;
    for (size_t i = 0; i < line.size(); ++i) s += fmt::format("{:<{}}  ", line[i], width[i]);
    text += s.substr(0, s.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string json_text(const std::vector<Row>& rows) {
  using Json = nlohmann::ordered_json;
  std::string text;
  for (const Row& r : rows) {
    const bool peer = !r.peer.empty();
    Json row = {{"family", r.family},
                {"case", r.label},
                {"target", r.target},
                {"device", r.device},
                {"dtype", to_string(r.type)},
                {"threads", r.threads},
                {"seconds", r.seconds},
                {"flop", r.flop},
                {"bytes", r.bytes},
                {"peer", peer ? Json(r.peer) : Json()},
                {"peer_seconds", peer ? Json(r.peer_seconds) : Json()},
                {"ratio", peer ? Json(r.ratio()) : Json()},
                {"error", r.error},
                {"tolerance", r.tolerance},
                {"compile_seconds", r.compile_seconds},
                {"commit", kCommit}};
    text += (text.empty() ? "[\n  " : ",\n  ") + row.dump();
  }
  return text.empty() ? "[]\n" : text + "\n]\n";
}

}  // namespace tilewright::tool
