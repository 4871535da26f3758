// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for the card without wasting a core.
#include "base/stream_wait.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/check.h"

namespace cudavision {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// The longest that a thread polls in one wait: alone, and while others wait too.
struct PollLimits {
  nanoseconds alone, beside_others;
};

PollLimits limits_from_environment() {
  // TUNE
  const auto us = [](const char *name, int value) {
    const char *text = std::getenv(name);
    return microseconds(text != nullptr ? std::atoi(text) : value);
  };
  return {us("CUDAVISION_POLL_ALONE", 200), us("CUDAVISION_POLL_BESIDE", 25)};
}

const PollLimits &limits() {
  static const PollLimits read = limits_from_environment();
  return read;
}

// Beyond that, the time that the driver needs to wake a thread does not matter.
constexpr microseconds kLongestNap{1000};

std::atomic<int> waiting_threads{0};

class CountedWaiter {
 public:
  CountedWaiter() : others_(waiting_threads.fetch_add(1, std::memory_order_relaxed)) {}
  ~CountedWaiter() { waiting_threads.fetch_sub(1, std::memory_order_relaxed); }
  CountedWaiter(const CountedWaiter &) = delete;
  CountedWaiter &operator=(const CountedWaiter &) = delete;

  bool is_alone() const { return others_ == 0; }

 private:
  int others_;
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

struct StreamWait::Event {
  cudaEvent_t handle = nullptr;
  ~Event() {
    if (handle != nullptr) (void)cudaEventDestroy(handle);
  }
};

StreamWait::StreamWait(std::unique_ptr<Event> event) : event_(std::move(event)) {}
StreamWait::~StreamWait() = default;

Status StreamWait::make(std::unique_ptr<StreamWait> *wait) {
  auto event = std::make_unique<Event>();
  CUDAVISION_TRY_CUDA(
      cudaEventCreateWithFlags(&event->handle, cudaEventBlockingSync | cudaEventDisableTiming));
  wait->reset(new StreamWait(std::move(event)));
  return {};
}

Status StreamWait::poll(Duration longest, bool *finished) const {
  const auto end = Clock::now() + longest;
  do {
    const cudaError_t state = cudaEventQuery(event_->handle);
    *finished = state == cudaSuccess;
    if (*finished) return {};
    if (state != cudaErrorNotReady) return CUDAVISION_CHECK_CUDA(state);
    relax();
  } while (Clock::now() < end);
  (void)cudaGetLastError();  // cudaErrorNotReady is no error of the next launch
  return {};
}

Status StreamWait::wait(CUstream_st *stream) {
  CUDAVISION_TRY_CUDA(cudaEventRecord(event_->handle, stream));
  const auto began = Clock::now();
  const CountedWaiter waiter;
  const Duration longest = waiter.is_alone() ? limits().alone : limits().beside_others;
  bool finished = false;
  if (longest > Duration(0) && expected_ <= longest + kLongestNap) {
    if (expected_ > longest && waiter.is_alone()) std::this_thread::sleep_for(expected_ - longest);
    if (expected_ <= longest || waiter.is_alone()) CUDAVISION_TRY(poll(longest, &finished));
  }
  if (!finished) CUDAVISION_TRY_CUDA(cudaEventSynchronize(event_->handle));
  const Duration took = Clock::now() - began;
  expected_ += (took - expected_) / 8;
  return {};
}

}  // namespace cudavision
