#pragma once
// Runs a program of this build and keeps what it printed.
#include <string>

namespace tilewright::test {

struct Finished {
  int status = -1;  // exit status; -1 when it ended by a signal
  std::string out, err;
};

/// A shell command line whose first word is the name of a program in build/bin; `input` is its standard input.
Finished run_tool(const std::string& command, const std::string& input = "");

/// A file in a folder of this process, removed at its end.
std::string scratch_file(const std::string& name);
void write_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);

/// Whether this build has that machine, and can run it here.
bool has_machine(const std::string& name);

}  // namespace tilewright::test
