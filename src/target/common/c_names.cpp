#include "target/common/c_names.h"

#include <map>
#include <set>

#include "ir/build.h"
#include "ir/walk.h"

namespace tilewright {

using namespace ir;

namespace {

/// Words of C++ that a name of the language can be.
const std::set<std::string>& words() {
  static const std::set<std::string> all = {
      "alignas",     "alignof",  "and",       "and_eq",    "asm",       "auto",         "bitand",
      "bitor",       "bool",     "break",     "case",      "catch",     "char",         "char8_t",
      "char16_t",    "char32_t", "class",     "co_await",  "co_return", "co_yield",     "compl",
      "concept",     "const",    "consteval", "constexpr", "constinit", "const_cast",   "continue",
      "decltype",    "default",  "delete",    "do",        "double",    "dynamic_cast", "else",
      "enum",        "explicit", "export",    "extern",    "false",     "float",        "for",
      "friend",      "goto",     "if",        "inline",    "int",       "long",         "mutable",
      "namespace",   "new",      "noexcept",  "not",       "not_eq",    "nullptr",      "operator",
      "or",          "or_eq",    "private",   "protected", "public",    "register",     "reinterpret_cast",
      "requires",    "return",   "short",     "signed",    "sizeof",    "static",       "static_assert",
      "static_cast", "struct",   "switch",    "template",  "this",      "thread_local", "throw",
      "true",        "try",      "typedef",   "typeid",    "typename",  "union",        "unsigned",
      "using",       "virtual",  "void",      "volatile",  "wchar_t",   "while",        "xor",
      "xor_eq",      "tw",       "main"};
  return all;
}

bool is_printers(const std::string& name) {
  if (name.back() == '_') return true;
  return name.size() > 1 && name[0] == 'v' && name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

std::string c_name(const std::string& name) { return words().contains(name) ? name + "_1" : name; }

Ref<Kernel> with_c_names(const Ref<Kernel>& kernel, const std::vector<std::string>& reserved) {
  std::set<std::string> taken(reserved.begin(), reserved.end());
  taken.insert(words().begin(), words().end());
  const std::set<std::string> forbidden = taken;
  std::set<std::string> used;
  post_order(kernel, [&](const Node& node) {
    if (const auto* v = as<Var>(&node)) used.insert(v->name);
    if (const auto* b = as<Buffer>(&node)) used.insert(b->name);
  });
  taken.insert(used.begin(), used.end());
  std::map<std::string, std::string> renamed;
  for (const std::string& name : used) {
    if (!is_printers(name) && !forbidden.contains(name)) continue;
    std::string other = name.back() == '_' ? name + "1" : name + "_1";
    while (!taken.insert(other).second) other += "1";
    renamed.emplace(name, other);
  }
  if (renamed.empty()) return kernel;
  return rewrite_as(kernel, [&](const Any& node) -> Any {
    if (const auto* v = as<Var>(node)) {
      auto at = renamed.find(v->name);
      return at == renamed.end() ? node : Any(make<Var>(at->second, v->type));
    }
    if (const auto* b = as<Buffer>(node)) {
      auto at = renamed.find(b->name);
      if (at == renamed.end()) return node;
      return altered(*b, [&](Buffer& o) { o.name = at->second; });
    }
    return node;
  });
}

}  // namespace tilewright
