// Whole kernels: right values and no fault as written; a fault when any piece of their synchronisation is missing.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "texts.h"

namespace tilewright::engine {
namespace {

struct Outcome {
  std::vector<float> out;
  Report report;
};

Argument input(std::vector<float>& v) { return Argument::global(v.data(), static_cast<int64_t>(v.size() * 4)); }
Argument output(std::vector<float>& v) { return Argument::global(v.data(), static_cast<int64_t>(v.size() * 4), false); }

Outcome run_add(const Program& p, const std::string& name, int n, int cores, Options options = {}) {
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = 1000.0f + 3.0f * static_cast<float>(i);
  Outcome r{std::vector<float>(n, -1.0f), {}};
  r.report = p.launch(name, cores, {input(a), input(b), output(r.out), Argument::scalar(int32_t{n})}, options);
  return r;
}

Outcome run_reverse(const Program& p, const std::string& name, int n, int cores, Options options = {}) {
  std::vector<float> a(n);
  std::iota(a.begin(), a.end(), 1.0f);
  Outcome r{std::vector<float>(n, -1.0f), {}};
  r.report = p.launch(name, cores, {input(a), output(r.out), Argument::scalar(int32_t{n})}, options);
  return r;
}

Outcome run_softmax(const Program& p, const std::string& name, int rows, int cols, int cores, Options options = {}) {
  std::vector<float> a(static_cast<size_t>(rows) * cols);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 37 % 23) * 0.25f - 2.0f;
  Outcome r{std::vector<float>(a.size(), -1.0f), {}};
  r.report =
      p.launch(name, cores, {input(a), output(r.out), Argument::scalar(int32_t{rows}), Argument::scalar(int32_t{cols})},
               options);
  return r;
}

bool add_is_right(const Outcome& r) {
  for (size_t i = 0; i < r.out.size(); ++i) {
    if (r.out[i] != 1000.0f + 4.0f * static_cast<float>(i)) return false;
  }
  return true;
}

bool reverse_is_right(const Outcome& r) {
  for (size_t i = 0; i < r.out.size(); ++i) {
    if (r.out[i] != static_cast<float>(r.out.size() - i)) return false;
  }
  return true;
}

bool softmax_is_right(const Outcome& r, int rows, int cols) {
  for (int i = 0; i < rows; ++i) {
    std::vector<double> e(cols);
    double sum = 0;
    for (int j = 0; j < cols; ++j) {
      const size_t k = static_cast<size_t>(i) * cols + j;
      sum += e[j] = std::exp(2.0 * (static_cast<double>(k * 37 % 23) * 0.25 - 2.0));
    }
    for (int j = 0; j < cols; ++j) {
      const double want = e[j] / sum;
      if (!(std::abs(r.out[static_cast<size_t>(i) * cols + j] - want) <= 2e-6 * want)) return false;
    }
  }
  return true;
}

std::vector<Options> modes() {
  std::vector<Options> all{{}};
  for (uint64_t seed = 0; seed < 12; ++seed) all.push_back({true, seed, seed % 2 == 1});
  return all;
}

TEST(EngineKernels, AddIsRightAndCleanForEveryTail) {
  const Program p = Program::compile({named(kAddText, "add")});
  for (int n : {0, 1, 7, 31, 32, 33, 127, 128, 129}) {
    for (int cores : {1, 2, 3}) {
      for (const Options& o : modes()) {
        Outcome r = run_add(p, "add", n, cores, o);
        EXPECT_TRUE(r.report.clean()) << n << ' ' << cores << ' ' << o.seed << '\n' << r.report.to_string();
        EXPECT_TRUE(add_is_right(r)) << n << ' ' << cores << ' ' << o.deferred << ' ' << o.seed;
      }
    }
  }
}

TEST(EngineKernels, ReversalByScalarsIsRightAndClean) {
  const Program p = Program::compile({named(kReverseText, "reverse")});
  for (int n : {0, 1, 31, 33, 129}) {
    for (const Options& o : modes()) {
      Outcome r = run_reverse(p, "reverse", n, 2, o);
      EXPECT_TRUE(r.report.clean()) << n << ' ' << o.seed << '\n' << r.report.to_string();
      EXPECT_TRUE(reverse_is_right(r)) << n << ' ' << o.deferred << ' ' << o.seed;
    }
  }
}

TEST(EngineKernels, SoftmaxIsRightAndClean) {
  const Program p = Program::compile({named(kSoftmaxText, "softmax")});
  for (int cols : {1, 5, 37, 64, 129, 511}) {
    for (const Options& o : modes()) {
      Outcome r = run_softmax(p, "softmax", 7, cols, 2, o);
      EXPECT_TRUE(r.report.clean()) << cols << ' ' << o.seed << '\n' << r.report.to_string();
      EXPECT_TRUE(softmax_is_right(r, 7, cols)) << cols << ' ' << o.deferred << ' ' << o.seed;
    }
  }
}

// Compiles `text` without each of its hand-overs, and without each single line of them; every one must be reported, in
// both modes, as a conflict (a whole hand-over) or as any fault (half of one).
template <class Launch>
void each_removal_is_reported(std::string_view text, bool strict, Launch launch) {
  const std::vector<std::string> syncs = syncs_of(text);
  const std::vector<std::string> halves = without_each_line(text);
  std::vector<Text> batch;
  for (size_t i = 0; i < syncs.size(); ++i)
    batch.push_back(named(without(text, syncs[i]), std::string("whole").append(std::to_string(i))));
  for (size_t i = 0; i < halves.size(); ++i)
    batch.push_back(named(halves[i], std::string("half").append(std::to_string(i))));
  const Program p = Program::compile(batch);
  for (const Options& o : {Options{false, 0, strict}, Options{true, 1, strict}}) {
    for (size_t i = 0; i < syncs.size(); ++i) {
      const Report r = launch(p, batch[i].name, o).report;
      EXPECT_TRUE(r.has("raw") || r.has("war") || r.has("waw")) << "without " << syncs[i] << '\n' << r.to_string();
    }
    for (size_t i = syncs.size(); i < batch.size(); ++i) {
      EXPECT_FALSE(launch(p, batch[i].name, o).report.clean()) << batch[i].source;
    }
  }
}

TEST(EngineKernels, EachRemovedFlagOfAddIsReported) {
  ASSERT_EQ(syncs_of(kAddText).size(), 4u);
  each_removal_is_reported(kAddText, false,
                           [](const Program& p, const std::string& k, Options o) { return run_add(p, k, 129, 2, o); });
}

TEST(EngineKernels, EachRemovedFlagOfReversalIsReported) {
  ASSERT_EQ(syncs_of(kReverseText).size(), 4u);
  each_removal_is_reported(kReverseText, false, [](const Program& p, const std::string& k, Options o) {
    return run_reverse(p, k, 129, 2, o);
  });
}

TEST(EngineKernels, EachRemovedFlagAndBarrierOfSoftmaxIsReported) {
  ASSERT_EQ(syncs_of(kSoftmaxText).size(), 10u);
  each_removal_is_reported(kSoftmaxText, true, [](const Program& p, const std::string& k, Options o) {
    return run_softmax(p, k, 5, 37, 2, o);
  });
}

TEST(EngineKernels, AStallOfTheScalarUnitOrdersWhatItIssuesLater) {
  // The wait for the sum stalls S after V has read x and before S issues the next load: without V_MTE2 the program is
  // right all the same, unless the scalar unit's stalls do not count.
  const Program p = Program::compile({named(without(kSoftmaxText, "input free"), "softmax")});
  EXPECT_TRUE(run_softmax(p, "softmax", 5, 37, 2).report.clean());
  EXPECT_TRUE(run_softmax(p, "softmax", 5, 37, 2, {false, 0, true}).report.has("war"));
}

TEST(EngineKernels, ARemovedFlagChangesTheValueOnlyInTheDeferredMode) {
  const Program p = Program::compile(
      {named(without(kAddText, "inputs full"), "add"), named(without(kReverseText, "output full"), "reverse")});
  EXPECT_TRUE(add_is_right(run_add(p, "add", 129, 2)));
  EXPECT_TRUE(reverse_is_right(run_reverse(p, "reverse", 129, 2)));
  int wrong_add = 0, wrong_reverse = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    wrong_add += !add_is_right(run_add(p, "add", 129, 2, {true, seed}));
    wrong_reverse += !reverse_is_right(run_reverse(p, "reverse", 129, 2, {true, seed}));
  }
  EXPECT_GT(wrong_add, 5);
  // S runs in program order and MTE3 later: a missing S_MTE3 cannot show there, and needs the clocks.
  EXPECT_EQ(wrong_reverse, 0);
}

