#include "runtime/launch_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "numeric/scalar.h"

namespace tilewright {
namespace {

std::string describe(const Tensor& t) { return fmt::format("({}) {}", fmt::join(t.shape, ", "), to_string(t.dtype)); }

std::string wanted(const LaunchPlan& plan, const TensorParam& p) {
  std::vector<std::string> dims;
  std::vector<std::string> names;
  for (const ScalarParam& s : plan.scalars) names.push_back(s.name);
  for (const DimRule& d : p.shape) dims.push_back(d.scalar >= 0 ? names[d.scalar] : to_string(d.value, names));
  return fmt::format("({}) {}", fmt::join(dims, ", "), to_string(p.dtype));
}

/// The compiler's proofs about indices assume sizes of at most this.
constexpr int64_t kMaxSize = int64_t{1} << 48;

/// The values that symbols have so far, and which argument gave each.
struct Solution {
  std::vector<int64_t> value;
  std::vector<std::string> origin;  // empty = unknown
};

void match(const LaunchPlan& plan, const DimRule& rule, int64_t got, const std::string& what, Solution& solution,
           Location at) {
  if (rule.scalar < 0) {
    int64_t value = rule.value.evaluate(solution.value);
    if (got == value) return;
    std::vector<std::string> names;
    for (const ScalarParam& s : plan.scalars) names.push_back(s.name);
    std::string formula = to_string(rule.value, names), number = std::to_string(value);
    throw UserError(at, fmt::format("{}: {} is {}, the kernel was compiled for {}", plan.kernel, what, got,
                                    formula == number ? number : formula + " = " + number));
  }
  std::string& origin = solution.origin[rule.scalar];
  if (origin.empty()) {
    solution.value[rule.scalar] = got;
    origin = what;
  } else if (solution.value[rule.scalar] != got) {
    throw UserError(at, fmt::format("{}: {} is {} but {} is {}; both must be {}", plan.kernel, what, got, origin,
                                    solution.value[rule.scalar], plan.scalars[rule.scalar].name));
  }
}

/// Whether the last element is more than 2^60 elements from the first.
bool is_too_far(const Tensor& t, const std::vector<int64_t>& strides) {
  __int128 last = 0;
  for (size_t d = 0; d < t.shape.size(); ++d)
    if (t.shape[d] > 0) last += static_cast<__int128>(t.shape[d] - 1) * strides[d];
  return last > int64_t{1} << 60;
}

/// Whether two elements may have one address: each stride must step over all that the smaller ones reach.
bool may_overlap_itself(const Tensor& t, const std::vector<int64_t>& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == 0) return false;
    if (t.shape[d] > 1) axes.emplace_back(strides[d], t.shape[d]);
  }
  std::sort(axes.begin(), axes.end());
  int64_t reach = 0;
  for (auto [stride, size] : axes) {
    if (stride <= reach) return true;
    reach += (size - 1) * stride;
  }
  return false;
}

/// Bytes from the data pointer to the end of the last element.
int64_t span_bytes(const Tensor& t, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] == 0) return 0;
    last += (t.shape[d] - 1) * strides[d];
  }
  return t.dtype.bytes(last + 1);
}

void check_overlap(const LaunchPlan& plan, const BoundArguments& bound, Location at) {
  for (size_t i = 0; i < bound.tensors.size(); ++i)
    for (size_t j = 0; j < bound.tensors.size(); ++j) {
      if (i == j || plan.tensors[i].access == Access::in || (j < i && plan.tensors[j].access != Access::in)) continue;
      auto a = reinterpret_cast<uintptr_t>(bound.tensors[i]), b = reinterpret_cast<uintptr_t>(bound.tensors[j]);
      uintptr_t a_end = a + static_cast<uintptr_t>(bound.tensor_bytes[i]),
                b_end = b + static_cast<uintptr_t>(bound.tensor_bytes[j]);
      if (a < b_end && b < a_end)
        throw UserError(at,
                        fmt::format("{}: arguments {} and {} overlap in memory and the kernel writes {}; pass a copy",
                                    plan.kernel, plan.tensors[i].name, plan.tensors[j].name, plan.tensors[i].name));
    }
}

void bind_tensor(const LaunchPlan& plan, const TensorParam& param, const Argument& argument, Solution& solution,
                 BoundArguments& bound, Location at) {
  auto fail = [&](const std::string& why) {
    throw UserError(at, fmt::format("{}: argument {}: {}", plan.kernel, param.name, why));
  };
  if (!argument.is_tensor) fail(fmt::format("got a number, wanted a tensor {}", wanted(plan, param)));
  const Tensor& t = argument.tensor;
  if (t.dtype != param.dtype || t.shape.size() != param.shape.size())
    fail(fmt::format("got {}, wanted {}", describe(t), wanted(plan, param)));
  std::vector<int64_t> strides = t.strides.empty() ? contiguous_strides(t.shape) : t.strides;
  if (strides.size() != t.shape.size())
    fail(fmt::format("has {} sizes and {} strides", t.shape.size(), strides.size()));
  for (size_t d = 0; d < t.shape.size(); ++d) {
    if (t.shape[d] < 0) fail(fmt::format("size {} is {}", d, t.shape[d]));
    if (t.shape[d] > kMaxSize) fail(fmt::format("size {} is {}, more than {}", d, t.shape[d], kMaxSize));
    if (strides[d] < 0) fail(fmt::format("stride {} is {}: negative strides are not supported", d, strides[d]));
    match(plan, param.shape[d], t.shape[d], fmt::format("size {} of {}", d, param.name), solution, at);
  }
  if (is_too_far(t, strides))
    fail(fmt::format("({}) with strides ({}) spans more than 2^60 elements", fmt::join(t.shape, ", "),
                     fmt::join(strides, ", ")));
  if (param.access != Access::in && may_overlap_itself(t, strides))
    fail(fmt::format("the kernel writes it, but elements of ({}) with strides ({}) share an address",
                     fmt::join(t.shape, ", "), fmt::join(strides, ", ")));
  int64_t bytes = span_bytes(t, strides);
  if (bytes > 0 && !t.data) fail("data is null");
  if (bytes > 0 &&
      reinterpret_cast<uintptr_t>(t.data) % static_cast<uintptr_t>(std::max<int64_t>(1, t.dtype.bytes())) != 0)
    fail(fmt::format("data is not aligned to its element of {} bytes", t.dtype.bytes()));
  bound.tensors.push_back(t.data);
  bound.tensor_bytes.push_back(bytes);
}

