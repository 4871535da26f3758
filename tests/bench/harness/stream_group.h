// SPDX-License-Identifier: LGPL-2.1-or-later
// Many streams that are started together and measured together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/bench/harness/stream.h"
#include "tests/bench/harness/stream_options.h"

namespace cudavision::bench {

struct GroupPlan {
  StreamPlan stream;
  int count = 1;
  std::optional<Contexts> contexts;  // only with CUDA
  double seconds = 1;
};

struct GroupResult {
  std::string error;  // empty: all else holds
  double frames_per_second = 0;
  double cpu_seconds_per_frame = 0;
  double cores = 0;  // at work
  int threads = 0;   // of the process while it runs
  int fresh_buffers = 0;
  std::optional<double> device_bytes_per_stream;
  double median_latency = 0, late_latency = 0;  // seconds; of live streams; 99 % are below the second
};

// Starts the streams, lets each pass 30 frames and measures them for so many seconds.
GroupResult run_group(const GroupPlan &plan);

// Ends the process when what comes in its scope takes minutes, as a pipeline that does not stop.
class Deadline {
 public:
  Deadline();
  ~Deadline();
  Deadline(const Deadline &) = delete;
  Deadline &operator=(const Deadline &) = delete;
};

}  // namespace cudavision::bench
