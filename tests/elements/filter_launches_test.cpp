// SPDX-License-Identifier: LGPL-2.1-or-later
// Only a few threads launch kernels at the same time, so that the driver's lock is free now and then.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gst/base/device/launch_turn.h"

namespace {

TEST(FilterLaunches, few_threads_launch_at_the_same_time_and_all_get_their_turns) {
  constexpr int kThreads = 16, kTurns = 300;
  std::atomic<int> launching{0}, most{0}, turns{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const cudavision::LaunchTurn mine;
        const int now = ++launching;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
        std::this_thread::yield();
        --launching, ++turns;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kTurns);
  EXPECT_LE(most, cudavision::kMostLaunching);
  EXPECT_GT(most, 1) << "the threads launch one after the other";
}

}  // namespace
