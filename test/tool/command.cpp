#include "command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tilewright/jit.h"

namespace tilewright::test {
namespace {

/// /tmp/tilewright-tool-NNNN
struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("tilewright-tool-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

}  // namespace

std::string scratch_file(const std::string& name) {
  static const Folder folder;
  return (folder.path / name).string();
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Finished run_tool(const std::string& command, const std::string& input) {
  const std::string in = scratch_file("in"), out = scratch_file("out"), err = scratch_file("err");
  write_file(in, input);
  const std::string line = std::string(TW_BIN_DIR) + "/" + command + " <" + in + " >" + out + " 2>" + err;
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

bool has_machine(const std::string& name) {
  for (const MachineInfo& m : machines())
    if (m.name == name) return m.available;
  return false;
}

}  // namespace tilewright::test
