// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts and measures many streams together.
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
  int devices = 1;                   // the streams take turns on so many CUDA devices
  double seconds = 1;
};

struct GroupResult {
  std::string error;  // empty on success; the other members are valid only then
  double frames_per_second = 0;
  double cpu_seconds_per_frame = 0;
  double cores = 0;  // average number of busy cores
  int threads = 0;   // of the process while the streams run
  int fresh_buffers = 0;
  double start_seconds = 0;  // the time to the first frame of one stream more, which starts beside these
  std::optional<double> device_bytes_per_stream;
  // seconds, of live streams: the median and the 99th percentile
  double median_latency = 0, late_latency = 0;
};

// Starts the streams, lets each pass 30 frames and measures them for the planned time.
GroupResult run_group(const GroupPlan &plan);

// Ends the process if its scope takes minutes, for example because a pipeline does not stop.
class Deadline {
 public:
  Deadline();
  ~Deadline();
  Deadline(const Deadline &) = delete;
  Deadline &operator=(const Deadline &) = delete;
};

}  // namespace cudavision::bench
