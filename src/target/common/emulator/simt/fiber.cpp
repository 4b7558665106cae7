// Stacks and switching of the SIMT emulator's fibers.
#include "target/common/emulator/simt/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tilewright/error.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define TW_HAND_SWITCH 1
// Saves the callee-saved registers and the stack pointer in *from, and continues where `to` was saved.
extern "C" void tw_simt_switch(void** from, void* to);
__asm__(R"(
.text
.p2align 4
.hidden tw_simt_switch
.globl tw_simt_switch
.type tw_simt_switch,@function
tw_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tw_simt_switch, .-tw_simt_switch
)");
#else
#define TW_HAND_SWITCH 0
#endif

namespace tilewright::simt {

struct Fibers::Portable {
  ucontext_t caller;
  std::vector<ucontext_t> fibers;
};

namespace {
thread_local Fibers* starting = nullptr;  // whose fiber is entered first by the switch in progress

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
}  // namespace

Fibers::Fibers(int count, int64_t stack_bytes, bool portable, void (*entry)(void*), void* argument)
    : count_(count), portable_(portable || !TW_HAND_SWITCH), entry_(entry), argument_(argument), stacks_(count) {
  int64_t page = ::sysconf(_SC_PAGESIZE);
  stride_ = round_up(stack_bytes, page) + page;
  slab_bytes_ = stride_ * count_ + page;
  void* slab = ::mmap(nullptr, static_cast<size_t>(slab_bytes_), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (slab == MAP_FAILED)
    throw DeviceError("mmap", errno, "stacks of the emulated threads: " + std::string(std::strerror(errno)));
  slab_ = static_cast<char*>(slab);
  for (int i = 0; i <= count_; ++i) {
    if (::mprotect(slab_ + i * stride_, static_cast<size_t>(page), PROT_NONE) == 0) continue;
    int code = errno;
    ::munmap(slab_, static_cast<size_t>(slab_bytes_));
    throw DeviceError("mprotect", code, "guard pages of the emulated threads: " + std::string(std::strerror(code)));
  }
  if (portable_) {
    contexts_ = std::make_unique<Portable>();
    contexts_->fibers.resize(static_cast<size_t>(count_));
  }
}

Fibers::~Fibers() { ::munmap(slab_, static_cast<size_t>(slab_bytes_)); }

// Stacks start at different cache sets: at equal offsets in their pages, the frames of all threads would evict each
// other.
char* Fibers::top(int i) const { return slab_ + (i + 1) * stride_ - (i * 192) % 3072; }

void Fibers::start() {
  Fibers* fibers = starting;
  fibers->entry_(fibers->argument_);
  fibers->pause();
  __builtin_trap();  // a finished fiber is never resumed
}

void Fibers::restart(int i) {
  if (portable_) {
    ucontext_t& context = contexts_->fibers[i];
    ::getcontext(&context);
    char* bottom = slab_ + i * stride_ + ::sysconf(_SC_PAGESIZE);
    context.uc_stack.ss_sp = bottom;
    context.uc_stack.ss_size = static_cast<size_t>(top(i) - bottom);
    context.uc_link = nullptr;
    ::makecontext(&context, start, 0);
    return;
  }
  void** sp = reinterpret_cast<void**>(top(i));
  *--sp = nullptr;                          // start() never returns
  *--sp = reinterpret_cast<void*>(&start);  // where the switch's ret goes
  for (int k = 0; k < 6; ++k) *--sp = nullptr;
  stacks_[i] = sp;
}

void Fibers::resume(int i) {
  current_ = i;
  starting = this;
  if (portable_) {
    ::swapcontext(&contexts_->caller, &contexts_->fibers[i]);
    return;
  }
#if TW_HAND_SWITCH
  tw_simt_switch(&caller_, stacks_[i]);
#endif
}

void Fibers::pause() {
  if (portable_) {
    ::swapcontext(&contexts_->fibers[current_], &contexts_->caller);
    return;
  }
#if TW_HAND_SWITCH
  tw_simt_switch(&stacks_[current_], caller_);
#endif
}

}  // namespace tilewright::simt
