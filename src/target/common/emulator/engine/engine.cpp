#include "target/common/emulator/engine/engine.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "target/common/emulator/embedded.h"
#include "target/common/emulator/engine/core.h"
#include "target/common/host_compiler.h"
#include "tilewright/error.h"

namespace tilewright::engine {
using namespace tw_engine;

namespace {

/// Blanks what cannot stand inside a namespace: the include of kernel_operator.h and `extern "C"`, which would give all
/// kernels of one name one symbol. Lines and columns stay.
std::string prepare(const Text& text) {
  std::string s = text.source;
  uint32_t line = 1;
  for (size_t i = 0; i < s.size(); ++line) {
    size_t end = s.find('\n', i);
    if (end == std::string::npos) end = s.size();
    const size_t first = s.find_first_not_of(" \t", i);
    if (first < end && s[first] == '#' && s.find("include", first) < end) {
      if (s.find("kernel_operator.h", first) >= end) {
        throw UserError({intern_file(text.name), line},
                        fmt::format("kernel text {}: only kernel_operator.h can be included on the emulator, got '{}'",
                                    text.name, s.substr(first, end - first)));
      }
      s.replace(i, end - i, end - i, ' ');
    }
    i = end + 1;
  }
  static constexpr char kExtern[] = "extern \"C\"";
  for (size_t at = 0; (at = s.find(kExtern, at)) != std::string::npos;) {
    const size_t next = s.find_first_not_of(" \t\n", at + 10);
    const bool block = next != std::string::npos && s[next] == '{';
    s.replace(at, 10, block ? "namespace " : "          ");
  }
  return s;
}

bool is_identifier(const std::string& s) {
  return !s.empty() &&
         s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos &&
         !(s[0] >= '0' && s[0] <= '9');
}

Core& core_of(void* self) { return *static_cast<Core*>(self); }

Api api_of(Core& core, int64_t block, int64_t blocks) {
  Api api;
  api.self = &core;
  api.block = block;
  api.blocks = blocks;
  api.issue = [](void* self, const Op* op) { core_of(self).issue(*op); };
  api.scalar_read = [](void* self, const Ref* at, uint32_t bytes, void* out, uint32_t line) {
    core_of(self).scalar_read(*at, bytes, out, line);
  };
  api.scalar_write = [](void* self, const Ref* at, uint32_t bytes, const void* in, uint32_t line) {
    core_of(self).scalar_write(*at, bytes, in, line);
  };
  api.set_flag = [](void* self, int event, int64_t id, uint32_t line) { core_of(self).set_flag(event, id, line); };
  api.wait_flag = [](void* self, int event, int64_t id, uint32_t line) { core_of(self).wait_flag(event, id, line); };
  api.barrier = [](void* self, int pipe, uint32_t line) { core_of(self).barrier(pipe, line); };
  api.local_tensor = [](void* self, const Ref* tensor, uint32_t line) { core_of(self).local_tensor(*tensor, line); };
  api.clean_cache = [](void* self, const Ref* at, bool entire, uint32_t line) {
    core_of(self).clean_cache(*at, entire, line);
  };
  return api;
}

}  // namespace

std::string batch_text(const std::vector<Text>& texts, int npu_arch) {
  if (npu_arch != 2201) {
    throw UserError({}, fmt::format("the engine emulator knows __NPU_ARCH__ 2201, got {}", npu_arch));
  }
  std::set<std::string> names;
  std::string out = fmt::format("#define __NPU_ARCH__ {}\n#line 1 \"abi.device.h\"\n{}#line 1 \"ascendc.device.h\"\n{}",
                                npu_arch, embedded_engine_abi, embedded_engine_ascendc);
  std::string table;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& name = texts[i].name;
    if (!is_identifier(name)) throw UserError({}, fmt::format("'{}' is not a name of a kernel function", name));
    const std::string& entry = texts[i].entry.empty() ? name : texts[i].entry;
    if (!names.insert(entry).second)
      throw UserError({}, fmt::format("two kernel texts of one batch are named {}", entry));
    out += fmt::format("namespace tw_text_{} {{\n#line 1 \"{}\"\n{}\n}}\n", i, name, prepare(texts[i]));
    const std::string thunk = fmt::format("tw_engine::Thunk<&tw_text_{}::{}>", i, name);
    table += fmt::format("  {{\"{}\", {}::count, {}::sizes, &{}::call}},\n", entry, thunk, thunk, thunk);
  }
  out += fmt::format(
      "#line 1 \"batch\"\nextern \"C\" const tw_engine::Entry tw_engine_entries[] = {{\n{}  {{nullptr, 0, nullptr, "
      "nullptr}}}};\n",
      table);
  out += "extern \"C\" void tw_engine_bind(const tw_engine::Api* api) { tw_engine::api = api; }\n";
  return out;
}

Program Program::compile(const std::vector<Text>& texts, int npu_arch) {
  HostCompileOptions options;
  options.name = texts.size() == 1 ? "ascendc-" + texts[0].name : "ascendc-batch";
  Program p;
  p.library_ = compile_host_library(batch_text(texts, npu_arch), options);
  return p;
}

double Program::compile_seconds() const { return library_->from_cache() ? 0 : library_->compile_seconds(); }

Report Program::launch(const std::string& kernel, int64_t cores, const std::vector<Argument>& arguments,
                       const Options& options) const {
  const Entry* entry = static_cast<const Entry*>(library_->symbol("tw_engine_entries"));
  while (entry->name && kernel != entry->name) ++entry;
  if (!entry->name) throw UserError({}, fmt::format("no kernel named {} in this batch", kernel));
  if (static_cast<size_t>(entry->parameters) != arguments.size()) {
    throw UserError({}, fmt::format("{} takes {} arguments, got {}", kernel, entry->parameters, arguments.size()));
  }
  if (cores < 1 || cores > 65535) {
    throw UserError({}, fmt::format("{}: a launch has 1 to 65535 cores, got {}", kernel, cores));
  }
  LaunchState state;
  state.kernel = kernel;
  state.deferred = options.deferred;
  state.seed = options.seed;
  state.strict_scalar = options.strict_scalar;
  std::vector<uint64_t> slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (a.size != entry->size[i]) {
      auto text = [](uint32_t size) {
        return size ? fmt::format("a scalar of {} bytes", size) : std::string("global memory");
      };
      throw UserError({}, fmt::format("{}: parameter {} is {}, got {}", kernel, i, text(entry->size[i]), text(a.size)));
    }
    if (a.size == 0 && (a.bytes < 0 || (a.bytes > 0 && !a.data))) {
      throw UserError({}, fmt::format("{}: argument {} has {} bytes at a null address", kernel, i, a.bytes));
    }
    state.regions.emplace_back(static_cast<int>(i), a.data, a.size ? 0 : a.bytes, a.defined);
    slots.push_back(a.size ? a.bits : Region::base(static_cast<int>(i)));
  }
  // The object has one current core: launches of a process take turns.
  static std::mutex turn;
  std::lock_guard<std::mutex> lock(turn);
  using Bind = void (*)(const Api*);
  const Bind bind = reinterpret_cast<Bind>(library_->symbol("tw_engine_bind"));
  for (int64_t block = 0; block < cores; ++block) {
    Core core(state, block);
    Api api = api_of(core, block, cores);
    bind(&api);
    try {
      entry->call(slots.data());
      core.finish();
    } catch (const Stopped&) {  // reported; the other cores still run
    }
  }
  bind(nullptr);
  return std::move(state.report);
}

}  // namespace tilewright::engine
