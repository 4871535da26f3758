// SPDX-License-Identifier: LGPL-2.1-or-later
// A counter of the objects of one kind that exist in the process.
#pragma once

#include <atomic>

namespace cudavision {

// An object that is counted while it exists. Kind: a type that names what is counted; it may be incomplete.
template <typename Kind>
class Counted {
 public:
  Counted() : others_(count_.fetch_add(1, std::memory_order_relaxed)) {}
  ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted &) = delete;
  Counted &operator=(const Counted &) = delete;

  static int count() { return count_.load(std::memory_order_relaxed); }
  // The number of objects of this kind that existed when this one was made.
  int others() const { return others_; }

 private:
  static inline std::atomic<int> count_{0};
  int others_;
};

}  // namespace cudavision
