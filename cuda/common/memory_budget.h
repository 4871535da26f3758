// SPDX-License-Identifier: LGPL-2.1-or-later
// A limit on the memory of an element. Everything that cuda/ allocates for an element, in host or device
// memory, is charged to the element's budget, and an allocation beyond the limit fails like one for which the
// machine has no memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cuda/common/status.h"

namespace cudavision {

class MemoryBudget {
 public:
  // who: the words before the limit in error texts, such as "max-memory allows"; must outlive the budget. Thread-safe.
  void set_limit(std::size_t bytes, const char *who);
  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_; }

  // Takes `bytes` from the budget, or fails with out_of_memory and says how many bytes are needed. Thread-safe.
  Status take(std::size_t bytes);
  void give_back(std::size_t bytes) { used_ -= bytes; }
  // The error of an element that needs this many bytes in all.
  Status refusal(std::size_t needed) const;

  // While it exists, allocations of this thread are charged to the budget (RAII). The scopes of a thread nest.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<MemoryBudget> budget)
        : before_(std::exchange(current_, std::move(budget))) {}
    ~Scope() { current_ = std::move(before_); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

   private:
    std::shared_ptr<MemoryBudget> before_;
  };
  // The budget of the innermost scope of this thread; null outside of all scopes.
  static const std::shared_ptr<MemoryBudget> &current() { return current_; }

 private:
  static thread_local std::shared_ptr<MemoryBudget> current_;

  std::atomic<std::size_t> limit_ = SIZE_MAX, used_ = 0;
  std::atomic<const char *> who_ = "";
};

// Thrown instead of std::bad_alloc when an allocation exceeds the budget.
class OverBudget : public std::bad_alloc {
 public:
  explicit OverBudget(Status status) : status_(std::move(status)) {}
  Status take_status() { return std::move(status_); }
  const char *what() const noexcept override { return "over the memory budget"; }

 private:
  Status status_;
};

// Calls function(), which returns a Status, and converts std::bad_alloc and OverBudget to one. Allocates nothing.
template <typename Function>
Status catch_bad_alloc(const Function &function) {
  try {
    return function();
  } catch (OverBudget &refused) {
    return refused.take_status();
  } catch (const std::bad_alloc &) {
    return Status(Status::Code::out_of_memory);
  }
}

// The bytes of a budget that one allocation uses. Move-only; gives them back when destroyed.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  ~MemoryCharge() { give_back(); }
  MemoryCharge(MemoryCharge &&other) noexcept { *this = std::move(other); }
  MemoryCharge &operator=(MemoryCharge &&other) noexcept;

  // Gives back what was charged before, and charges `bytes` to the current budget, if there is one.
  Status take(std::size_t bytes);

  void give_back();

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::size_t bytes_ = 0;
};

// Allocates and frees memory that is charged to a budget, which may be null. Throws OverBudget or std::bad_alloc.
void *allocate_charged(MemoryBudget *budget, std::size_t bytes, std::size_t alignment);
void free_charged(MemoryBudget *budget, void *memory, std::size_t bytes, std::size_t alignment);

// The allocator of Array. It charges the budget that is current when it is constructed, so that an array which grows on
// another thread is charged to the same budget.
template <typename T>
class BudgetAllocator {
 public:
  using value_type = T;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  BudgetAllocator() : budget_(MemoryBudget::current()) {}
  template <typename U>
  BudgetAllocator(const BudgetAllocator<U> &other) : budget_(other.budget()) {}

  T *allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T *>(allocate_charged(budget_.get(), count * sizeof(T), alignof(T)));
  }
  void deallocate(T *memory, std::size_t count) {
    free_charged(budget_.get(), memory, count * sizeof(T), alignof(T));
  }

  const std::shared_ptr<MemoryBudget> &budget() const { return budget_; }
  template <typename U>
  friend bool operator==(const BudgetAllocator &a, const BudgetAllocator<U> &b) {
    return a.budget() == b.budget();
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
};

// An array in host memory whose size depends on that of the frame.
template <typename T>
using Array = std::vector<T, BudgetAllocator<T>>;

}  // namespace cudavision
