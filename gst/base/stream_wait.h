// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for the card without wasting a core.
#pragma once

#include <chrono>
#include <memory>

#include "cuda/common/status.h"

struct CUevent_st;
struct CUstream_st;

namespace cudavision {

// Waits for a stream or an event. A thread can poll, nap and look again, or sleep until the driver wakes it. Polling
// keeps a core busy. A nap takes about 57 microseconds longer than it was meant to and costs 7 microseconds of CPU
// time. The driver wakes a thread 40 microseconds late and spends another 40 of CPU time on that (all measured on an
// H100). What the last waits took decides how this one goes. The environment variable CUDAVISION_WAIT overrides that
// for the whole process: `poll` always polls, `sleep` always lets the driver wake the thread, `auto` is the default.
// Used by one thread at a time.
class StreamWait {
 public:
  // The context must be current here, in wait() and when this is destroyed.
  static Status make(std::unique_ptr<StreamWait> *wait);
  ~StreamWait();
  StreamWait(const StreamWait &) = delete;
  StreamWait &operator=(const StreamWait &) = delete;

  // Returns when all work that is enqueued on the stream now has ended, with its errors.
  Status wait(CUstream_st *stream);
  // Returns when the event, which is recorded on the stream, has been reached, with the errors of the work before
  // it; or somewhat later.
  Status wait(CUevent_st *event, CUstream_st *stream);

 private:
  using Duration = std::chrono::nanoseconds;
  struct Event;

  explicit StreamWait(std::unique_ptr<Event> event);
  template <typename Target>
  Status wait_for(Target target, CUstream_st *stream);
  template <typename Target>
  Status wait_by_expectation(Target target, bool *finished);
  Status sleep(CUstream_st *stream);

  std::unique_ptr<Event> event_;
  Duration expected_{0};  // a running mean of what waits took
};

}  // namespace cudavision
