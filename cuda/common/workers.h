// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs parallel loops of the CPU backend for one element, on the threads of ThreadPool.
#pragma once

#include <algorithm>
#include <memory>

#include "cuda/common/image.h"
#include "cuda/common/status.h"
#include "cuda/common/stop.h"
#include "cuda/common/thread_pool.h"

namespace cudavision {

class Workers {
 public:
  // thread_count: the number of threads that work at the same time, including the caller's; 0 means
  // core_count(). stop: may be null.
  explicit Workers(int thread_count = 0, const StopFlag *stop = nullptr);

  // Must not be called during Workers::run(). Algorithms take up the new number with the next frame.
  void set_thread_count(int thread_count);

  // The number of threads that this process can run at the same time.
  static int core_count();

  int thread_count() const { return thread_count_; }
  // Whether the system has refused a thread, so that fewer threads than thread_count() work.
  bool lacks_threads() const { return pool_ != nullptr && pool_->lacks_threads(); }

  // Calls body(task, slot) for every task in [0, task_count), in any order, and returns when all calls have returned.
  // If a stop is requested, or if a call runs out of memory (std::bad_alloc), no further call begins, and the error is
  // returned; the output of the tasks is then incomplete. Concurrent calls have different slots in [0, thread_count());
  // use the slot as an index into scratch memory.
  template <typename Body>
  Status run(int task_count, const Body &body) const {
    return run_tasks(task_count, body);
  }
  // Calls body(first, end, slot) for strips [first, end) of at most rows_per_strip rows, which cover `rows`.
  template <typename Body>
  Status run_strips(int rows, int rows_per_strip, const Body &body) const {
    return run(divide_up(rows, rows_per_strip), [&](int task, int slot) {
      const int first = task * rows_per_strip;
      body(first, std::min(rows, first + rows_per_strip), slot);
    });
  }
  // Calls body(y, slot) for each row. A task consists of rows_per_task rows, so that it takes longer than starting it.
  template <typename Body>
  Status run_rows(int rows, int rows_per_task, const Body &body) const {
    return run_strips(rows, rows_per_task, [&](int first, int end, int slot) {
      for (int y = first; y < end; ++y) body(y, slot);
    });
  }
  // Whether a stop is requested. For long work outside of run(), and in long tasks.
  bool stopped() const { return stop_ != nullptr && stop_->requested(); }

 private:
  Status run_tasks(int task_count, FunctionRef<int, int> body) const;

  const StopFlag *stop_;
  int thread_count_ = 0;
  std::shared_ptr<ThreadPool> pool_;  // null for one thread
};

}  // namespace cudavision
