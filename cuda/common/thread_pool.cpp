// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <utility>

namespace cudavision {
namespace {

constexpr std::size_t kStackBytes = 1
                                    << 20;  // whatever the limit is that the host has set for its own threads

// Gives a new thread the normal scheduling policy if the calling thread is a real-time thread, for example for sound.
// The new thread would otherwise inherit that priority, and keep it for the long work of all elements.
void leave_real_time(pthread_attr_t *attributes) {
  int policy = SCHED_OTHER;
  sched_param priority{};
  if (pthread_getschedparam(pthread_self(), &policy, &priority) != 0) return;
  if (policy != SCHED_FIFO && policy != SCHED_RR) return;
  priority.sched_priority = 0;
  (void)pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
  (void)pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
  (void)pthread_attr_setschedparam(attributes, &priority);
}

// Lets a new thread, which works for all elements, run on the cores of the main thread (those that the process was
// given), too, and not only on the cores to which the calling thread is bound.
void leave_binding(pthread_attr_t *attributes) {
  cpu_set_t cores, first;
  if (pthread_getaffinity_np(pthread_self(), sizeof cores, &cores) != 0) return;
  if (sched_getaffinity(getpid(), sizeof first, &first) != 0) return;
  CPU_OR(&cores, &cores, &first);
  (void)pthread_attr_setaffinity_np(attributes, sizeof cores, &cores);
}

// Starts a thread with all signals blocked: the application handles them. Returns false if the system refuses.
bool start_thread(void *(*function)(void *), void *argument, pthread_t *thread) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  (void)pthread_attr_setstacksize(&attributes, kStackBytes);
  leave_real_time(&attributes);
  leave_binding(&attributes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(thread, &attributes, function, argument) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (started) (void)pthread_setname_np(*thread, "cudavision");
  return started;
}

using Clock = std::chrono::steady_clock;

// Polls done() without sleeping, until it returns true or until 20 microseconds after `begin`. Parallel loops follow
// one another within microseconds, and to sleep and be woken takes longer than many of them. Returns whether done().
template <typename Done>
bool wait_briefly(const Done &done, Clock::time_point begin = Clock::now()) {
  constexpr auto kLongest = std::chrono::microseconds(20);
  for (;;) {
    if (done()) return true;
    if (Clock::now() - begin >= kLongest) return false;
#if defined(__x86_64__)
    __builtin_ia32_pause();  // leaves the core to its other hyperthread
#endif
  }
}

// Locks a mutex, polling it before sleeping, because it is held for less time than it takes to sleep and be woken. All
// threads want the mutex at once when a loop begins or ends.
std::unique_lock<std::mutex> lock_soon(std::mutex &mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  if (!wait_briefly([&lock] { return lock.try_lock(); })) lock.lock();
  return lock;
}

}  // namespace

// One call of run().
struct ThreadPool::Round {
  FunctionRef<int> work;
  int most;                     // the maximum number of threads of the pool
  int joined = 0;               // threads of the pool that have joined, including those that have returned
  std::atomic<int> inside = 0;  // threads of the pool that have joined and not returned
  std::condition_variable left{};

  int wanted() const { return most - joined; }
};

std::shared_ptr<ThreadPool> ThreadPool::shared() {
  // Never destroyed: an element may outlive main().
  static auto &mutex = *new std::mutex;
  static auto &pool = *new std::weak_ptr<ThreadPool>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ThreadPool> alive = pool.lock();
  if (!alive) alive.reset(new ThreadPool), pool = alive;
  return alive;
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    wake_.notify_all();
  }
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
}

void ThreadPool::run(int most_threads, FunctionRef<int> work) {
  Round round{work, most_threads - 1};
  std::unique_lock lock = lock_soon(mutex_);
  start_threads(round.most);
  list(&round);
  wake_some(std::move(lock));
  work(0);
  lock = lock_soon(mutex_);
  unlist(&round);
  if (round.inside == 0) return;
  lock.unlock();
  wait_briefly([&round] { return round.inside == 0; });
  lock = lock_soon(mutex_);
  round.left.wait(lock, [&round] { return round.inside == 0; });
}

// Starts threads until the pool has `wanted` threads. After the system has refused one, none is requested for a second.
void ThreadPool::start_threads(int wanted) {
  const auto count = static_cast<std::size_t>(wanted);
  if (threads_.size() >= count) return;
  if (refused_ && Clock::now() - refusal_ < std::chrono::seconds(1)) return;
  threads_.reserve(count), rounds_.reserve(count);
  while (threads_.size() < count) {
    pthread_t thread;
    refused_ = !start_thread(
        [](void *pool) -> void * {
          static_cast<ThreadPool *>(pool)->serve();
          return nullptr;
        },
        this, &thread);
    if (refused_) {
      refusal_ = Clock::now();
      return;
    }
    threads_.push_back(thread);
  }
}

void ThreadPool::list(Round *round) {
  rounds_.push_back(round);
  is_work_ = true;
}

void ThreadPool::unlist(Round *round) {
  std::erase(rounds_, round);
  is_work_ = !rounds_.empty();
}

// Wakes as many sleeping threads as the rounds still want, but at most two: each woken thread calls this again, so that
// the first thread need not wake all of them. Unlocks the mutex first, because the woken threads lock it.
void ThreadPool::wake_some(std::unique_lock<std::mutex> lock) {
  int wanted = -called_;
  for (const Round *round : rounds_) wanted += round->wanted();
  const int count = std::max(0, std::min({2, asleep_, wanted}));
  asleep_ -= count, called_ += count;
  lock.unlock();
  for (int i = 0; i < count; ++i) wake_.notify_one();
}

void ThreadPool::sleep(std::unique_lock<std::mutex> &lock) {
  ++asleep_;
  wake_.wait(lock, [this] { return ends_ || called_ > 0; });
  if (called_ > 0) --called_;
}

// The loop that each thread of the pool runs.
void ThreadPool::serve() {
  std::fesetenv(FE_DFL_ENV);  // instead of the environment inherited from the thread that started this one
  std::unique_lock lock = lock_soon(mutex_);
  for (;;) {
    for (const auto begin = Clock::now(); rounds_.empty();) {
      if (ends_) return;
      lock.unlock();
      const bool is_work = wait_briefly([this] { return is_work_.load(); }, begin);
      lock = lock_soon(mutex_);
      if (!is_work && rounds_.empty() && !ends_) sleep(lock);
    }
    Round &round = *rounds_.front();
    const int slot = ++round.joined;
    ++round.inside;
    if (round.wanted() == 0) unlist(&round);
    wake_some(std::move(lock));
    round.work(slot);
    lock = lock_soon(mutex_);
    unlist(&round);  // work() has returned: no task is left to begin
    if (--round.inside == 0) round.left.notify_one();
  }
}

}  // namespace cudavision
