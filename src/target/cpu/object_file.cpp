// Layout of the memory of one object: code with call stubs, then constants with addresses of external symbols, then
// data; each part starts a page and has its own protection. Formats and relocations: System V ABI, AMD64 supplement,
// section 4.4.
#include "target/cpu/object_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tilewright/error.h"

namespace tilewright::cpu {
namespace {

[[noreturn]] void fail(const std::string& why) { throw DeviceError("load object file", 0, why); }

/// What compiled kernels call; looked up here first, so that it does not matter how the process loaded libm.
void* known_function(std::string_view name) {
  struct Entry {
    std::string_view name;
    void* address;
  };
  using Function = double (*)(double);
#define TW_MATH(f) {#f, reinterpret_cast<void*>(static_cast<Function>(std::f))}
  static const Entry table[] = {
      TW_MATH(exp),
      TW_MATH(exp2),
      TW_MATH(log),
      TW_MATH(log2),
      TW_MATH(sin),
      TW_MATH(cos),
      TW_MATH(tanh),
      TW_MATH(erf),
      {"memcpy", reinterpret_cast<void*>(&memcpy)},
      {"memmove", reinterpret_cast<void*>(&memmove)},
      {"memset", reinterpret_cast<void*>(&memset)},
  };
#undef TW_MATH
  for (const Entry& e : table)
    if (e.name == name) return e.address;
  return nullptr;
}

void* external(const std::string& name) {
  if (void* address = known_function(name)) return address;
  if (void* address = dlsym(RTLD_DEFAULT, name.c_str())) return address;
  fail("the code calls " + name + ", which this process does not have");
}

constexpr size_t kLargest = size_t{1} << 30;  // bytes of an object in memory

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

class Linker {
 public:
  explicit Linker(std::string_view bytes) : bytes_(bytes) { read(); }

  /// Bytes of memory that place() needs; part starts are multiples of the page size.
  size_t layout() {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t at = 0;
    for (int part = 0; part < 3; ++part) {
      starts_[part] = at;
      for (size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr& s = sections_[i];
        if (!(s.sh_flags & SHF_ALLOC) || part_of(s) != part) continue;
        if (s.sh_addralign > page) fail("a section asks for more than the alignment of a page");
        at = round_up(at, std::max<size_t>(1, s.sh_addralign));
        places_[i] = static_cast<ptrdiff_t>(at);
        if (s.sh_size > kLargest - at) fail("its sections are larger than 1 GiB");
        at += s.sh_size;
      }
      if (part < 2) {  // stubs behind the code, addresses behind the constants
        at = round_up(at, 16);
        externals_[part] = at;
        at += symbols_.size() * 16;
      }
      at = round_up(at, page);
      if (at > kLargest) fail("its sections are larger than 1 GiB");
    }
    starts_[3] = at;
    return at;
  }

  void place(char* memory) {
    memory_ = memory;
    for (size_t i = 0; i < sections_.size(); ++i)
      if (places_[i] >= 0 && sections_[i].sh_type != SHT_NOBITS)
        std::memcpy(memory + places_[i], at(sections_[i].sh_offset, sections_[i].sh_size), sections_[i].sh_size);
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type == SHT_REL) fail("it has relocations without addends");
      if (s.sh_type == SHT_RELA && s.sh_info < sections_.size() && places_[s.sh_info] >= 0) relocate(s);
    }
    const int protection[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int part = 0; part < 3; ++part)
      if (starts_[part + 1] > starts_[part] &&
          mprotect(memory + starts_[part], starts_[part + 1] - starts_[part], protection[part]) != 0)
        throw DeviceError("mprotect", errno, std::strerror(errno));
  }

  std::unordered_map<std::string, void*> globals() const {
    std::unordered_map<std::string, void*> found;
    for (const Elf64_Sym& s : symbols_)
      if (ELF64_ST_BIND(s.st_info) != STB_LOCAL && is_defined(s)) found[name_of(s)] = memory_ + offset_of(s);
    return found;
  }

 private:
  static int part_of(const Elf64_Shdr& s) { return s.sh_flags & SHF_EXECINSTR ? 0 : s.sh_flags & SHF_WRITE ? 2 : 1; }

  const char* at(uint64_t offset, uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) fail("it is cut short");
    return bytes_.data() + offset;
  }
  template <class T>
  std::vector<T> table(uint64_t offset, uint64_t count) const {
    if (count > bytes_.size()) fail("it is cut short");
    std::vector<T> entries(count);
    if (count) std::memcpy(entries.data(), at(offset, count * sizeof(T)), count * sizeof(T));
    return entries;
  }

  void read() {
    auto header = table<Elf64_Ehdr>(0, 1)[0];
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_REL)
      fail("it is no relocatable ELF file of 64 bits");
#if !defined(__x86_64__)
    fail("objects can be loaded on x86-64 only");
