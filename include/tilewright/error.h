#pragma once
// Errors. A UserError is a wrong program or call and names the user's line; an InternalError is our fault; a
// DeviceError comes from a driver, memory or the network. All derive from Error and are caught once, at an outer
// boundary.
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright {

/// A place in a source file. `file` must outlive every use: a string literal, or a name kept by intern_file().
struct Location {
  const char* file = "";
  uint32_t line = 0;    // 1-based; 0 = unknown
  uint32_t column = 0;  // 1-based; 0 = unknown

  constexpr Location() = default;
  constexpr Location(const char* f, uint32_t l, uint32_t c = 0) : file(f), line(l), column(c) {}
  constexpr Location(const std::source_location& l) : file(l.file_name()), line(l.line()), column(l.column()) {}
  constexpr explicit operator bool() const { return line != 0; }
};

/// "file:line" (or "file:line:column"), "<unknown>" when there is no line.
std::string to_string(const Location& at);

/// A copy of `name` that lives until the process ends.
const char* intern_file(const std::string& name);

/// A second sentence of an error, with its own place: "b declared here".
struct Note {
  Location at;
  std::string text;
};

class Error : public std::runtime_error {
 public:
  Error(const char* kind, Location at, const std::string& message, std::vector<Note> notes);
  const Location& location() const { return at_; }
  /// The sentence alone, without place, kind or notes.
  const std::string& message() const { return message_; }
  const std::vector<Note>& notes() const { return notes_; }

 private:
  Location at_;
  std::string message_;
  std::vector<Note> notes_;
};

/// The program or the call is wrong. what() = "file:line: error: message" and a line for each note.
class UserError : public Error {
 public:
  UserError(Location at, const std::string& message, std::vector<Note> notes = {});
};

/// Tilewright is wrong. what() asks for a report; `message` names the pass or module.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& message, Location at = {});
};

/// A driver, compiler, memory or network failed: API name, code and text.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& api, int64_t code, const std::string& text);
};

/// what() of `e`, followed by the user's source line and a caret when the file can be read.
std::string describe(const Error& e);

}  // namespace tilewright
