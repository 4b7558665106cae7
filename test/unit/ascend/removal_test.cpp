// Every flag pair and every barrier of the generated texts is needed: without it the emulator reports a fault, and the
// whole text runs without one. Several rounds a core, with a tail.
#include <gtest/gtest.h>

#include <numeric>

#include "target/common/emulator/engine/engine.h"
#include "unit/ascend/texts.h"

namespace tilewright::ascend {
namespace {

constexpr int64_t kCores = 2;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

bool holds(const std::string& line, const std::string& part) { return line.find(part) != std::string::npos; }

/// The line with SetFlag replaced by WaitFlag: the other half of a pair.
std::string waiting(std::string line) { return line.replace(line.find("SetFlag"), 7, "WaitFlag"); }

/// A text for each pair SetFlag, WaitFlag and each PipeBarrier of `text`, with that one emptied. Lines keep their
/// numbers.
std::vector<std::string> without_each(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::string> texts;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> fewer = lines;
    if (holds(lines[i], "SetFlag<")) {
      EXPECT_EQ(lines.at(i + 1), waiting(lines[i])) << "a pair stands together";
      fewer[i].clear();
      fewer[i + 1].clear();
    } else if (holds(lines[i], "PipeBarrier<")) {
      fewer[i].clear();
    } else {
      continue;
    }
    std::string joined;
    for (const std::string& line : fewer) joined += line + "\n";
    texts.push_back(std::move(joined));
  }
  return texts;
}

struct Launch {
  std::vector<std::vector<float>> tensors;  // inputs, then the output
  std::vector<int64_t> scalars;
};

/// Runs the text and each text without one synchronisation, in program order and in seeded orders. The number of those.
size_t each_removal_is_reported(const Artifact& artifact, const Launch& launch) {
  const std::vector<std::string> fewer = without_each(artifact.text);
  const std::string& entry = artifact.plan.phases.at(0).entry;
  std::vector<engine::Text> texts{{entry, artifact.text, "whole"}};
  for (size_t i = 0; i < fewer.size(); ++i)
    texts.push_back({entry, fewer[i], std::string("without").append(std::to_string(i))});
  const engine::Program program = engine::Program::compile(texts);
  auto run = [&](const std::string& name, engine::Options options) {
    std::vector<std::vector<float>> tensors = launch.tensors;
    std::vector<engine::Argument> arguments;
    for (std::vector<float>& t : tensors)
      arguments.push_back(
          engine::Argument::global(t.data(), static_cast<int64_t>(t.size() * sizeof(float)), &t != &tensors.back()));
    for (int64_t scalar : launch.scalars) arguments.push_back(engine::Argument::scalar(scalar));
    return program.launch(name, kCores, arguments, options);
  };
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const engine::Options options{.deferred = seed != 0, .seed = seed};
    const Report whole = run("whole", options);
    EXPECT_TRUE(whole.clean()) << whole.to_string() << artifact.text;
    for (size_t i = 0; i < fewer.size(); ++i) {
      const Report report = run(texts[i + 1].entry, options);
      EXPECT_TRUE(report.has("raw") || report.has("war") || report.has("waw") || report.has("event-reuse"))
          << "seed " << seed << ": " << report.to_string() << fewer[i];
    }
  }
  return fewer.size();
}

std::vector<float> counted(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 1.0f);
  return v;
}

TEST(AscendRemoval, EachSynchronisationOfVectorAddIsNeeded) {
  const int64_t n = 32 * 7 + 5;
  const Artifact a = emitted(
      "vector_add", vector_add_signature(f32),
      [](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {.n = 32}); }, kCores);
  EXPECT_EQ(each_removal_is_reported(a, {{counted(n), counted(n), counted(n)}, {n}}), 5u);
}

TEST(AscendRemoval, EachSynchronisationOfReverseIsNeeded) {
  const int64_t n = 32 * 7 + 5;
  const Artifact a =
      emitted("reverse", reverse_signature(f32), [](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = 32}); }, kCores);
  EXPECT_EQ(each_removal_is_reported(a, {{counted(n), counted(n)}, {n}}), 4u);
}

TEST(AscendRemoval, EachBarrierBetweenCopiesOfOneEngineIsNeeded) {
  const Artifact a = emitted(
      "twice",
      signature(tensor("x", f32, {256}).contiguous(), tensor("y", f32, {256}).contiguous(),
                tensor("z", f32, {256}).contiguous()),
      [](Buffer x, Buffer y, Buffer z) {
        for (Var b : grid(8)) {
          auto t = shared(f32, {32});
          copy(x[{b * 32}], t);
          copy(y[{b * 32}], t);
          copy(t, z[{b * 32}]);
          copy(t, z[{b * 32}]);
        }
      },
      kCores);
  EXPECT_NE(a.text.find("PipeBarrier<PIPE_MTE2>"), std::string::npos) << a.text;
  EXPECT_NE(a.text.find("PipeBarrier<PIPE_MTE3>"), std::string::npos) << a.text;
  EXPECT_EQ(each_removal_is_reported(a, {{counted(256), counted(256), counted(256)}, {}}), 4u);
}

}  // namespace
}  // namespace tilewright::ascend
