// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the CPU backend: one arena per element, entered from its streaming thread.
#pragma once

#include <functional>
#include <memory>

namespace cudavision {

class Workers {
 public:
  // thread_count: how many threads work at once, the caller's included; 0 means core_count().
  explicit Workers(int thread_count = 0);
  ~Workers();

  // The threads that this process can run at once; more gain nothing.
  static int core_count();

  int thread_count() const { return thread_count_; }
  // Calls body(task, slot) once for every task in [0, task_count), in any order, and returns when all are
  // done. Two calls that run at the same time have different slots in [0, thread_count()): scratch is indexed
  // by slot.
  void run(int task_count, const std::function<void(int task, int slot)> &body) const;

 private:
  struct Arena;
  int thread_count_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace cudavision
