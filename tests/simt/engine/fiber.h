// SPDX-License-Identifier: LGPL-2.1-or-later
// A fiber: a stack of its own, entered by a switch without a system call.
#pragma once

#include <cstddef>

namespace simt {

class Fiber {
 public:
  // Represents the stack that the calling OS thread already has.
  Fiber() = default;
  // Makes a new stack, on which entry runs at the first switch to it. entry must not return.
  explicit Fiber(void (*entry)());
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  // Leaves this fiber, which must be the running one, for `next`. Returns when a fiber switches back.
  void switch_to(Fiber &next);

  bool holds(const void *address) const {
    const char *bottom = static_cast<const char *>(stack_bottom_);
    return address >= bottom && address < bottom + stack_size_;
  }

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

// Takes or makes a fiber. Idle fibers are kept for later blocks on any OS thread. Both functions need the device lock.
Fiber &borrow_fiber(void (*entry)());
void give_back(Fiber &fiber);

}  // namespace simt
