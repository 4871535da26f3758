// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the CPU backend. Each element has its own arena, which its streaming thread enters.
#pragma once

#include <functional>
#include <memory>

#include "cuda/common/stop.h"

namespace cudavision {

class Workers {
 public:
  // thread_count: the number of threads that work at the same time, including the caller's; 0 means
  // core_count(). stop: may be null.
  explicit Workers(int thread_count = 0, const StopFlag *stop = nullptr);
  ~Workers();

  // Call it only while run() is not running. Algorithms follow it in their next run().
  void set_thread_count(int thread_count);

  // The number of threads that this process can run at the same time.
  static int core_count();

  int thread_count() const { return thread_count_; }
  // Calls body(task, slot) once for every task in [0, task_count), in any order, and returns when all calls
  // have returned. Throws Stopped if the flag asks for it, and what a call throws; the calls that have begun have
  // returned then, too. Concurrent calls have different slots in [0, thread_count()); use the slot as an index
  // into scratch memory.
  void run(int task_count, const std::function<void(int task, int slot)> &body) const;
  // Throws Stopped if the flag asks for it. For long work outside of run().
  void check_stop() const {
    if (stop_ != nullptr && stop_->requested()) throw Stopped();
  }

 private:
  struct Arena;
  const StopFlag *stop_;
  int thread_count_ = 0;
  std::unique_ptr<Arena> arena_;
};

}  // namespace cudavision