/// The second round: strides, which may be formulas of sizes that another tensor gives.
void match_strides(const LaunchPlan& plan, const TensorParam& param, const Tensor& t, Solution& solution, Location at) {
  std::vector<int64_t> strides = t.strides.empty() ? contiguous_strides(t.shape) : t.strides;
  bool empty = element_count(t.shape) == 0;
  for (size_t d = 0; d < t.shape.size(); ++d) {
    // The stride of an axis with at most one element is never used: it may differ from what the kernel expects.
    bool unused = (empty || t.shape[d] <= 1) && param.strides[d].scalar < 0;
    if (!unused) match(plan, param.strides[d], strides[d], fmt::format("stride {} of {}", d, param.name), solution, at);
  }
}

/// A scalar argument as the 64 bits that entries take.
uint64_t pack(Scalar value) {
  if (!value.type.is_float() || value.type == f64) return value.bits;
  return encode(value.type, value.as_double());
}

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

BoundArguments bind_arguments(const LaunchPlan& plan, std::span<const Argument> arguments, Location at) {
  size_t scalar_arguments = 0;
  for (const ScalarParam& s : plan.scalars) scalar_arguments += s.is_argument;
  size_t wanted_count = plan.tensors.size() + scalar_arguments;
  if (arguments.size() != wanted_count)
    throw UserError(
        at, fmt::format("{}: got {}, wanted {} ({}, {})", plan.kernel, counted(arguments.size(), "argument"),
                        wanted_count, counted(plan.tensors.size(), "tensor"), counted(scalar_arguments, "scalar")));
  BoundArguments bound;
  Solution solution{std::vector<int64_t>(plan.scalars.size()), std::vector<std::string>(plan.scalars.size())};
  for (size_t i = 0; i < plan.tensors.size(); ++i)
    bind_tensor(plan, plan.tensors[i], arguments[i], solution, bound, at);
  for (size_t i = 0; i < plan.tensors.size(); ++i)
    match_strides(plan, plan.tensors[i], arguments[i].tensor, solution, at);
  check_overlap(plan, bound, at);
  size_t next = plan.tensors.size();
  for (size_t i = 0; i < plan.scalars.size(); ++i) {
    const ScalarParam& s = plan.scalars[i];
    Scalar value = Scalar::of_int(i64, solution.value[i]);
    if (s.is_argument) {
      const Argument& a = arguments[next++];
      if (a.is_tensor)
        throw UserError(at, fmt::format("{}: argument {}: got a tensor, wanted a {} number", plan.kernel, s.name,
                                        to_string(s.dtype)));
      if (a.is_real && !s.dtype.is_float())
        throw UserError(at, fmt::format("{}: argument {}: got {}, wanted a whole number ({})", plan.kernel, s.name,
                                        a.real, to_string(s.dtype)));
      value = a.is_real ? Scalar::of_float(s.dtype, a.real) : Scalar::of_int(s.dtype, a.integer);
      if (s.dtype.is_int() && value.as_int() != a.integer)
        throw UserError(
            at, fmt::format("{}: argument {}: {} does not fit {}", plan.kernel, s.name, a.integer, to_string(s.dtype)));
    } else if (solution.origin[i].empty()) {
      throw InternalError(fmt::format("{}: nothing gives the value of {}", plan.kernel, s.name));
    }
    bound.scalars.push_back(pack(value));
    bound.formula_scalars.push_back(s.dtype.is_float() ? 0 : value.as_int());
  }
  return bound;
}

int64_t launch_size(const LaunchPlan& plan, const Phase& phase, const BoundArguments& bound, Location at) {
  std::vector<int64_t> grid;
  for (const Formula& extent : phase.grid) grid.push_back(extent.evaluate(bound.formula_scalars));
  if (std::any_of(grid.begin(), grid.end(), [](int64_t n) { return n <= 0; })) return 0;
  int64_t blocks = 1;
  bool fits = true;
  for (int64_t n : grid) fits = fits && !__builtin_mul_overflow(blocks, n, &blocks);
  if (!fits || blocks > phase.most_blocks)
    throw UserError(at,
                    fmt::format("{}: grid({}) has more blocks than a launch on this machine, {}; let a block do more",
                                plan.kernel, fmt::join(grid, ", "), phase.most_blocks));
  return std::max<int64_t>(0, phase.blocks.evaluate(bound.formula_scalars));
}

}  // namespace tilewright
