// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/workers.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "cuda/common/memory_budget.h"

namespace cudavision {

Workers::Workers(int thread_count, const StopFlag *stop) : stop_(stop) { set_thread_count(thread_count); }

void Workers::set_thread_count(int thread_count) {
  const int count = thread_count > 0 ? thread_count : core_count();
  if (count == thread_count_) return;
  if (count == 1)
    pool_.reset();
  else if (pool_ == nullptr)
    pool_ = ThreadPool::shared();
  thread_count_ = count;
}

// hardware_concurrency() counts only the cores to which the calling thread may be bound.
int Workers::core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Status Workers::run_tasks(int task_count, FunctionRef<int, int> body) const {
  const int threads = std::min(thread_count_, task_count);
  if (threads < 2)  // without atomic counters, which take as long as many a task
    return catch_bad_alloc([&] {
      for (int task = 0; task < task_count && !stopped(); ++task) body(task, 0);
      return stopped() ? Status(Status::Code::stopped) : Status();
    });
  std::atomic<int> next = 0;
  std::atomic<bool> failed = false;
  Status failure;  // of the first task that has failed
  const auto work = [&](int slot) {
    for (int task; !stopped() && (task = next.fetch_add(1, std::memory_order_relaxed)) < task_count;) {
      Status status = catch_bad_alloc([&] {
        body(task, slot);
        return Status();
      });
      if (status.ok()) continue;
      next.store(task_count, std::memory_order_relaxed);
      if (!failed.exchange(true)) failure = std::move(status);
    }
  };
  pool_->run(threads, work);
  if (!failure.ok()) return failure;
  return stopped() ? Status(Status::Code::stopped) : Status();
}

}  // namespace cudavision
