// SPDX-License-Identifier: LGPL-2.1-or-later
// Scratch memory of each thread of the CPU backend.
#pragma once

#include <functional>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

#include "cuda/common/workers.h"

namespace cudavision {

template <typename T>
class PerThread {
 public:
  explicit PerThread(std::function<T()> make) : make_(std::move(make)) {}
  // Makes one T for each thread, now. fit() does so again when the number of threads has changed.
  PerThread(const Workers &workers, std::function<T()> make) : make_(std::move(make)) { fit(workers); }

  // Call it before Workers::run.
  void fit(const Workers &workers) {
    const auto count = static_cast<std::size_t>(workers.thread_count());
    if (count < all_.size()) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(count), all_.end());
    all_.reserve(count);
    // Made in place: some scratch memory is larger than what the host may have left of the stack.
    while (all_.size() < count) all_.push_back(std::unique_ptr<T>(new T(make_())));
  }

  // slot: the index of the thread that Workers::run passes.
  T &operator[](int slot) { return *all_[static_cast<std::size_t>(slot)]; }
  // Those of all threads.
  auto each() {
    return std::views::transform(all_, [](const std::unique_ptr<T> &one) -> T & { return *one; });
  }
  auto each() const {
    return std::views::transform(all_, [](const std::unique_ptr<T> &one) -> const T & { return *one; });
  }

 private:
  std::function<T()> make_;
  std::vector<std::unique_ptr<T>> all_;
};

}  // namespace cudavision
