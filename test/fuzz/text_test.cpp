// Mutations of printed programs: the parser reads them or says, with line and column, why not; what it has read prints
// to a text that reads back the same; and neither the verifier, the simplifier nor a pass breaks on it.
#include "ir/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "fuzz/programs.h"
#include "ir/simplify.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "tilewright/jit.h"
#include "unit/ir/samples.h"

namespace tilewright::fuzz {
namespace {

using namespace ir;

/// The pieces that a reader of the text sees: words, numbers, single marks, blanks.
std::vector<std::string> pieces_of(const std::string& text) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  std::vector<std::string> pieces;
  for (char c : text) {
    if (!pieces.empty() && is_word(c) && is_word(pieces.back().back()))
      pieces.back() += c;
    else
      pieces.emplace_back(1, c);
  }
  return pieces;
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& p : pieces) text += p;
  return text;
}

const std::vector<std::string>& spare_pieces() {
  static const std::vector<std::string> pieces = {"0",
                                                  "-1",
                                                  "1",
                                                  "9223372036854775807",
                                                  "9223372036854775808",
                                                  "1e999",
                                                  "nan",
                                                  "inf",
                                                  "2:f32",
                                                  "3:u4",
                                                  "true",
                                                  "f16",
                                                  "i64",
                                                  "bool",
                                                  "f32x4",
                                                  "%0",
                                                  "%9",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ":+",
                                                  ":",
                                                  "->",
                                                  ",",
                                                  "//",
                                                  "\"",
                                                  "#",
                                                  "@",
                                                  "\n",
                                                  " ",
                                                  "\t",
                                                  std::string(1, '\0'),
                                                  "\xff",
                                                  "seq",
                                                  "for",
                                                  "when",
                                                  "let",
                                                  "and",
                                                  "copy",
                                                  "shared",
                                                  "global",
                                                  "grid",
                                                  "stage",
                                                  "store",
                                                  "min",
                                                  "cast<",
                                                  "parallel"};
  return pieces;
}

std::string mutated(Random& random, const std::string& text, const std::string& other) {
  std::vector<std::string> pieces = pieces_of(text);
  const std::vector<std::string> from = pieces_of(other);
  for (int64_t n = random.in(1, 4); n > 0 && !pieces.empty(); --n) {
    const int64_t at = random.below(static_cast<int64_t>(pieces.size()));
    const auto here = pieces.begin() + at;
    const int64_t length = std::min<int64_t>(random.chance(70) ? 1 : random.in(1, 30), pieces.end() - here);
    switch (random.below(6)) {
      case 0:
        pieces.erase(here, here + length);
        break;
      case 1:
        *here = random.pick(spare_pieces());
        break;
      case 2:
        pieces.insert(here, random.pick(spare_pieces()));
        break;
      case 3: {  // a stretch again elsewhere
        const std::vector<std::string> copy(here, here + length);
        const int64_t to = random.below(static_cast<int64_t>(pieces.size()));
        pieces.insert(pieces.begin() + to, copy.begin(), copy.end());
        break;
      }
      case 4: {  // a stretch of another program
        const int64_t first = random.below(static_cast<int64_t>(from.size()));
        const int64_t last = std::min<int64_t>(first + length, static_cast<int64_t>(from.size()));
        pieces.insert(here, from.begin() + first, from.begin() + last);
        break;
      }
      default: {  // two words of one kind change places
        const int64_t to = random.below(static_cast<int64_t>(pieces.size()));
        std::swap(pieces[static_cast<size_t>(at)], pieces[static_cast<size_t>(to)]);
      }
    }
  }
  return joined(pieces);
}

std::string any_text(Random& random) {
  switch (random.below(5)) {
    case 0:
      return kTracedSample;
    case 1:
      return kEnginesSample;
    default:
      return print(random_program(random));
  }
}

/// The kernel, or null after an error that names a place inside the text.
Ref<ir::Kernel> parsed(const std::string& text) {
  try {
    return parse_kernel(text, "fuzz");
  } catch (const UserError& e) {
    const auto lines = static_cast<uint32_t>(std::ranges::count(text, '\n')) + 1;
    EXPECT_GE(e.location().line, 1u) << e.what();
    EXPECT_LE(e.location().line, lines) << e.what();
    EXPECT_GE(e.location().column, 1u) << e.what();
    EXPECT_FALSE(e.message().empty());
    return nullptr;
  }
}

TEST(Text, MutatedProgramsAreReadOrRefused) {
  int64_t read = 0, total = 0;
  for_cases(1500, [&](Random& random) {
    const std::string text = mutated(random, any_text(random), any_text(random));
    note(text);
    ++total;
    const Ref<ir::Kernel> kernel = parsed(text);
    if (!kernel) return;
    ++read;
    const std::string printed = print(kernel);
    const Ref<ir::Kernel> back = parse_kernel(printed, "printed");
    ASSERT_TRUE(equal(kernel, back)) << printed;
    ASSERT_EQ(print(back), printed);
    if (broken_promise(kernel)) return;
    const Ref<ir::Kernel> simple = simplify(kernel);
    if (auto broken = broken_promise(simple)) FAIL() << broken->sentence << "\nsimplified:\n" << print(simple);
  });
  // Most mutations break a program; some must not, or nothing behind the parser was tested.
  if (total >= 500) {
    EXPECT_GT(read, total / 50);
  }
}

TEST(Text, PassesRefuseWhatTheyCannotDo) {
  for_cases(300, [](Random& random) {
    const std::string text = mutated(random, print(random_program(random)), any_text(random));
    note(text);
    for (const char* machine : {"cuda-emulator", "ascend-emulator"}) {
      try {
        run_passes(text, "fuzz", pass_names(machine), machine);
      } catch (const UserError& e) {
        EXPECT_FALSE(e.message().empty());
      }
    }
  });
}

/// Bytes that no printer made.
TEST(Text, RandomBytesAreRefused) {
  for_cases(500, [](Random& random) {
    std::string text(static_cast<size_t>(random.below(200)), ' ');
    for (char& c : text) c = static_cast<char>(random.chance(80) ? random.in(32, 126) : random.below(256));
    note(text);
    EXPECT_FALSE(parsed(text));
    EXPECT_FALSE(parsed("kernel k stage traced {\n" + text));
  });
}

}  // namespace
}  // namespace tilewright::fuzz
