#include "runtime/formula.h"

#include <fmt/format.h>

#include "base/check.h"
#include "numeric/scalar.h"

namespace tilewright {

using Kind = Formula::Step::Kind;

int64_t Formula::evaluate(std::span<const int64_t> scalars) const {
  TW_CHECK(!steps.empty(), "formula: no steps");
  std::vector<Scalar> values;
  values.reserve(steps.size());
  for (const Step& step : steps) {
    auto operand = [&](int i) { return values[static_cast<size_t>(step.operand[i])]; };
    switch (step.kind) {
      case Kind::constant:
        values.push_back(Scalar::of_int(step.type, step.value));
        break;
      case Kind::scalar:
        TW_CHECK(step.value >= 0 && step.value < static_cast<int64_t>(scalars.size()), "formula: no such scalar");
        values.push_back(Scalar::of_int(step.type, scalars[static_cast<size_t>(step.value)]));
        break;
      case Kind::unary:
        values.push_back(tilewright::evaluate(static_cast<UnaryOp>(step.value), operand(0)));
        break;
      case Kind::binary:
        values.push_back(tilewright::evaluate(static_cast<BinaryOp>(step.value), operand(0), operand(1)));
        break;
      case Kind::select:
        values.push_back(operand(0).as_bool() ? operand(1) : operand(2));
        break;
      case Kind::cast:
        values.push_back(tilewright::cast(operand(0), step.type));
        break;
    }
  }
  return values.back().as_int();
}

std::string to_string(const Formula& formula, std::span<const std::string> names) {
  constexpr size_t kLongest = 200;  // shared parts would double the text again and again
  std::vector<std::string> texts;
  for (const Formula::Step& step : formula.steps) {
    auto operand = [&](int i) { return texts[static_cast<size_t>(step.operand[i])]; };
    std::string text;
    switch (step.kind) {
      case Kind::constant:
        text = fmt::format("{}", step.value);
        break;
      case Kind::scalar:
        text = names[static_cast<size_t>(step.value)];
        break;
      case Kind::unary:
        text = fmt::format("{}({})", name_of(static_cast<UnaryOp>(step.value)), operand(0));
        break;
      case Kind::binary: {
        BinaryOp op = static_cast<BinaryOp>(step.value);
        std::string_view spelling = spelling_of(op);
        text = spelling.empty() ? fmt::format("{}({}, {})", name_of(op), operand(0), operand(1))
                                : fmt::format("({} {} {})", operand(0), spelling, operand(1));
        break;
      }
      case Kind::select:
        text = fmt::format("select({}, {}, {})", operand(0), operand(1), operand(2));
        break;
      case Kind::cast:
        text = operand(0);
        break;
    }
    if (text.size() > kLongest) text = "(...)";
    texts.push_back(std::move(text));
  }
  return texts.empty() ? "" : texts.back();
}

}  // namespace tilewright
