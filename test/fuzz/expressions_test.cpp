// Expressions at random: simplifying keeps every bit of the value, ranges hold, proofs are right.
#include "fuzz/expressions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/build.h"
#include "ir/simplify.h"
#include "ir/text.h"

namespace tilewright::fuzz {
namespace {

using namespace ir;

/// Variables of every type, the integers in ranges, and conditions that hold.
class Setting {
 public:
  Setting(Random& random, int facts) : random_(random) {
    for (DType type : all_types())
      for (int n = 0; n < (type == i64 ? 3 : 1); ++n) {
        variables.push_back(make<Var>(fmt::format("v{}", variables.size()), type));
        ranges_.push_back(random_range(type));
        if (type.is_int() || type.is_bool()) context.bind(variables.back(), ranges_.back());
      }
    for (DType type : {i64, i32, f32, u8, e4m3})
      buffers.push_back(make<Buffer>(fmt::format("B_{}", tilewright::to_string(type)), type, Exprs{index(8)}));
    Expressions conditions(random, variables, {}, {.depth = 2, .loads = false});
    for (int n = 0; n < facts; ++n) {
      const Expr condition = conditions.make(boolean);
      const bool value = random.chance(70);
      context.assume(condition, value);
      facts_.emplace_back(condition, value);
    }
  }

  /// A point where the facts hold; false when none is found.
  bool find_point(Point& point) {
    for (int tries = 0; tries < 50; ++tries) {
      for (size_t n = 0; n < variables.size(); ++n) {
        const DType type = variables[n]->type;
        point[variables[n]->name] =
            type.is_float() ? random_value(random_, type) : random_value(random_, type, ranges_[n]);
      }
      bool holds = true;
      for (const auto& [condition, value] : facts_) holds = holds && value_at(condition, point, 0).as_bool() == value;
      if (holds) return true;
    }
    return false;
  }

  std::string describe(const Point& point) const {
    std::string text = fmt::format("at {}", to_string(point));
    for (size_t n = 0; n < variables.size(); ++n)
      if (variables[n]->type == i64)
        text += fmt::format("\n  {} in [{}, {}]", variables[n]->name, static_cast<int64_t>(ranges_[n].lo),
                            static_cast<int64_t>(ranges_[n].hi));
    for (const auto& [condition, value] : facts_)
      text += fmt::format("\n  {}: {}", value ? "holds" : "does not hold", print(condition));
    return text;
  }

  std::vector<Ref<Var>> variables;
  std::vector<Ref<Buffer>> buffers;
  Context context;

 private:
  Range random_range(DType type) {
    if (type.is_float()) return {};
    const Range whole = range_of_type(type);
    Range r{random_value(random_, type, whole).as_int(), 0};
    if (!type.is_signed_int()) r.lo = static_cast<Wide>(static_cast<uint64_t>(r.lo));
    switch (random_.below(5)) {
      case 0:
        return whole;
      case 1:
        return {r.lo, std::min(whole.hi, r.lo + random_.below(10))};
      default:
        return {std::max<Wide>(whole.lo, -random_.below(4)), std::min<Wide>(whole.hi, random_.in(0, 100))};
    }
  }

