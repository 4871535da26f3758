// SPDX-License-Identifier: LGPL-2.1-or-later
// A request to stop the work on a frame, made by another thread when the stream is flushed or the element
// stops.
#pragma once

#include <atomic>
#include <exception>

namespace cudavision {

class StopFlag {
 public:
  void request() { requested_ = true; }
  void clear() { requested_ = false; }
  bool requested() const { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_ = false;
};

// Leaves an algorithm of the CPU backend whose Workers were asked to stop. What the algorithm has written is
// incomplete, and it can only be destroyed.
struct Stopped : std::exception {
  const char *what() const noexcept override { return "the work was stopped"; }
};

}  // namespace cudavision
