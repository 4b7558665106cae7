// `tilewright run`: the six programs, checked and timed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "commands.h"
#include "job.h"
#include "row.h"
#include "timing.h"

namespace tilewright::tool {
namespace {

struct Options {
  std::vector<std::string> families, targets;
  bool quick = false;
  int threads = 0;
  uint64_t seed = 1;
  std::string json;
};

/// One line of the table to be.
struct Task {
  Entry entry;
  MachineInfo machine;
};

bool chosen(const std::vector<std::string>& filter, const std::string& name) {
  return filter.empty() || std::find(filter.begin(), filter.end(), name) != filter.end();
}

/// The real sizes on the CPU, the small ones everywhere else.
std::vector<Task> tasks(const Options& options) {
  std::vector<Task> all;
  for (bool on_cpu : {true, false})
    for (const MachineInfo& machine : machines()) {
      if ((machine.target == "cpu") != on_cpu) continue;
      if (!chosen(options.targets, machine.target) && !chosen(options.targets, machine.name)) continue;
      for (const Entry& entry : entries(options.quick)) {
        const bool again = on_cpu && entry.one_thread && options.threads == 1;  // the row before it
        if (entry.real == on_cpu && !again && chosen(options.families, entry.family)) all.push_back({entry, machine});
      }
    }
  return all;
}

/// Memory of a device that holds one tensor.
class DeviceTensor {
 public:
  DeviceTensor(Device& device, const HostTensor& host) : device_(device), view_(host.view()), bytes_(host.bytes()) {
    view_.data = device.allocate(bytes_);
  }
  ~DeviceTensor() { device_.release(view_.data); }
  DeviceTensor(const DeviceTensor&) = delete;
  void copy_in(const HostTensor& host) { device_.copy_in(view_.data, host.view().data, bytes_); }
  void copy_out(const HostTensor& host) { device_.copy_out(host.view().data, view_.data, bytes_); }
  const Tensor& view() const { return view_; }