  Random& random_;
  std::vector<Range> ranges_;
  std::vector<std::pair<Expr, bool>> facts_;
};

Wide wide(const Scalar& s) { return s.type.is_signed_int() ? Wide{s.as_int()} : static_cast<Wide>(s.bits); }

/// The smallest part of `e` that simplify() changes the value of.
std::string guilty_part(const Expr& e, const Context& context, const Point& point, uint64_t memory) {
  for (const Expr& part : parts_of(e)) {
    const Expr simple = simplify(part, context);
    const Scalar before = value_at(part, point, memory), after = value_at(simple, point, memory);
    if (before != after)
      return fmt::format("{}\n  = {}\nsimplified:\n{}\n  = {}", print(part), tilewright::to_string(before),
                         print(simple), tilewright::to_string(after));
  }
  return fmt::format("{}\n(as a whole only) simplified:\n{}", print(e), print(simplify(e, context)));
}

void check_simplify(Random& random, int facts) {
  Setting setting(random, facts);
  Expressions expressions(random, setting.variables, setting.buffers);
  Point point;
  if (!setting.find_point(point)) return;
  for (int n = 0; n < 4; ++n) {
    const DType type = random.chance(50) ? i64 : random.pick(all_types());
    const Expr e = expressions.make(type);
    const Expr simple = simplify(e, setting.context);
    ASSERT_EQ(simple->dtype, e->dtype);
    for (int at = 0; at < 4; ++at) {
      if (!setting.find_point(point)) return;
      const uint64_t memory = random.bits();
      ASSERT_EQ(value_at(e, point, memory), value_at(simple, point, memory))
          << guilty_part(e, setting.context, point, memory) << "\n"
          << setting.describe(point);
    }
  }
}

TEST(Simplify, KeepsTheValue) {
  for_cases(1500, [](Random& random) { check_simplify(random, 0); });
}

TEST(Simplify, KeepsTheValueWhereTheFactsHold) {
  for_cases(1500, [](Random& random) { check_simplify(random, static_cast<int>(random.in(1, 4))); });
}

TEST(Simplify, ASecondTimeFindsNothing) {
  for_cases(800, [](Random& random) {
    Setting setting(random, 0);
    Expressions expressions(random, setting.variables, setting.buffers);
    const Expr once = simplify(expressions.make(random.pick(all_types())), setting.context);
    const Expr twice = simplify(once, setting.context);
    EXPECT_TRUE(same_expr(once.get(), twice.get())) << print(once) << "\nand again\n" << print(twice);
  });
}

TEST(Bounds, RangesHoldEveryValue) {
  for_cases(1500, [](Random& random) {
    Setting setting(random, static_cast<int>(random.below(3)));
    Expressions expressions(random, setting.variables, setting.buffers);
    const Expr e = expressions.make(random.chance(60) ? i64 : i32);
    Point point;
    for (int at = 0; at < 6; ++at) {
      if (!setting.find_point(point)) return;
      const uint64_t memory = random.bits();
      for (const Expr& part : parts_of(e)) {
        if (part->dtype.is_float()) continue;
        const Range r = setting.context.range(part);
        const Wide v = wide(value_at(part, point, memory));
        ASSERT_TRUE(r.lo <= v && v <= r.hi)
            << print(part) << " = " << static_cast<int64_t>(v) << ", but its range is " << static_cast<int64_t>(r.lo)
            << " to " << static_cast<int64_t>(r.hi) << "\n"
            << setting.describe(point);
      }
    }
  });
}

TEST(Bounds, ProofsAreRight) {
  for_cases(2500, [](Random& random) {
    Setting setting(random, static_cast<int>(random.below(5)));
    Expressions expressions(random, setting.variables, {}, {.depth = 4, .loads = false});
    const Expr e = expressions.make(boolean);
    const Proof proof = setting.context.prove(e);
    if (proof == Proof::unknown) return;
    Point point;
    for (int at = 0; at < 6; ++at) {
      if (!setting.find_point(point)) return;
      ASSERT_EQ(value_at(e, point, 0).as_bool(), proof == Proof::yes) << print(e) << "\n" << setting.describe(point);
    }
  });
}

/// make() by the helpers of build.h folds constants; the interpreter computes them.
TEST(Fold, ConstantsGiveWhatRunsGive) {
  for_cases(3000, [](Random& random) {
    Expressions expressions(random, {}, {}, {.depth = 3});
    const Expr e = expressions.make(random.pick(all_types()));
    Context context;
    const Expr folded = simplify(e, context);
    ASSERT_EQ(folded->kind, Kind::Const) << print(e);
    EXPECT_EQ(as<Const>(folded)->value, value_at(e, {}, 0)) << print(e);
  });
}

}  // namespace
}  // namespace tilewright::fuzz
