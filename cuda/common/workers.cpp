// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the CPU backend, implemented with oneTBB.
#include "cuda/common/workers.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace cudavision {

struct Workers::Arena {
  tbb::task_arena arena;
};

Workers::Workers(int thread_count, const StopFlag *stop) : stop_(stop) { set_thread_count(thread_count); }

void Workers::set_thread_count(int thread_count) {
  const int count = thread_count > 0 ? thread_count : core_count();
  if (count == thread_count_) return;
  arena_ = count > 1 ? std::make_unique<Arena>(Arena{tbb::task_arena(count)}) : nullptr;
  thread_count_ = count;
}

Workers::~Workers() = default;

int Workers::core_count() { return tbb::info::default_concurrency(); }

void Workers::run(int task_count, const std::function<void(int, int)> &body) const {
  if (!arena_ || task_count < 2) {
    for (int task = 0; task < task_count; ++task) {
      check_stop();
      body(task, 0);
    }
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        0, task_count,
        [&](int task) {
          check_stop();
          body(task, tbb::this_task_arena::current_thread_index());
        },
        tbb::simple_partitioner());
  });
}

}  // namespace cudavision
