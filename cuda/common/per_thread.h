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
  // Calls fit() at once.
  PerThread(const Workers &workers, std::function<T()> make) : make_(std::move(make)) { fit(workers); }

  // Makes or deletes objects until each thread of `workers` has one T. Must be called before Workers::run().
  void fit(const Workers &workers) {
    const auto count = static_cast<std::size_t>(workers.thread_count());
    if (count < all_.size()) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(count), all_.end());
    all_.reserve(count);
    // Constructed directly on the heap, because a T may be larger than the free part of the caller's stack.
    while (all_.size() < count) all_.push_back(std::unique_ptr<T>(new T(make_())));
  }

  // slot: the index of the thread that Workers::run passes.
  T &operator[](int slot) { return *all_[static_cast<std::size_t>(slot)]; }
  // The objects of all threads.
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
