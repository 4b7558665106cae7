#pragma once
// Parts of this project's own texts.
#include <string>
#include <vector>

namespace tilewright::refused {

/// The path of a file of the source tree.
std::string source_path(const std::string& path);
/// The lines of a file of the source tree.
std::vector<std::string> lines_of(const std::string& path);
/// The lines between `// snippet: NAME` and `// end`, without their common indentation.
std::string snippet_of(const std::string& path, const std::string& name);
/// The wrong half of a case in compile/cases.cpp, and the text that its diagnostic must contain.
std::string wrong_half_of_case(int number);
std::string message_of_case(int number);
/// How many cases there are.
int count_cases();

}  // namespace tilewright::refused
