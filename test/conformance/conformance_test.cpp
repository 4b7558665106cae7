// Every case of the table on every machine that is here: the result within its derived bound of the f64 reference, and
// nothing written beside it.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "conformance/guarded.h"
#include "conformance/table.h"
#include "tilewright/jit.h"
#include "tilewright/kernels.h"
#include "tilewright/reference.h"

namespace tilewright::test {
namespace {

constexpr double kEps = 1e-5;

int as_int(int64_t n) { return static_cast<int>(n); }

Kernel compile_case(const Case& c, const std::string& machine, int opt_level) {
  const CompileOptions options{.opt_level = opt_level};
  const std::vector<int64_t>& t = c.tile;
  switch (c.family) {
    case Family::vector_add:
      return compile(
          "vector_add", [&](Buffer x, Buffer y, Buffer z) { vector_add_kernel(x, y, z, {.n = as_int(t[0])}); },
          vector_add_signature(c.type), machine, options);
    case Family::reverse:
      return compile(
          "reverse", [&](Buffer x, Buffer y) { reverse_kernel(x, y, {.n = as_int(t[0])}); }, reverse_signature(c.type),
          machine, options);
    case Family::softmax:
      return compile(
          "softmax", [&](Buffer x, Buffer y) { softmax_kernel(x, y, {.rows = 2, .columns = as_int(t[0])}); },
          softmax_signature(c.type), machine, options);
    case Family::rms_norm:
      return compile(
          "rms_norm",
          [&](Buffer x, Buffer w, Buffer y, Expr eps) {
            rms_norm_kernel(x, w, y, eps, {.rows = 2, .columns = as_int(t[0])});
          },
          rms_norm_signature(c.type), machine, options);
    case Family::gemm:
      return compile(
          "gemm",
          [&](Buffer A, Buffer B, Buffer C) {
            gemm_kernel(A, B, C, c.flag, {.m = as_int(t[0]), .n = as_int(t[1]), .k = as_int(t[2])});
          },
          gemm_signature(c.type, c.out, c.flag), machine, options);
    case Family::attention:
      break;
  }
  const int d = as_int(c.shape[5]);
  return compile(
      "attention",
      [&](Buffer Q, Buffer K, Buffer V, Buffer O) {
        attention_kernel(Q, K, V, O, d, c.flag, {.m = as_int(t[0]), .n = as_int(t[1])});
      },
      attention_signature(c.type, d), machine, options);
}

using Kernels = std::map<std::string, Kernel>;

/// One compiled kernel for all sizes: what differs between kernels is the key.
Kernel& compiled(Kernels& kernels, const Case& c, const std::string& machine, int opt_level) {
  Case key = c;
  key.shape = c.family == Family::attention ? std::vector<int64_t>{c.shape[5]} : std::vector<int64_t>{};
  key.strided = false;
  const std::string name = machine + std::to_string(opt_level) + "/" + key.name() + "_" + to_string(c.out);
  auto found = kernels.find(name);
  if (found == kernels.end()) found = kernels.emplace(name, compile_case(c, machine, opt_level)).first;
  return found->second;
}

/// An emulator's host compiler takes all texts that wait at its first launch together, so all are made before.
Kernel& kernel_of(const Case& c, const std::string& machine, int opt_level) {
  static Kernels kernels;
  static std::set<std::string> prepared;
  if (machine.ends_with("-emulator") && prepared.insert(machine + std::to_string(opt_level)).second)
    for (const Case& other : cases())
      if (is_asked(machine, other)) compiled(kernels, other, machine, opt_level);
  return compiled(kernels, c, machine, opt_level);
}

struct Shapes {
  std::vector<std::vector<int64_t>> inputs;
  std::vector<int64_t> output;
};

Shapes shapes_of(const Case& c) {
  const std::vector<int64_t>& s = c.shape;
  switch (c.family) {
    case Family::vector_add:
      return {{s, s}, s};
    case Family::reverse:
    case Family::softmax:
      return {{s}, s};
    case Family::rms_norm:
      return {{s, {s[1]}}, s};
    case Family::gemm:
      return {{{s[0], s[2]}, c.flag ? std::vector<int64_t>{s[1], s[2]} : std::vector<int64_t>{s[2], s[1]}},
              {s[0], s[1]}};
    case Family::attention:
      break;
  }
  const std::vector<int64_t> keys{s[0], s[2], s[4], s[5]}, queries{s[0], s[1], s[3], s[5]};
  return {{queries, keys, keys}, queries};
}

Agreement check(const Case& c, const std::vector<Tensor>& in, const Tensor& out) {
  switch (c.family) {
    case Family::vector_add:
      return check_vector_add(in[0], in[1], out);
    case Family::reverse:
      return check_reverse(in[0], out);
    case Family::softmax:
      return check_softmax(in[0], out, c.tile[0]);
    case Family::rms_norm:
      return check_rms_norm(in[0], in[1], kEps, out);
    case Family::gemm:
      return check_gemm(in[0], in[1], out, c.flag, c.shape[0] > 200 ? 7 : 1);
    case Family::attention:
      break;
  }
  return check_attention(in[0], in[1], in[2], out, c.flag, c.tile[1], c.shape[3] > 200 ? 5 : 1);
}

std::string place(const std::vector<int64_t>& at) {
  std::string s;
  for (int64_t i : at) s += (s.empty() ? "" : ", ") + std::to_string(i);
  return s;
}

struct Row {
  MachineInfo machine;
  Case c;
  int opt_level = 3;
};

void PrintTo(const Row& row, std::ostream* os) {
  *os << row.machine.name << " " << row.c.name() << " at level " << row.opt_level;
}

class Conformance : public testing::TestWithParam<Row> {};

TEST_P(Conformance, ResultIsWithinItsBoundAndNothingElseIsWritten) {
  const auto& [machine, c, opt_level] = GetParam();
  if (!machine.available) GTEST_SKIP() << machine.name << ": " << machine.reason;
  Kernel& kernel = kernel_of(c, machine.name, opt_level);
  const Shapes shapes = shapes_of(c);
  std::mt19937_64 random(std::hash<std::string>()(c.name()));
  std::vector<std::unique_ptr<Guarded>> inputs;
  std::vector<Argument> arguments;
  for (const std::vector<int64_t>& shape : shapes.inputs) {
    inputs.push_back(std::make_unique<Guarded>(kernel.device(), c.type, shape, c.strided));
    inputs.back()->randomise(random);
    inputs.back()->to_device();
    arguments.emplace_back(inputs.back()->on_device());
  }
  Guarded output(kernel.device(), c.family == Family::gemm ? c.out : c.type, shapes.output, c.strided);
  output.to_device();
  arguments.emplace_back(output.on_device());
  if (c.family == Family::rms_norm) arguments.emplace_back(kEps);
  kernel.launch(arguments);

  std::vector<Tensor> in;
  for (auto& input : inputs) {
    input->to_host();
    EXPECT_EQ(input->damage(true), "") << "in an input";
    in.push_back(input->on_host());
  }
  output.to_host();
  EXPECT_EQ(output.damage(false), "") << "beside the output";
  const Agreement a = check(c, in, output.on_host());
  EXPECT_TRUE(a.ok()) << "element (" << place(a.at) << ") is " << a.got << ", wanted " << a.wanted << ": error "
                      << a.error << ", bound " << a.tolerance;
  const bool empty = element_count(shapes.output) == 0;
  EXPECT_EQ(a.elements == 0, empty);
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const MachineInfo& machine : machines())
    for (int opt_level : {0, 3}) {
      if (opt_level == 0 && machine.target != "cuda") continue;  // the others have one level so far
      for (const Case& c : cases()) {
        if (!is_asked(machine.name, c)) continue;
        all.push_back({machine, c, opt_level});
        if (!machine.available) break;  // one row says why
      }
    }
  return all;
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  std::string s = info.param.machine.name + (info.param.opt_level == 0 ? "_plain_" : "_") + info.param.c.name() + "_" +
                  std::to_string(info.index);
  for (char& ch : s)
    if (ch == '-') ch = '_';
  return s;
}

INSTANTIATE_TEST_SUITE_P(Table, Conformance, testing::ValuesIn(rows()), row_name);

}  // namespace
}  // namespace tilewright::test
