#pragma once
// The text form of a TW_NODE, cut into parts. {x} is field x; `[ words {x}]` is an optional group, left out when x has
// its default value; a `[` without a blank behind it is itself, as is its `]`. Private to the printer and the parser.
#include <string_view>

namespace tilewright::ir {

struct FormPart {
  enum Kind : uint8_t { literal, field, open_group, close_group } kind = literal;
  std::string_view text;   // literal: the characters; field: its name; open_group: the name of the field that decides
  bool bracketed = false;  // field: stands between literal [ and ]
};

/// Calls part(FormPart) for each part of `form`, in order.
template <class F>
constexpr void each_part(std::string_view form, F&& part) {
  bool in_group = false;
  size_t begin = 0;
  auto flush = [&](size_t end) {
    if (end > begin) part(FormPart{FormPart::literal, form.substr(begin, end - begin)});
  };
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '{') {
      flush(i);
      size_t end = form.find('}', i);
      part(FormPart{FormPart::field, form.substr(i + 1, end - i - 1), i > 0 && form[i - 1] == '['});
      i = end;
    } else if (form[i] == '[' && form[i + 1] == ' ') {
      flush(i);
      size_t name = form.find('{', i) + 1;
      part(FormPart{FormPart::open_group, form.substr(name, form.find('}', name) - name)});
      in_group = true;
    } else if (form[i] == ']' && in_group) {
      flush(i);
      part(FormPart{FormPart::close_group, {}});
      in_group = false;
    } else {
      continue;
    }
    begin = i + 1;
  }
  flush(form.size());
}

}  // namespace tilewright::ir
