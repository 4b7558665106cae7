// Facts about extents: how many elements, and which axes a loop runs over.
#include "ir/region.h"

#include <gtest/gtest.h>

#include "ir/build.h"

namespace tilewright::ir {
namespace {

Ref<Buffer> tile(Exprs shape) { return make<Buffer>("t", f32, std::move(shape)); }

TEST(ElementCount, IsTheProductOfTheExtents) {
  EXPECT_EQ(element_count(*tile({})), 1);
  EXPECT_EQ(element_count(*tile({index(3), index(5), index(1)})), 15);
  EXPECT_EQ(element_count(*tile({index(3), index(0)})), 0);
  EXPECT_EQ(element_count(*tile({index(int64_t{1} << 31), index(int64_t{1} << 31)})), int64_t{1} << 62);
}

TEST(ElementCount, NeitherGuessesNorWraps) {
  EXPECT_THROW(element_count(*tile({index(3), make<Var>("n")})), InternalError);
  EXPECT_THROW(element_count(*tile({index(int64_t{1} << 32), index(int64_t{1} << 31)})), InternalError);
}

TEST(LoopAxes, AreThoseWhoseExtentIsNotTheConstantOne) {
  const Expr zero = index(0);
  Ref<Region> region = make<Region>(tile({index(4), index(1), index(4)}), Exprs{zero, zero, zero},
                                    Exprs{index(2), index(1), make<Var>("n")});
  EXPECT_EQ(loop_axes(*region), (std::vector<size_t>{0, 2}));
}

}  // namespace
}  // namespace tilewright::ir
