// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/device/stream_wait.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "cuda/common/check_cuda.h"
#include "cuda/common/launch_gate.h"

namespace cudavision {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// Linux lets a thread oversleep by its timer slack, which is 50 microseconds by default.
constexpr microseconds kNapExcess{57};
// If a wait is expected to be longer than this, a late wake-up by the driver does not matter.
constexpr microseconds kLongestNaps{3000};
// A thread polls from the beginning if the expected wait is at most kPollAlone and no other thread waits, or at most
// kPollBesideFew and at most kFew others wait. More polling threads would block each other from enqueueing work,
// because polling also takes the context's lock.
constexpr microseconds kPollAlone{250}, kPollBesideFew{40};
constexpr int kFew = 2;
// A thread that waits alone wakes up this long before the expected end and polls.
constexpr microseconds kEarly{150};

enum class Mode { automatic, poll, sleep };

Mode mode() {
  static const Mode chosen = [] {
    const char *text = std::getenv("CUDAVISION_WAIT");
    const std::string_view wanted = text != nullptr ? text : "";
    return wanted == "poll" ? Mode::poll : wanted == "sleep" ? Mode::sleep : Mode::automatic;
  }();
  return chosen;
}

// Exists while a thread waits for a GPU.
class Waiter {
 public:
  ~Waiter() { --count_; }
  int others() const { return others_; }

 private:
  static inline std::atomic<int> count_{0};
  const int others_ = count_++;  // who waited when this one began
};

nanoseconds longest_poll(int others) {
  return others == 0 ? kPollAlone : others <= kFew ? kPollBesideFew : microseconds(0);
}

// The duration of the first nap. Its share of the expected wait grows with the number of waiting threads: the GPU then
// has more work, and a late wake-up matters less.
nanoseconds first_nap(nanoseconds expected, int others) {
  if (others == 0) return expected - kEarly;
  return expected * (75 + 5 * std::min(others, 12)) / 100;
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Sleeps for about this time, but at least for about kNapExcess.
void nap(nanoseconds time) {
  std::this_thread::sleep_for(std::max<nanoseconds>(time - kNapExcess, microseconds(1)));
}

cudaError_t state_of(cudaStream_t stream) { return cudaStreamQuery(stream); }
cudaError_t state_of(cudaEvent_t event) { return cudaEventQuery(event); }

template <typename Target>
Status look(Target target, bool *finished) {
  const cudaError_t state = state_of(target);
  *finished = state == cudaSuccess;
  return *finished || state == cudaErrorNotReady ? Status() : CUDAVISION_CHECK_CUDA(state);
}

template <typename Target>
Status poll(Target target, nanoseconds longest, bool *finished) {
  const auto end = Clock::now() + longest;
  do {
    CUDAVISION_TRY(look(target, finished));
    if (*finished) return {};
    relax();
  } while (Clock::now() < end);
  return {};
}

}  // namespace

struct StreamWait::Event {
  cudaEvent_t handle = nullptr;
  ~Event() {
    if (handle == nullptr) return;
    const Allocation announced;
    (void)cudaEventDestroy(handle);
  }
};

StreamWait::StreamWait(std::unique_ptr<Event> event) : event_(std::move(event)) {}
StreamWait::~StreamWait() = default;

Status StreamWait::make(std::unique_ptr<StreamWait> *wait) {
  auto event = std::make_unique<Event>();
  const Allocation announced;
  CUDAVISION_TRY_CUDA(
      cudaEventCreateWithFlags(&event->handle, cudaEventBlockingSync | cudaEventDisableTiming));
  wait->reset(new StreamWait(std::move(event)));
  return {};
}

// The driver wakes this thread by an interrupt, because of the event's flag; the context's flags do not matter.
Status StreamWait::sleep(CUstream_st *stream) {
  CUDAVISION_TRY_CUDA(cudaEventRecord(event_->handle, stream));
  return CUDAVISION_CHECK_CUDA(cudaEventSynchronize(event_->handle));
}

// Polls through a short wait. Naps through most of a longer wait, then polls if the thread is alone, and takes more
// short naps otherwise. Gives up, with *finished == false, if the wait takes much longer than expected.
template <typename Target>
Status StreamWait::wait_by_expectation(Target target, bool *finished) {
  const auto began = Clock::now();
  const Waiter waiter;
  const bool alone = waiter.others() == 0;
  const Duration shortest = longest_poll(waiter.others());
  bool overslept = false;
  if (expected_ > shortest) {
    nap(first_nap(expected_, waiter.others()));
    CUDAVISION_TRY(look(target, finished));
    overslept = *finished;
  }
  if (!*finished && (alone || expected_ <= shortest)) CUDAVISION_TRY(poll(target, shortest, finished));
  const auto end = began + 2 * expected_ + microseconds(500);
  while (!*finished && Clock::now() < end) {
    nap(expected_ / 8);
    CUDAVISION_TRY(look(target, finished));
  }
  const Duration took = Clock::now() - began;
  // If the work ended during the nap, its duration is unknown, and the expectation shrinks a little.
  expected_ += overslept ? -expected_ / 32 : (took - expected_) / 8;
  return {};
}

template <typename Target>
Status StreamWait::wait_for(Target target, CUstream_st *stream) {
  bool finished = false;
  if (mode() == Mode::poll) {
    while (!finished) CUDAVISION_TRY(poll(target, std::chrono::seconds(1), &finished));
    return {};
  }
  if (mode() == Mode::sleep) return sleep(stream);
  if (expected_ <= kLongestNaps) CUDAVISION_TRY(wait_by_expectation(target, &finished));
  if (finished) return {};
  const auto began = Clock::now();
  CUDAVISION_TRY(sleep(stream));
  if (expected_ > kLongestNaps) expected_ += (Clock::now() - began - expected_) / 8;
  // sleep() has waited for the whole stream, which ends later than an event on it: the measured time is too long.
  if constexpr (std::is_same_v<Target, CUevent_st *>) expected_ = std::min<Duration>(expected_, kLongestNaps);
  return {};
}

Status StreamWait::wait(CUstream_st *stream) { return wait_for(stream, stream); }
Status StreamWait::wait(CUevent_st *event, CUstream_st *stream) { return wait_for(event, stream); }

}  // namespace cudavision