TEST(EngineKernels, ADeferredRunRepeatsForItsSeed) {
  const Program p = Program::compile({named(without(kAddText, "inputs full"), "add")});
  for (uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_EQ(run_add(p, "add", 129, 2, {true, seed}).out, run_add(p, "add", 129, 2, {true, seed}).out);
  }
}

TEST(EngineKernels, AConflictNamesPipesBytesAndLines) {
  const Program p = Program::compile({named(without(kAddText, "inputs full"), "add")});
  const Report r = run_add(p, "add", 7, 1).report;
  ASSERT_EQ(r.faults.size(), 3u) << r.to_string();
  const Fault& f = r.faults[0];
  EXPECT_EQ(f.kind, "raw");
  EXPECT_EQ(f.kernel, "add");
  EXPECT_EQ(f.memory, "UB");
  EXPECT_EQ(f.offset, 0);
  EXPECT_EQ(f.bytes, 28);
  EXPECT_EQ(f.actor, "V");
  EXPECT_EQ(f.other, "MTE2");
  EXPECT_EQ(f.line, 23u);
  EXPECT_EQ(f.other_line, 18u);
  EXPECT_EQ(r.faults[1].offset, 128);
  EXPECT_EQ(r.faults[1].other_line, 19u);
  EXPECT_EQ(r.faults[2].kind, "event-reuse");  // V may give the inputs back before MTE2 took the first V_MTE2
}

}  // namespace
}  // namespace tilewright::engine
