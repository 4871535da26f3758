// SPDX-License-Identifier: LGPL-2.1-or-later
// A request to stop the work on a frame, made by another thread when the stream is flushed or the element
// stops.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

namespace cudavision {

// The reason for a request, withdrawn on its own: the end of a flush leaves the request of an element that stops.
enum class StopReason : unsigned { flush = 1, stop = 2 };

class StopFlag {
 public:
  void request(StopReason reason) { set(static_cast<unsigned>(reason), 0); }
  void withdraw(StopReason reason) { set(0, static_cast<unsigned>(reason)); }
  bool requested() const { return requested_.load(std::memory_order_relaxed) != 0; }

  // Attaches a word that kernels can poll: it is nonzero while a stop is requested. It must be in pinned memory, and
  // must be detached before it is freed.
  void attach(volatile unsigned *word) const {
    const std::lock_guard lock(mutex_);
    *word = requested_;
    words_.push_back(word);
  }
  void detach(volatile unsigned *word) const {
    const std::lock_guard lock(mutex_);
    std::erase(words_, word);
  }

 private:
  void set(unsigned added, unsigned removed) {
    const std::lock_guard lock(mutex_);
    requested_ = (requested_ | added) & ~removed;
    for (volatile unsigned *word : words_) *word = requested_;
  }

  std::atomic<unsigned> requested_ = 0;
  mutable std::mutex mutex_;
  mutable std::vector<volatile unsigned *> words_;
};

}  // namespace cudavision
