#!/bin/sh
# Checks that the whole tree must pass: who includes whom, file sizes, no target's name in src/pass, no path outside the
# repository, no note of unfinished work. Prints one line a fault, FILE:LINE: what; exits 1 when there is one.
#   scripts/check_tree.sh [--format] [ROOT]      --format: also lists files that clang-format-19 would change (no fault)
set -eu

# Who may include whom: a folder of src, and the folders of src that it may include besides itself. Through the public
# headers it sees the same folders. A target also sees target/common and never another target.
include_rules='
base:
numeric: base
layout: base
ir: numeric layout base
dsl: ir numeric layout base
runtime: numeric base
machine: ir runtime numeric layout base
pass: machine ir runtime numeric layout base
target: pass machine ir runtime numeric layout base
jit: target pass dsl machine ir runtime numeric layout base
'
# These live above jit and include only public headers and their own folder.
outside='kernels comm align parallel serve python examples bench tools'
# Public headers of a folder with another name; a public header is otherwise of the folder of its name, or else of base.
header_rules='builder:dsl'
# The one header of a folder that other folders may include; its other headers are internal.
interfaces='pass:pass/passes.h'
# Words that src/pass must not contain, as part of an identifier or in a string. Case does not matter.
target_names='cpu cuda nvrtc ptx nvidia hip rocm amdgpu ascend cann metal msl webgpu wgsl opencl musa maca bang llvm x86'
line_limit=800
sources='\.(cpp|cc|c|h|hpp|inc|cu|hip|py|sh|cmake)$'

format=no
if [ "${1:-}" = --format ]; then
  format=yes
  shift
fi
cd "${1:-$(dirname -- "$0")/..}"

# The files of the repository that exist: tracked ones, and in the project's own folders those that git does not ignore.
# Without git, every file that is not in a build folder.
list_files() {
  if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ]; then
    {
      git ls-files
      git ls-files -o --exclude-standard -- include src test tools bench examples python docs scripts cmake
    } | sort -u
  else
    find . -type f ! -path './build*' ! -path './.git/*' | sed 's|^\./||' | sort
  fi | while IFS= read -r file; do
    [ ! -f "$file" ] || printf '%s\n' "$file"
  done
}