#endif
    if (header.e_machine != EM_X86_64)
      fail(fmt::format("it is for machine type {}, this is x86-64 (62)", header.e_machine));
    sections_ = table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    places_.assign(sections_.size(), -1);
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB) continue;
      symbols_ = table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
      if (s.sh_link >= sections_.size()) fail("its symbols have no names");
      names_ = sections_[s.sh_link];
    }
  }

  std::string name_of(const Elf64_Sym& s) const {
    if (s.st_name >= names_.sh_size) fail("a symbol has no name");
    const char* names = at(names_.sh_offset, names_.sh_size);
    return std::string(names + s.st_name, strnlen(names + s.st_name, names_.sh_size - s.st_name));
  }
  bool is_defined(const Elf64_Sym& s) const { return s.st_shndx < sections_.size() && places_[s.st_shndx] >= 0; }
  size_t offset_of(const Elf64_Sym& s) const {
    if (s.st_value > sections_[s.st_shndx].sh_size) fail("symbol " + name_of(s) + " lies outside its section");
    return static_cast<size_t>(places_[s.st_shndx]) + s.st_value;
  }

  uint64_t address_of(size_t symbol) const {
    const Elf64_Sym& s = symbols_[symbol];
    if (s.st_shndx == SHN_ABS) return s.st_value;
    if (is_defined(s)) return reinterpret_cast<uint64_t>(memory_ + offset_of(s));
    if (s.st_shndx != SHN_UNDEF) fail("symbol " + name_of(s) + " lies in a section that is not loaded");
    return reinterpret_cast<uint64_t>(external(name_of(s)));
  }

  /// A jump to the symbol, near the code.
  uint64_t stub(size_t symbol) {
    char* code = memory_ + externals_[0] + symbol * 16;
    const unsigned char jump[6] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *[rip + 0]
    uint64_t address = address_of(symbol);
    std::memcpy(code, jump, 6);
    std::memcpy(code + 6, &address, 8);
    return reinterpret_cast<uint64_t>(code);
  }
  /// A word that holds the symbol's address, near the code.
  uint64_t slot(size_t symbol) {
    char* word = memory_ + externals_[1] + symbol * 16;
    uint64_t address = address_of(symbol);
    std::memcpy(word, &address, 8);
    return reinterpret_cast<uint64_t>(word);
  }

  void relocate(const Elf64_Shdr& section) {
    const Elf64_Shdr& target = sections_[section.sh_info];
    for (const Elf64_Rela& r : table<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
      const size_t symbol = ELF64_R_SYM(r.r_info);
      const unsigned type = ELF64_R_TYPE(r.r_info);
      const size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
      if (symbol >= symbols_.size() || r.r_offset > target.sh_size || target.sh_size - r.r_offset < width)
        fail("a relocation lies outside its section");
      char* place = memory_ + places_[section.sh_info] + r.r_offset;
      const uint64_t here = reinterpret_cast<uint64_t>(place), addend = static_cast<uint64_t>(r.r_addend);
      int64_t value;
      switch (type) {
        case R_X86_64_64:
          value = static_cast<int64_t>(address_of(symbol) + addend);
          break;
        case R_X86_64_PC64:
          value = static_cast<int64_t>(address_of(symbol) + addend - here);
          break;
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
          value =
              static_cast<int64_t>((is_defined(symbols_[symbol]) ? address_of(symbol) : stub(symbol)) + addend - here);
          break;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
          value = static_cast<int64_t>(slot(symbol) + addend - here);
          break;
        default:
          fail(fmt::format("relocation type {} is not supported", type));
      }
      if (width == 8) {
        std::memcpy(place, &value, 8);
      } else {
        auto narrow = static_cast<int32_t>(value);
        if (narrow != value) fail("a relocation does not reach its symbol");
        std::memcpy(place, &narrow, 4);
      }
    }
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<ptrdiff_t> places_;  // offset of each section in memory, -1 = not loaded
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr names_{};
  size_t starts_[4] = {}, externals_[2] = {};
  char* memory_ = nullptr;
};

}  // namespace

ObjectFile::ObjectFile(std::string_view bytes) {
  Linker linker(bytes);
  size_ = linker.layout();
  if (size_ == 0) fail("it has no code");
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw DeviceError("mmap", errno, std::strerror(errno));
  memory_ = memory;
  try {
    linker.place(static_cast<char*>(memory));
    symbols_ = linker.globals();
  } catch (...) {
    munmap(memory_, size_);
    throw;
  }
}

ObjectFile::~ObjectFile() { munmap(memory_, size_); }

void* ObjectFile::symbol(const std::string& name) const {
  auto found = symbols_.find(name);
  if (found == symbols_.end()) fail("it does not define " + name);
  return found->second;
}

}  // namespace tilewright::cpu
