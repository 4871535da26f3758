// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/memory_budget.h"

namespace cudavision {

thread_local std::shared_ptr<MemoryBudget> MemoryBudget::current_;

void MemoryBudget::set_limit(std::size_t bytes, const char *who) {
  limit_ = bytes;
  who_ = who;
}

Status MemoryBudget::take(std::size_t bytes) {
  std::size_t used = used_;
  do {
    if (const std::size_t limit = limit_; used > limit || bytes > limit - used) {
      const std::size_t needed = bytes > SIZE_MAX - used ? SIZE_MAX : used + bytes;
      return refusal(needed);
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return {};
}

Status MemoryBudget::refusal(std::size_t needed) const {
  return out_of_memory("at least " + std::to_string(needed) + " bytes are needed, and " + who_.load() + " " +
                       std::to_string(limit()));
}

MemoryCharge &MemoryCharge::operator=(MemoryCharge &&other) noexcept {
  if (this == &other) return *this;
  give_back();
  budget_ = std::move(other.budget_);
  bytes_ = other.bytes_;
  return *this;
}

void MemoryCharge::give_back() {
  if (budget_) budget_->give_back(bytes_);
  budget_.reset();
}

Status MemoryCharge::take(std::size_t bytes) {
  give_back();
  const std::shared_ptr<MemoryBudget> &budget = MemoryBudget::current();
  if (!budget) return {};
  CUDAVISION_TRY(budget->take(bytes));
  budget_ = budget;
  bytes_ = bytes;
  return {};
}

void *allocate_charged(MemoryBudget *budget, std::size_t bytes, std::size_t alignment) {
  if (budget != nullptr)
    if (Status status = budget->take(bytes); !status.ok()) throw OverBudget(std::move(status));
  void *memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  if (memory != nullptr) return memory;
  if (budget != nullptr) budget->give_back(bytes);
  throw std::bad_alloc();
}

void free_charged(MemoryBudget *budget, void *memory, std::size_t bytes, std::size_t alignment) {
  ::operator delete (memory, std::align_val_t{alignment});
  if (budget != nullptr) budget->give_back(bytes);
}

}  // namespace cudavision