files=$(list_files)
faults=$(
  # of PATTERN COMMAND...: COMMAND with every file whose name matches PATTERN.
  of() {
    pattern=$1
    shift
    printf '%s\n' "$files" | grep -E "$pattern" | tr '\n' '\0' | xargs -0 -r "$@" || true
  }

  # shellcheck disable=SC2016  # awk text
  of '^(include|src|tools|bench|examples|python)/.*\.(cpp|cc|h|hpp|inc)$' \
    awk -v rules="$(printf '%s' "$include_rules" | tr '\n' ';')" -v outside="$outside" -v headers="$header_rules" \
    -v interfaces="$interfaces" '
    BEGIN {
      n = split(rules, line, ";")
      for (i = 1; i <= n; i++)
        if (split(line[i], part, ":") == 2) {
          listed[part[1]] = part[2]
          m = split(part[2], word, " ")
          allowed[part[1], part[1]] = 1
          for (j = 1; j <= m; j++) allowed[part[1], word[j]] = 1
        }
      n = split(outside, line, " ")
      for (i = 1; i <= n; i++) above[line[i]] = 1
      n = split(headers, line, " ")
      for (i = 1; i <= n; i++) { split(line[i], part, ":"); owner[part[1]] = part[2] }
      n = split(interfaces, line, " ")
      for (i = 1; i <= n; i++) { split(line[i], part, ":"); interface[part[1]] = part[2] }
    }
    function fault(what, may) { printf "%s:%d: includes %s; %s\n", FILENAME, FNR, what, may }
    function exists(path,    text, got) { got = (getline text < path) >= 0; close(path); return got }
    # The folder of src whose interface the public header NAME is.
    function folder_of(name) {
      sub(/^tilewright\//, "", name); sub(/\.h$/, "", name); sub(/\/.*/, "", name)
      if (name in owner) return owner[name]
      return (name in listed) || (name in above) ? name : "base"
    }
    FNR == 1 {
      raw = ""
      k = split(FILENAME, path, "/")
      here = FILENAME; sub(/\/[^\/]*$/, "", here)
      me = path[1] == "src" ? path[2] : path[1]
      sub_folder = path[2] == "target" ? path[3] : ""
      text = me == "include" ? "a public header may include only public headers and the standard library" \
           : me in above ? (path[1] == "src" ? "src/" : "") me " may include only public headers (\"tilewright/...\") and its own folder" \
           : !(me in listed) ? "src/" me " has no line in the table of scripts/check_tree.sh" \
           : me == "target" ? "src/target/" sub_folder " may include its own folder, target/common and:" listed[me] \
           : "src/" me " may include" (listed[me] == "" ? " nothing of ours but the public headers of base" : ":" listed[me])
    }
    {
      # Lines inside a raw string literal are text that some other compiler will see.
      if (raw != "") { if (index($0, raw)) raw = ""; next }
      if (match($0, /R"[^ ()\\"]*\(/)) {
        close_mark = ")" substr($0, RSTART + 2, RLENGTH - 3) "\""
        if (!index(substr($0, RSTART + RLENGTH), close_mark)) raw = close_mark
      }
    }
    /^[ \t]*#[ \t]*include[ \t]*[<"]/ {
      what = $0
      sub(/^[ \t]*#[ \t]*include[ \t]*/, "", what)
      quote = substr(what, 1, 1)
      name = substr(what, 2); sub(/[>"].*/, "", name)
      shown = quote name (quote == "<" ? ">" : "\"")
      if (name ~ /(^|\/)\.\.?\//) { fault(shown, "write it relative to include/ or src/"); next }
      if (name ~ /^tilewright\//) {
        if (me in listed && !((me, folder_of(name)) in allowed)) fault(shown " (of " folder_of(name) ")", text)
        next
      }
      if (quote == "<") {
        if (me == "include" && name !~ /^[a-z_]+$/) fault(shown, text)
        next
      }
      split(name, to, "/")
      if (me == "include") { fault(shown, text); next }
      if (me in above) {
        if (to[1] != me && !exists(here "/" name)) fault(shown, text)
        next
      }
      if (FILENAME ~ /\/emulator\// && exists(here "/" name)) next
      if (index(name, "/") == 0) { fault(shown, "write it relative to include/ or src/"); next }
      if (!((me, to[1]) in allowed)) fault(shown, text)
      else if (me != to[1] && to[1] in interface && name != interface[to[1]])
        fault(shown, "only src/" to[1] " may include it; others include " interface[to[1]])
      else if (me == "target" && to[1] == "target" && to[2] != sub_folder && to[2] != "common") fault(shown, text)
    }'

  of "$sources|(^|/)CMakeLists\.txt$|^bootstrap$" awk -v limit=$line_limit '
    FNR == limit + 1 { printf "%s:%d: the file is longer than %d lines; split it\n", FILENAME, FNR, limit }'

  # shellcheck disable=SC2016  # awk text
  of '^src/pass/' awk -v names="$target_names" '
    BEGIN { n = split(names, word, " "); for (i = 1; i <= n; i++) name[word[i]] = 1 }
    {
      code = $0
      sub(/(^|[^:])\/\/.*/, "", code)  # a comment, but not the // of an address in a string
      # Cut identifiers into words: at every character that is no letter or digit, and before a capital after a small letter.
      words = ""
      for (i = 1; i <= length(code); i++) {
        c = substr(code, i, 1)
        if (c ~ /[A-Z]/ && last ~ /[a-z0-9]/) words = words " "
        words = words (c ~ /[A-Za-z0-9]/ ? c : " ")
        last = c
      }
      m = split(tolower(words), part, " ")
      for (i = 1; i <= m; i++)
        if (part[i] in name) {
          printf "%s:%d: names the target \"%s\"; a pass asks the Caps of its machine instead\n", FILENAME, FNR, part[i]
          break
        }
    }'

  # The patterns are written so that they do not match themselves. A folder tilewright... in /tmp is our own.
  of . grep -nIE '(^|[^A-Za-z0-9_.$}/-])/((work|workspace|home|root|Users|mnt|media|srv)/|tmp/([^t]|t[^i]|ti[^l]))' /dev/null |
    sed 's/^\([^:]*:[0-9]*\):\(.*\)$/\1: names a path outside the repository: \2/'
  of . grep -nIwE 'TO[D]O|FIX[M]E' /dev/null |
    sed 's/^\([^:]*:[0-9]*\):\(.*\)$/\1: a note of unfinished work: \2/'
)

if [ $format = yes ] && command -v clang-format-19 >/dev/null; then
  printf '%s\n' "$files" | grep -E '^(include|src|test|tools|bench|examples)/.*\.(cpp|h)$' | while IFS= read -r file; do
    clang-format-19 --dry-run -Werror "$file" >/dev/null 2>&1 || printf '%s: warning: clang-format-19 would change it\n' "$file"
  done
fi

count=$(printf '%s\n' "$files" | wc -l)
if [ -n "$faults" ]; then
  printf '%s\n' "$faults"
  printf 'check_tree: %d faults in %d files\n' "$(printf '%s\n' "$faults" | wc -l)" "$count"
  exit 1
fi
printf 'check_tree: %d files, no fault\n' "$count"
