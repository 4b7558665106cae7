#include "tilewright/error.h"

#include <fmt/format.h>

#include <fstream>
#include <mutex>
#include <set>

namespace tilewright {

std::string to_string(const Location& at) {
  if (!at) return "<unknown>";
  return at.column ? fmt::format("{}:{}:{}", at.file, at.line, at.column) : fmt::format("{}:{}", at.file, at.line);
}

const char* intern_file(const std::string& name) {
  static std::mutex mutex;
  static auto* names = new std::set<std::string>;  // never freed: locations may be read while the process ends
  std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

namespace {
std::string compose(const char* kind, const Location& at, const std::string& message, const std::vector<Note>& notes) {
  std::string text =
      at ? fmt::format("{}:{}: {}: {}", at.file, at.line, kind, message) : fmt::format("{}: {}", kind, message);
  for (const Note& note : notes)
    text += note.at ? fmt::format("\n{}:{}: note: {}", note.at.file, note.at.line, note.text)
                    : fmt::format("\nnote: {}", note.text);
  return text;
}
}  // namespace

Error::Error(const char* kind, Location at, const std::string& message, std::vector<Note> notes)
    : std::runtime_error(compose(kind, at, message, notes)), at_(at), message_(message), notes_(std::move(notes)) {}

UserError::UserError(Location at, const std::string& message, std::vector<Note> notes)
    : Error("error", at, message, std::move(notes)) {}

InternalError::InternalError(const std::string& message, Location at)
    : Error("internal error", at, message,
            {{{}, "this is a bug in Tilewright: please report it with the program that caused it"}}) {}

DeviceError::DeviceError(const std::string& api, int64_t code, const std::string& text)
    : Error("device error", {}, fmt::format("{} failed with code {}: {}", api, code, text), {}) {}

std::string describe(const Error& e) {
  std::string text = e.what();
  const Location& at = e.location();
  std::ifstream file(at ? at.file : "");
  std::string line;
  for (uint32_t i = 0; i < at.line; ++i)
    if (!std::getline(file, line)) return text;
  if (line.empty()) return text;
  text += fmt::format("\n{:>5} | {}", at.line, line);
  if (at.column) text += fmt::format("\n      | {:>{}}", '^', at.column);
  return text;
}

}  // namespace tilewright