 private:
  Device& device_;
  Tensor view_;
  int64_t bytes_;
};

Row perform(const Task& task, const Job& job, const Options& options) {
  const bool on_cpu = task.machine.target == "cpu";
  Row row;
  row.family = job.family, row.label = job.label, row.type = job.type;
  row.target = task.machine.target, row.device = task.machine.device;
  row.threads = task.entry.one_thread ? 1 : options.threads;
  row.flop = job.flop, row.bytes = job.bytes;
  Kernel kernel = job.compile({task.machine.name, {.threads = row.threads, .seed = options.seed}});
  row.compile_seconds = kernel.compile_seconds();
  std::vector<std::unique_ptr<DeviceTensor>> tensors;
  std::vector<Argument> arguments;
  for (const HostTensor& input : job.inputs) {
    tensors.push_back(std::make_unique<DeviceTensor>(kernel.device(), input));
    tensors.back()->copy_in(input);
    arguments.emplace_back(tensors.back()->view());
  }
  DeviceTensor output(kernel.device(), job.output);
  std::memset(job.output.view().data, 0xff, static_cast<size_t>(job.output.bytes()));  // NaN, not an earlier result
  output.copy_in(job.output);
  arguments.emplace_back(output.view());
  for (double scalar : job.scalars) arguments.emplace_back(scalar);

  std::function<void()> peer;
  std::unique_ptr<HostTensor> peer_output;
  if (on_cpu && job.run_peer) {
    row.peer = job.peer;
    peer_output = std::make_unique<HostTensor>(job.output.view().dtype, job.output.view().shape);
    peer = [&] { job.run_peer(job, *peer_output, row.threads); };
  }
  const double budget = !on_cpu ? 0 : options.quick ? 0.1 : 1;
  const Timing timing = time_both([&] { kernel.launch(arguments); }, peer, budget);
  row.seconds = timing.seconds;
  row.peer_seconds = timing.peer_seconds;
  output.copy_out(job.output);
  const Agreement agreement = job.check(job);
  row.error = agreement.error;
  row.tolerance = agreement.tolerance;
  return row;
}

std::string result_text(const Row& row) {
  std::string text = fmt::format("{}, {}", duration_text(row.seconds), rate_text(row));
  if (!row.peer.empty()) text += fmt::format(", {:.2f} x {}", row.ratio(), row.peer);
  return row.ok() ? text : fmt::format("WRONG: error {:.3g}, bound {:.3g}", row.error, row.tolerance);
}

/// build/run.json for a program of a build folder, run.json of the current folder for an installed one.
std::string default_json() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return std::filesystem::exists(folder / "CMakeCache.txt") ? (folder / "run.json").string() : "run.json";
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream file(path);
  file << json_text(rows);
  file.close();
  if (!file) throw UserError({}, fmt::format("cannot write {}", path));
}

int run(Options options) {
  if (options.threads == 0) options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const std::vector<Task> all = tasks(options);
  if (all.empty())
    throw UserError({},
                    "nothing to run: the programs at real sizes run on the cpu, only vector_add and reverse elsewhere");
  std::vector<Row> rows;
  int failed = 0;
  std::set<std::string> left_out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Task& task = all[i];
    if (!task.machine.available) {
      left_out.insert(fmt::format("{} is not available here: {}", task.machine.name, task.machine.reason));
      continue;
    }
    fmt::print(stderr, "[{:2}/{}] {} on {}: ", i + 1, all.size(), task.entry.family, task.machine.name);
    std::fflush(stderr);
    try {
      const Job job = task.entry.make(options.seed);
      fmt::print(stderr, "{} {} ", job.label, to_string(job.type));
      std::fflush(stderr);
      rows.push_back(perform(task, job, options));
      failed += !rows.back().ok();
      fmt::print(stderr, "{}\n", result_text(rows.back()));
    } catch (const Error& e) {
      ++failed;
      fmt::print(stderr, "FAILED\n{}\n", describe(e));
    } catch (const std::exception& e) {  // memory, threads
      ++failed;
      fmt::print(stderr, "FAILED\n{}\n", e.what());
    }
  }
  const std::string path = options.json.empty() ? default_json() : options.json;
  write_json(path, rows);
  fmt::print("{}", table_text(rows));
  fmt::print("ratio: the peer's time over ours; above 1 we are faster\n");
  for (const std::string& sentence : left_out) fmt::print("left out: {}\n", sentence);
  fmt::print("{} rows in {}\n", rows.size(), path);
  if (failed > 0) fmt::print(stderr, "{} of {} rows failed\n", failed, all.size());
  return failed > 0 ? 1 : 0;
}

std::string is_thread_count(const std::string& text) {
  int count = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool ok = wrong == std::errc() && end == text.data() + text.size() && count >= 1 && count <= 1024;
  return ok ? "" : fmt::format("wanted a number from 1 to 1024, got '{}'", text);
}

}  // namespace

void add_run(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("run", "Run the six programs, checked and timed");
  command->footer(
      "On the CPU at real sizes, checked against an f64 reference and timed beside OpenBLAS (gemm) or a plain C++ "
      "loop;\n"
      "then vector_add and reverse in small sizes on the interpreter and the emulators. Status 1 when a row is wrong.");
  auto options = std::make_shared<Options>();
  std::set<std::string> families, targets;
  for (const Entry& entry : entries(true)) families.insert(entry.family);
  for (const MachineInfo& machine : machines()) targets.insert({machine.target, machine.name});
  command->add_option("-f,--family", options->families, "Only these programs")
      ->delimiter(',')
      ->check(CLI::IsMember(families));
  command->add_option("-t,--target", options->targets, "Only these targets or machines")
      ->delimiter(',')
      ->check(CLI::IsMember(targets));
  command->add_flag("-q,--quick", options->quick, "Smaller sizes and fewer repeats");
  command->add_option("--threads", options->threads, "Threads of the CPU and of its peer; default: all processors")
      ->check(is_thread_count);
  command->add_option("--seed", options->seed, "Of the random inputs and of the emulators' interleavings; default: 1");
  command->add_option("--json", options->json,
                      "Where the rows go; default: run.json in the build folder, or here when installed");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace tilewright::tool
