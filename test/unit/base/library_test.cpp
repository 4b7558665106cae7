#include "base/library.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(DynamicLibrary, TakesTheFirstThatLoads) {
  DynamicLibrary library({"libno_such_library.so.1", "libm.so.6", "libc.so.6"});
  ASSERT_TRUE(library.is_loaded()) << library.problem();
  EXPECT_EQ(library.name(), "libm.so.6");
  EXPECT_EQ(library.problem(), "");
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library.find("cos", cosine));
  EXPECT_EQ(cosine(0.0), 1.0);
}

TEST(DynamicLibrary, SaysWhatIsMissing) {
  DynamicLibrary none({"libno_such_library.so.1", "libnor_this.so.2"});
  EXPECT_FALSE(none.is_loaded());
  EXPECT_NE(none.problem().find("libno_such_library.so.1"), std::string::npos) << none.problem();
  EXPECT_NE(none.problem().find("libnor_this.so.2"), std::string::npos) << none.problem();
  void (*function)() = nullptr;
  EXPECT_FALSE(none.find("cos", function));

  DynamicLibrary library({"libm.so.6"});
  EXPECT_FALSE(library.find("no_such_function", function));
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(library.problem(), "libm.so.6 has no no_such_function");
}

}  // namespace
}  // namespace tilewright
