#include "runtime/formula.h"

#include <fmt/format.h>

#include "base/check.h"
#include "numeric/scalar.h"

namespace tilewright {

int64_t Formula::evaluate(std::span<const int64_t> scalars) const {
  std::vector<int64_t> stack;
  auto pop = [&] {
    TW_CHECK(!stack.empty(), "formula: stack underflow");
    int64_t v = stack.back();
    stack.pop_back();
    return v;
  };
  for (const Step& step : steps) {
    switch (step.kind) {
      case Step::Kind::constant:
        stack.push_back(step.value);
        break;
      case Step::Kind::scalar:
        TW_CHECK(step.value >= 0 && step.value < static_cast<int64_t>(scalars.size()), "formula: no such scalar");
        stack.push_back(scalars[step.value]);
        break;
      case Step::Kind::binary: {
        int64_t b = pop(), a = pop();
        stack.push_back(tilewright::evaluate(step.op, Scalar::of_int(i64, a), Scalar::of_int(i64, b)).as_int());
        break;
      }
      case Step::Kind::select: {
        int64_t b = pop(), a = pop(), cond = pop();
        stack.push_back(cond ? a : b);
        break;
      }
    }
  }
  TW_CHECK(stack.size() == 1, "formula: does not leave one value");
  return stack.back();
}

std::string to_string(const Formula& formula, std::span<const std::string> names) {
  std::vector<std::string> stack;
  auto pop = [&] {
    std::string s = std::move(stack.back());
    stack.pop_back();
    return s;
  };
  for (const Formula::Step& step : formula.steps) {
    switch (step.kind) {
      case Formula::Step::Kind::constant:
        stack.push_back(fmt::format("{}", step.value));
        break;
      case Formula::Step::Kind::scalar:
        stack.push_back(names[step.value]);
        break;
      case Formula::Step::Kind::binary: {
        std::string b = pop(), a = pop();
        std::string_view spelling = spelling_of(step.op);
        stack.push_back(spelling.empty() ? fmt::format("{}({}, {})", name_of(step.op), a, b)
                                         : fmt::format("({} {} {})", a, spelling, b));
        break;
      }
      case Formula::Step::Kind::select: {
        std::string b = pop(), a = pop(), cond = pop();
        stack.push_back(fmt::format("select({}, {}, {})", cond, a, b));
        break;
      }
    }
  }
  return stack.empty() ? "" : stack.back();
}

}  // namespace tilewright
