// SPDX-License-Identifier: LGPL-2.1-or-later
// Waits for the card without wasting a core.
#pragma once

#include <chrono>
#include <memory>

#include "common/status.h"

struct CUstream_st;

namespace cudavision {

// Waits for a stream. A sleeping thread that the driver wakes comes back some 20 microseconds late, which is as
// long as a whole frame takes; a thread that polls comes back at once, but keeps a core busy. So what the last
// waits took decides: a thread that is alone polls through waits that are expected to be short and sleeps through
// the greater part of longer ones, and threads that wait side by side sleep. Used by one thread at a time.
class StreamWait {
 public:
  // The context must be current here, in wait() and when this is destroyed.
  static Status make(std::unique_ptr<StreamWait> *wait);
  ~StreamWait();
  StreamWait(const StreamWait &) = delete;
  StreamWait &operator=(const StreamWait &) = delete;

  // Returns when all work that is enqueued on the stream now has ended, with its errors.
  Status wait(CUstream_st *stream);

 private:
  using Duration = std::chrono::nanoseconds;
  struct Event;

  explicit StreamWait(std::unique_ptr<Event> event);
  Status poll(Duration longest, bool *finished) const;

  std::unique_ptr<Event> event_;
  Duration expected_{0};  // a running mean of what waits took
};

}  // namespace cudavision
