// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for the GPU without wasting a core.
#pragma once

#include <chrono>
#include <memory>

#include "cuda/common/status.h"

struct CUevent_st;
struct CUstream_st;

namespace cudavision {

// Waits for a stream or an event. A thread can poll, take naps and look again, or sleep until the driver
// wakes it. Polling keeps a core busy. A nap takes about 57 microseconds longer than requested and costs 7
// microseconds of CPU time. The driver wakes a thread 40 microseconds late, which costs another 40
// microseconds of CPU time (all measured on an H100). The durations of recent waits decide which way is used.
// The environment variable CUDAVISION_WAIT overrides this for the whole process: `poll` always polls, `sleep`
// always lets the driver wake the thread, `auto` is the default. Not thread-safe.
class StreamWait {
 public:
  // The context must be current here, in wait() and in the destructor.
  static Status make(std::unique_ptr<StreamWait> *wait);
  ~StreamWait();
  StreamWait(const StreamWait &) = delete;
  StreamWait &operator=(const StreamWait &) = delete;

  // Waits for all work that is now enqueued on the stream. Returns its errors.
  Status wait(CUstream_st *stream);
  // Waits at least until `event`, which is recorded on `stream`, is reached. Returns errors of the work before it.
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
  Duration expected_{0};  // running mean of the measured waits
};

}  // namespace cudavision
