// SPDX-License-Identifier: LGPL-2.1-or-later
// Fibers based on Boost.Context's assembly switch, with AddressSanitizer's annotations.
#include "tests/simt/engine/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/simt/engine/sanitizer.h"

namespace simt {
namespace {

namespace context = boost::context::detail;

// Large enough for the stack frames of sanitized code. Stacks only reserve address space: untouched pages cost nothing.
constexpr std::size_t kStackBytes = 256 * 1024;
// Stacks that begin at the same offset within a page would compete for the same few cache sets.
constexpr std::size_t kStaggerBytes = 192, kStaggers = 20;

char *map_stack() {
  // The page below the stack is inaccessible, so that an overflow stops at once.
  const auto guard_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void *mapped =
      mmap(nullptr, guard_bytes + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || mprotect(mapped, guard_bytes, PROT_NONE) != 0) {
    std::fprintf(stderr, "simt: no memory for another stack\n");
    std::abort();
  }
  return static_cast<char *>(mapped) + guard_bytes;
}

std::size_t next_stagger() {
  static std::size_t count = 0;
  return count++ % kStaggers * kStaggerBytes;
}

std::vector<Fiber *> &idle_fibers() {
  // Never destroyed: a plugin may still run kernels while the process exits.
  static auto &idle = *new std::vector<Fiber *>;
  return idle;
}

}  // namespace

// Passed from the fiber that is left to the one that is entered; stored on the stack of the one that is left.
struct Fiber::Passage {
  Fiber *from, *to;
};

struct Fiber::Trampoline {
  static void begin(context::transfer_t transfer) {
    const auto &passage = *static_cast<const Passage *>(transfer.data);
    Fiber &self = *passage.to;
    arrive(self, passage, transfer.fctx);
    self.entry_();
    std::abort();
  }
};

Fiber::Fiber(void (*entry)()) : stack_bottom_(map_stack()), stack_size_(kStackBytes), entry_(entry) {
  char *top = static_cast<char *>(const_cast<void *>(stack_bottom_)) + kStackBytes - next_stagger();
  context_ = context::make_fcontext(top, kStackBytes - kStaggers * kStaggerBytes, Trampoline::begin);
}

void Fiber::arrive(Fiber &self, const Passage &passage, void *context_left) {
  Fiber &left = *passage.from;
  left.context_ = context_left;
  // Also learns the bounds of the stack that was left, which may be an OS thread's own.
  after_switch(self.sanitizer_state_, &left.stack_bottom_, &left.stack_size_);
}

void Fiber::switch_to(Fiber &next) {
  const Passage passage{this, &next};
  before_switch(&sanitizer_state_, next.stack_bottom_, next.stack_size_);
  const context::transfer_t back = context::jump_fcontext(next.context_, const_cast<Passage *>(&passage));
  arrive(*this, *static_cast<const Passage *>(back.data), back.fctx);
}

Fiber &borrow_fiber(void (*entry)()) {
  auto &idle = idle_fibers();
  if (idle.empty()) return *new Fiber(entry);
  Fiber &fiber = *idle.back();
  idle.pop_back();
  return fiber;
}

void give_back(Fiber &fiber) { idle_fibers().push_back(&fiber); }

}  // namespace simt
