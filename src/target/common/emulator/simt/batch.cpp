// Texts of the SIMT emulator: the two device headers, and batches of kernels compiled to one object.
#include <fmt/format.h>

#include "target/common/emulator/embedded.h"
#include "target/common/emulator/simt/library.h"

namespace tilewright::simt {
namespace {
bool is_identifier(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

/// The text without `extern "C"`: two kernels of one name in two namespaces would else be one function.
std::string without_c_linkage(std::string text) {
  constexpr std::string_view kLinkage = "extern \"C\"";
  for (size_t at = text.find(kLinkage); at != std::string::npos; at = text.find(kLinkage, at))
    text.replace(at, kLinkage.size(), kLinkage.size(), ' ');
  return text;
}

std::string batch_text(std::span<const KernelText> texts) {
  std::string all = device_header_emulated();
  for (size_t i = 0; i < texts.size(); ++i) {
    const KernelText& kernel = texts[i];
    if (!is_identifier(kernel.name))
      throw UserError({}, fmt::format("\"{}\" is not a name that a kernel can have", kernel.name));
    all += fmt::format("namespace tw_kernel_{} {{\n#line 1 \"{}\"\n{}\n}}\n", i, kernel.name,
                       without_c_linkage(kernel.text));
    all += fmt::format(
        "#line 1 \"entry of {0}\"\nextern \"C\" const tw::emu::Entry* tw_simt_entry_{1}() {{ return "
        "tw::emu::entry_of<&tw_kernel_{1}::{0}>(); }}\n",
        kernel.name, i);
  }
  return all;
}
}  // namespace

const std::string& device_header_cuda() {
  static const std::string text = std::string(embedded_simt_rules) + embedded_simt_cuda;
  return text;
}

const std::string& device_header_emulated() {
  static const std::string text = std::string("#define TW_EMULATED\n#line 1 \"abi.device.h\"\n") + embedded_simt_abi +
                                  "#line 1 \"rules.device.h\"\n" + embedded_simt_rules +
                                  "#line 1 \"emulated.device.h\"\n" + embedded_simt_emulated;
  return text;
}

std::vector<Kernel> compile_batch(std::span<const KernelText> texts) {
  auto library = std::make_shared<Library>();
  if (texts.empty()) return {};
  // Generated text may name what it does not use. Frames bigger than a page have to touch the guard page on overflow.
  library->object = compile_host_library(
      batch_text(texts),
      {.name = texts.size() == 1 ? texts[0].name : fmt::format("{}_and_{}", texts[0].name, texts.size() - 1),
       .extra_flags = {"-w", "-fno-math-errno", "-fstack-clash-protection"}});
  library->current = reinterpret_cast<tw::emu::Context** (*)()>(library->object->symbol("tw_simt_context"))();
  for (size_t i = 0; i < texts.size(); ++i) {
    auto entry = library->object->symbol(fmt::format("tw_simt_entry_{}", i));
    library->names.push_back(texts[i].name);
    library->entries.push_back(reinterpret_cast<const tw::emu::Entry* (*)()>(entry)());
  }
  return Library::kernels(library);
}

std::vector<Kernel> Library::kernels(const std::shared_ptr<const Library>& library) {
  std::vector<Kernel> all(library->names.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].library_ = library;
    all[i].index_ = i;
  }
  return all;
}

const std::string& Kernel::name() const { return library_->names[index_]; }

}  // namespace tilewright::simt
