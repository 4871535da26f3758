// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes the place of cuda/common/workers.cpp in builds with ThreadSanitizer: threads of the standard library, whose
// hand-overs it sees. Those of oneTBB's library are invisible to it.
#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "cuda/common/workers.h"

namespace cudavision {

struct Workers::Arena {};

Workers::Workers(int thread_count, const StopFlag *stop) : stop_(stop) { set_thread_count(thread_count); }
Workers::~Workers() = default;

void Workers::set_thread_count(int thread_count) {
  thread_count_ = thread_count > 0 ? thread_count : core_count();
}

int Workers::core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void Workers::run(int task_count, const std::function<void(int, int)> &body) const {
  std::atomic<int> next = 0;
  const int slots = std::max(1, std::min(thread_count_, task_count));
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(slots));
  const auto work = [&](int slot) {
    try {
      for (int task; (task = next++) < task_count;) {
        check_stop();
        body(task, slot);
      }
    } catch (...) {
      errors[static_cast<std::size_t>(slot)] = std::current_exception();
      next = task_count;
    }
  };
  std::vector<std::thread> threads;
  for (int slot = 1; slot < slots; ++slot) threads.emplace_back(work, slot);
  work(0);
  for (std::thread &thread : threads) thread.join();
  for (const std::exception_ptr &error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace cudavision
