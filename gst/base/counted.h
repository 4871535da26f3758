// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts how many of a kind exist at once in the process.
#pragma once

#include <atomic>

namespace cudavision {

// One of a kind, which is counted as long as it exists. Kind: a type that names it, and need not be complete.
template <typename Kind>
class Counted {
 public:
  Counted() : others_(count_.fetch_add(1, std::memory_order_relaxed)) {}
  ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted &) = delete;
  Counted &operator=(const Counted &) = delete;

  static int count() { return count_.load(std::memory_order_relaxed); }
  // How many there were when this one was made.
  int others() const { return others_; }

 private:
  static inline std::atomic<int> count_{0};
  int others_;
};

}  // namespace cudavision
