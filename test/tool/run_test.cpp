// `tilewright run`: the rows that it writes, its table, its filters.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/jit.h"
#include "tool/command.h"

namespace tilewright::test {
namespace {

using Json = nlohmann::ordered_json;

const char* const kKeys[] = {"family",  "case",      "target",          "device", "dtype",        "threads",
                             "seconds", "flop",      "bytes",           "peer",   "peer_seconds", "ratio",
                             "error",   "tolerance", "compile_seconds", "commit"};

void check_row(const Json& row) {
  SCOPED_TRACE(row.dump());
  std::vector<std::string> keys;
  for (const auto& item : row.items()) keys.push_back(item.key());
  EXPECT_EQ(keys, std::vector<std::string>(std::begin(kKeys), std::end(kKeys)));
  for (const char* key : {"family", "case", "target", "device", "dtype", "commit"}) {
    ASSERT_TRUE(row[key].is_string()) << key;
    EXPECT_NE(row[key], "") << key;
  }
  for (const char* key : {"seconds", "bytes", "compile_seconds"}) {
    ASSERT_TRUE(row[key].is_number()) << key;
    EXPECT_GT(row[key].get<double>(), 0) << key;
  }
  ASSERT_TRUE(row["error"].is_number() && row["tolerance"].is_number() && row["flop"].is_number());
  EXPECT_GE(row["error"].get<double>(), 0);
  EXPECT_LE(row["error"].get<double>(), row["tolerance"].get<double>());
  EXPECT_GE(row["threads"].get<int>(), 1);
  if (row["peer"].is_null()) {
    EXPECT_TRUE(row["peer_seconds"].is_null());
    EXPECT_TRUE(row["ratio"].is_null());
  } else {
    EXPECT_NEAR(row["ratio"].get<double>(), row["peer_seconds"].get<double>() / row["seconds"].get<double>(), 1e-9);
  }
}

/// The rows of `tilewright run --quick OPTIONS`.
Json rows_of(const std::string& options) {
  const std::string file = scratch_file("rows.json");
  const Finished f = run_tool("tilewright run --quick --json " + file + " " + options);
  EXPECT_EQ(f.status, 0) << f.err;
  const Json rows = Json::parse(read_file(file));
  EXPECT_TRUE(rows.is_array());
  for (const Json& row : rows) {
    check_row(row);
    const std::string label = row["case"].get<std::string>();
    EXPECT_NE(f.out.find(label), std::string::npos) << "the table has no " << label;
  }
  return rows;
}

TEST(Run, EveryMachineRunsTheFirstTwoPrograms) {
  for (const MachineInfo& m : machines()) {
    if (!m.available) continue;
    SCOPED_TRACE(m.name);
    const Json rows = rows_of("--family vector_add,reverse --target " + m.name);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0]["family"], "vector_add");
    EXPECT_EQ(rows[1]["family"], "reverse");
    for (const Json& row : rows) {
      EXPECT_EQ(row["target"], m.target);
      EXPECT_EQ(row["device"], m.device);
    }
    EXPECT_EQ(rows[1]["tolerance"], 0);
  }
}

TEST(Run, TheCpuRunsAllSixProgramsBesideTheirPeers) {
  if (!has_machine("cpu")) GTEST_SKIP() << "this build has no CPU target";
  const Json rows = rows_of("--target cpu");
  std::map<std::string, int> count;
  std::set<std::string> gemm_types, attention_cases;
  for (const Json& row : rows) {
    ++count[row["family"]];
    if (row["family"] == "gemm") {
      gemm_types.insert(row["dtype"].get<std::string>());
      if (row["peer"].is_null()) continue;
      EXPECT_TRUE(row["peer"].get<std::string>().starts_with("OpenBLAS "));
      EXPECT_GE(row["ratio"].get<double>(), 0.05);
    } else {
      EXPECT_EQ(row["peer"], "C++ loop");
    }
    if (row["family"] == "attention") attention_cases.insert(row["case"].get<std::string>());
  }
  EXPECT_EQ(count.size(), 6u);
  EXPECT_EQ(gemm_types, (std::set<std::string>{"f32", "bf16"}));
  EXPECT_EQ(attention_cases, (std::set<std::string>{"h8 s256 d64", "h8 s256 d64 causal"}));
}

TEST(Run, ThreadsAreOursAndThePeers) {
  if (!has_machine("cpu")) GTEST_SKIP() << "this build has no CPU target";
  const Json rows = rows_of("--target cpu --family softmax --threads 1");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["threads"], 1);
}

TEST(Run, ProgressGoesToStandardError) {
  const Finished f = run_tool("tilewright run --target interp --json " + scratch_file("rows.json"));
  EXPECT_EQ(f.status, 0);
  EXPECT_TRUE(f.err.starts_with("[ 1/2] vector_add on interp: 1000 f32 ")) << f.err;
  EXPECT_TRUE(f.out.starts_with("family ")) << f.out;
  EXPECT_NE(f.out.find("2 rows in "), std::string::npos);
}

}  // namespace
}  // namespace tilewright::test
