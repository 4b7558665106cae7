// `tilewright layout`: a layout from its text or its name, drawn.
#include "tilewright/layout.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <memory>

#include "commands.h"
#include "tilewright/error.h"

namespace tilewright::tool {
namespace {

struct Options {
  std::string text, output;
  bool svg = false, list = false;
};

/// Names begin with a letter, and so does a table of one-bit elements.
Layout layout_of(const std::string& text) {
  const bool is_name =
      !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) && !text.starts_with("table[");
  return is_name ? named_layout(text) : parse_layout(text);
}

std::string facts(const Layout& l) {
  std::string text = fmt::format("{} elements of {} bits, in memory for {}", l.size(), l.element_bits(), l.footprint());
  if (l.replicas() > 1) text += fmt::format("; {} replicas", l.replicas());
  text += l.is_injective() ? "; injective" : "; not injective: some elements share a place";
  return text + (l.is_compact() ? "; compact\n" : "; not compact: there are holes\n");
}

std::string names() {
  std::string text;
  for (const NamedLayout& n : named_layouts())
    text += fmt::format("{:<24}  {}\n", n.parameters.empty() ? n.name : n.name + ":" + n.parameters, n.what);
  return text;
}

void print_layout(const Options& options) {
  std::string text;
  if (options.list) {
    text = names();
  } else {
    if (options.text.empty()) throw CLI::RequiredError("LAYOUT");
    const Layout l = layout_of(options.text);
    text = options.svg ? draw_svg(l) : draw_text(l) + facts(l);
  }
  if (options.output.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(options.output);
  file << text;
  file.close();
  if (!file) throw UserError({}, fmt::format("cannot write {}", options.output));
}

}  // namespace

void add_layout(CLI::App& app) {
  CLI::App* command = app.add_subcommand("layout", "Draw a layout");
  auto options = std::make_shared<Options>();
  command->add_option("LAYOUT", options->text, "Text such as 16b[8:64,64:1], or a name of --list such as nz:16x32:f16");
  command->add_flag("-l,--list", options->list, "List the named layouts");
  command->add_flag("--svg", options->svg, "An SVG drawing instead of text");
  command->add_option("-o,--output", options->output, "Write to this file");
  command->footer(
      "Text: element bits, then the axes with modes EXTENT:STRIDE, the most significant first. A stride counts\n"
      "elements, or threads (t), groups (g), blocks of a cluster (c). Then xor(TO,FROM) of bit ranges, rep(MODES), at "
      "BASE:\n"
      "  16b[(2:256,16:16),(2:512,16:1)]             two by two fractals of 16 x 16\n"
      "  16b[8:64,64:1] xor(7-9,10-12)               8 rows of 128 bytes, swizzled\n"
      "  32b[8:4t,(4:1t,2:1)]                        a fragment over 32 threads");
  command->callback([options] { print_layout(*options); });
}

}  // namespace tilewright::tool
