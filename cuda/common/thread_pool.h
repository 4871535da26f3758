// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads that all Workers of the process share. oneTBB is not used, because it ends the process when the
// system refuses it a thread, and passes exceptions from thread to thread.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace cudavision {

// A reference to a function object, which must outlive the reference. Unlike std::function it allocates nothing.
template <typename... Arguments>
class FunctionRef {
 public:
  template <typename Function>
  FunctionRef(const Function &function)  // implicit, so that lambdas can be passed
      : object_(&function), call_([](const void *object, Arguments... arguments) {
          (*static_cast<const Function *>(object))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(object_, arguments...); }

 private:
  const void *object_;
  void (*call_)(const void *, Arguments...);
};

class ThreadPool {
 public:
  // Returns the pool of the process, which is created for its first user and destroyed with its last shared pointer.
  static std::shared_ptr<ThreadPool> shared();
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  // Calls work(0) on the calling thread and, until that call returns, work(1), work(2), ... on up to most_threads - 1
  // threads of the pool as they become free. Returns when all calls that have begun have returned. work must not throw,
  // and must do everything even if only work(0) is called.
  void run(int most_threads, FunctionRef<int> work);
  // Whether the system has refused the last thread that the pool tried to start. The pool works without that thread.
  bool lacks_threads() const { return refused_; }

 private:
  struct Round;

  ThreadPool() = default;
  void start_threads(int wanted);
  void wake_some(std::unique_lock<std::mutex> lock);
  void sleep(std::unique_lock<std::mutex> &lock);
  void list(Round *round);
  void unlist(Round *round);
  void serve();

  std::atomic<bool> refused_ = false;
  std::mutex mutex_;  // protects everything below
  std::chrono::steady_clock::time_point refusal_;
  std::condition_variable wake_;
  std::vector<pthread_t> threads_;
  std::vector<Round *> rounds_;        // the rounds that more threads may join
  std::atomic<bool> is_work_ = false;  // whether rounds_ has elements
  int asleep_ = 0, called_ = 0;        // sleeping threads; woken threads that do not run yet
  bool ends_ = false;
};

}  // namespace cudavision
