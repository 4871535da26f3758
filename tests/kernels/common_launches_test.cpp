// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that launch kernels leave the driver's lock free for those that allocate.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "cuda/common/launch_gate.h"

namespace cudavision {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 3 * LaunchGate::kMostLaunching;

// Threads that call `work` until the object is destroyed.
class Busy {
 public:
  explicit Busy(const std::function<void()> &work) {
    for (int i = 0; i < kThreads; ++i)
      threads_.emplace_back([this, work] {
        while (!ends_) work();
      });
  }
  ~Busy() {
    ends_ = true;
    for (std::thread &thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

TEST(Launches, few_threads_launch_at_the_same_time_and_all_get_their_turns) {
  constexpr int kTurns = 300;
  LaunchGate gate;
  std::atomic<int> launching{0}, most{0}, turns{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const LaunchTurn mine(gate);
        const int now = ++launching;
        for (int before = most; before < now && !most.compare_exchange_weak(before, now);) continue;
        std::this_thread::yield();
        --launching, ++turns;
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kTurns);
  EXPECT_LE(most, LaunchGate::kMostLaunching);
  EXPECT_GT(most, 1) << "the threads launch one after the other";
}

// The lock of the GNU C library prefers readers, as that of the driver does: as long as one thread holds it for
// reading, others get it for reading, too, and a writer waits. Here a thread releases it only if another one holds it,
// as long as others come.
TEST(Launches, a_thread_that_allocates_gets_the_lock_of_the_driver_soon) {
  using Clock = std::chrono::steady_clock;
  LaunchGate gate;
  std::shared_timed_mutex driver;
  std::atomic<int> holders{0};
  const Busy launches([&] {
    const LaunchTurn turn(gate);
    const std::shared_lock lock(driver);
    ++holders;
    for (const auto end = Clock::now() + 20ms; Clock::now() < end; std::this_thread::yield())
      if (int now = holders; now > 1 && holders.compare_exchange_strong(now, now - 1)) return;
    --holders;
  });
  while (holders < 2) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    const Allocation allocation(&gate);
    ASSERT_TRUE(driver.try_lock_for(30s)) << "allocation " << i << " starves";
    driver.unlock();
  }
}

TEST(Launches, launches_wait_for_an_allocation_on_their_own_device_only) {
  LaunchGate gate, of_other_device;
  std::atomic<int> turns{0};
  const Busy launches([&] {
    const LaunchTurn turn(gate);
    ++turns;
  });
  while (turns == 0) std::this_thread::yield();
  {
    const Allocation allocation(&gate);
    // A thread that has found the gate open before may still begin.
    const int before = turns;
    for (int i = 0; i < 1000; ++i) const LaunchTurn theirs(of_other_device);
    std::this_thread::sleep_for(20ms);
    EXPECT_LE(turns, before + kThreads);
  }
  for (const int now = turns; turns == now;) std::this_thread::yield();
}

TEST(Launches, each_device_counts_its_own_elements) {
  LaunchGate &first = LaunchGate::of_device(1001), &second = LaunchGate::of_device(1002);
  EXPECT_EQ(&first, &LaunchGate::of_device(1001));
  std::vector<std::unique_ptr<WorkingElement>> elements;
  for (int i = 0; i <= LaunchGate::kFewElements; ++i) {
    EXPECT_TRUE(first.few_elements_work());
    elements.push_back(std::make_unique<WorkingElement>(first));
  }
  EXPECT_FALSE(first.few_elements_work());
  EXPECT_TRUE(second.few_elements_work());
  elements.pop_back();
  EXPECT_TRUE(first.few_elements_work());
}

}  // namespace
}  // namespace cudavision
