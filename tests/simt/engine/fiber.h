// SPDX-License-Identifier: LGPL-2.1-or-later
// A fiber: a stack of its own, and a switch to it which makes no system call.
#pragma once

#include <cstddef>

namespace simt {

class Fiber {
 public:
  // The stack that the calling OS thread already has.
  Fiber() = default;
  // A new stack, on which entry runs at the first switch to it; entry must not return.
  explicit Fiber(void (*entry)());
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // Leaves this fiber, which must be the running one, for next; returns when somebody switches back.
  void switch_to(Fiber &next);

 private:
  struct Passage;
  static void arrive(Fiber &self, const Passage &passage, void *context_left);
  struct Trampoline;

  void *context_ = nullptr;
  void *sanitizer_state_ = nullptr;
  const void *stack_bottom_ = nullptr;
  std::size_t stack_size_ = 0;
  void (*entry_)() = nullptr;
};

// Idle fibers are kept for the next block, whichever OS thread runs it. Both need the device lock.
Fiber &borrow_fiber(void (*entry)());
void give_back(Fiber &fiber);

}  // namespace simt
