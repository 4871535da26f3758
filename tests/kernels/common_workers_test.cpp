// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the CPU backend.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <new>
#include <thread>
#include <vector>

#include "cuda/common/workers.h"

namespace {

using namespace cudavision;

TEST(Workers, request_to_stop_leaves_tasks_undone) {
  for (const int threads : {1, 3}) {
    StopFlag stop;
    const Workers workers(threads, &stop);
    std::atomic<int> done = 0;
    const auto run = [&] {
      return workers.run(1000, [&](int, int) {
        if (++done == 5) stop.request(StopReason::flush);
      });
    };
    EXPECT_EQ(run().code(), Status::Code::stopped);
    EXPECT_LT(done, 1000);
    stop.withdraw(StopReason::stop);  // not the reason of the request
    EXPECT_EQ(run().code(), Status::Code::stopped);
    stop.withdraw(StopReason::flush);
    done = 5;
    EXPECT_TRUE(run().ok());
    EXPECT_EQ(done, 1005);
  }
}

TEST(Workers, lack_of_memory_in_a_task_is_an_error) {
  for (const int threads : {1, 3}) {
    std::atomic<int> begun = 0;
    const Status status = Workers(threads).run(1000, [&begun](int task, int) {
      ++begun;
      if (task == 7) throw std::bad_alloc();
      std::this_thread::sleep_for(
          std::chrono::microseconds(50));  // otherwise all end before the first is caught
    });
    EXPECT_EQ(status.code(), Status::Code::out_of_memory);
    EXPECT_NE(status.text(), "");
    EXPECT_LT(begun, 1000);
  }
}

TEST(Workers, each_task_is_called_once_and_no_slot_is_used_twice_at_a_time) {
  const Workers first(4), second(7);
  for (int round = 0; round < 200; ++round)
    for (const Workers *workers : {&first, &second}) {
      std::vector<std::atomic<int>> calls(100), busy(static_cast<std::size_t>(workers->thread_count()));
      std::atomic<bool> shared = false;
      ASSERT_TRUE(workers
                      ->run(100,
                            [&](int task, int slot) {
                              if (busy[static_cast<std::size_t>(slot)].fetch_add(1) != 0) shared = true;
                              ++calls[static_cast<std::size_t>(task)];
                              --busy[static_cast<std::size_t>(slot)];
                            })
                      .ok());
      EXPECT_FALSE(shared);
      for (const std::atomic<int> &count : calls) ASSERT_EQ(count, 1);
    }
}

TEST(Workers, of_several_threads_share_the_pool) {
  std::vector<std::thread> callers;
  std::atomic<int> calls = 0;
  for (int i = 0; i < 5; ++i)
    callers.emplace_back([&calls] {
      for (int round = 0; round < 50; ++round)
        EXPECT_TRUE(Workers(3).run(20, [&calls](int, int) { ++calls; }).ok());
    });
  for (std::thread &caller : callers) caller.join();
  EXPECT_EQ(calls, 5 * 50 * 20);
}

// A host may bind one of its threads to a core. If this thread starts the pool's threads, they must not inherit the
// binding, because they serve all threads.
TEST(Workers, threads_are_not_bound_to_the_core_of_the_thread_that_starts_them) {
  cpu_set_t given, one;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof given, &given), 0);
  if (CPU_COUNT(&given) < 2) GTEST_SKIP() << "the process has one core";
  int core = 0;
  while (CPU_ISSET(core, &given) == 0) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::thread([&] {
    ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    const pthread_t caller = pthread_self();
    std::atomic<int> cores = 0;
    while (cores == 0)
      ASSERT_TRUE(Workers(2)
                      .run(50,
                           [&](int, int) {
                             if (pthread_equal(pthread_self(), caller) != 0) return std::this_thread::yield();
                             cpu_set_t own;
                             if (pthread_getaffinity_np(pthread_self(), sizeof own, &own) == 0)
                               cores = CPU_COUNT(&own);
                           })
                      .ok());
    EXPECT_EQ(cores, CPU_COUNT(&given));
  }).join();
}

// The pool's threads leave no trace: none handles a signal of the host, and none outlives its last user.
TEST(Workers, threads_take_no_signals_and_end_with_their_last_user) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  {
    const Workers workers(3);
    EXPECT_EQ(threads(), before);  // none is started before there is work
    const pthread_t caller = pthread_self();
    std::atomic<int> unblocked = 0;
    std::atomic<bool> helped = false;
    while (!helped)
      ASSERT_TRUE(workers
                      .run(50,
                           [&](int, int) {
                             if (pthread_equal(pthread_self(), caller) != 0) return std::this_thread::yield();
                             helped = true;
                             sigset_t blocked;
                             pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                             for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1})
                               unblocked += sigismember(&blocked, signal) == 0;
                           })
                      .ok());
    EXPECT_EQ(unblocked, 0);
    EXPECT_EQ(threads(), before + 2);
  }
  // The system lists a thread for a moment after its end.
  for (int i = 0; i < 1000 && threads() != before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(threads(), before);
}

TEST(Workers, threads_of_a_real_time_thread_are_ordinary_ones) {
  bool permitted = false;
  std::atomic<int> policy = -1;  // of a thread of the pool
  std::thread caller([&] {
    const sched_param least{.sched_priority = 1};
    permitted = pthread_setschedparam(pthread_self(), SCHED_RR, &least) == 0;
    const pthread_t self = pthread_self();
    const Workers workers(2);
    while (permitted && policy == -1)
      EXPECT_TRUE(workers
                      .run(50,
                           [&](int, int) {
                             if (pthread_equal(pthread_self(), self) != 0)
                               return std::this_thread::sleep_for(std::chrono::milliseconds(1));
                             policy = sched_getscheduler(0);
                           })
                      .ok());
  });
  caller.join();
  if (!permitted) GTEST_SKIP() << "the system permits no real-time threads";
  EXPECT_EQ(policy, SCHED_OTHER);
}

// Runs in a child process that cannot start threads. The limit on processes does not bind root, so root becomes another
// user first.
TEST(Workers, without_threads_the_caller_does_all_the_work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    const bool limited =
        (geteuid() != 0 || setresuid(54321, 54321, 54321) == 0) && setrlimit(RLIMIT_NPROC, &none) == 0;
    const Workers workers(8);
    int done = 0;
    const bool ok = workers.run(100, [&done](int, int) { ++done; }).ok();
    _exit(limited && ok && done == 100 && workers.lacks_threads() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
