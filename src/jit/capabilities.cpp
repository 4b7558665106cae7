#include "jit/capabilities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright {
namespace {

std::string size_text(int64_t bytes) {
  for (auto [unit, name] : {std::pair{int64_t{1} << 30, "GiB"}, {int64_t{1} << 20, "MiB"}, {int64_t{1} << 10, "KiB"}})
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
  return fmt::format("{} bytes", bytes);
}

const char* model_text(Model model) {
  switch (model) {
    case Model::loops:
      return "loops (no threads in a block)";
    case Model::threads:
      return "threads (of a block, with barriers)";
    case Model::engines:
      break;
  }
  return "engines (in-order queues, with flags)";
}

std::vector<std::string> type_names(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (DType type : types) names.push_back(to_string(type));
  return names;
}

}  // namespace

std::vector<Capability> capabilities(const Caps& caps, bool traced) {
  if (traced) return {{"model", "the traced program, which no pass has touched"}};
  std::vector<Capability> all{{"architecture", caps.arch}, {"model", model_text(caps.model)}};
  auto add = [&](const char* name, const std::vector<std::string>& parts) {
    if (!parts.empty()) all.push_back({name, fmt::format("{}", fmt::join(parts, ", "))});
  };
  std::vector<std::string> memories, engines, paths;
  for (const Memory& m : caps.memories) memories.push_back(fmt::format("{} {}", m.name, size_text(m.bytes)));
  for (const Engine& e : caps.engines) engines.push_back(e.name);
  for (const CopyPath& p : caps.paths)
    paths.push_back(
        fmt::format("{} to {} by {}", p.from.empty() ? "global" : p.from, p.to.empty() ? "global" : p.to, p.engine));
  add("memories of a block", memories);
  add("engines", engines);
  add("copies", paths);
  if (caps.flags_per_pair > 0) add("flags of two engines", {std::to_string(caps.flags_per_pair)});
  if (caps.model == Model::threads) add("threads of a block", {fmt::format("up to {}", caps.max_threads)});
  if (caps.cores > 0) add("cores", {std::to_string(caps.cores)});
  if (caps.max_blocks != INT64_MAX) add("blocks of a launch", {fmt::format("up to {}", caps.max_blocks)});
  add("types stored", type_names(caps.storage_types));
  add("types computed", type_names(caps.arithmetic_types));
  return all;
}

}  // namespace tilewright
