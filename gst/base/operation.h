// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element computes on each frame: the part that differs from element to element.
#pragma once

#include <gst/video/video.h>

#include <cstdint>

#include "common/execution.h"
#include "common/frame.h"

namespace cudavision {

// One frame to work on. Everything lies in the backend's memory and only for the time of the call.
struct Job {
  Execution execution;
  const GstVideoInfo *info;            // of the caps
  Frame frame;                         // the whole picture; to be changed only when draw is set
  Region region;                       // the part to analyse
  ImageView<const std::uint8_t> luma;  // of the region
  bool draw;                           // the property `display`
};

// Made anew when the caps, the region's size or the threads change; owns its scratch.
class Operation {
 public:
  virtual ~Operation() = default;
  // CUDA: enqueues; the caller synchronises.
  virtual Status run(const Job &job) = 0;
  // The next frame does not follow the last one: forget what was kept of it.
  virtual void drop_history() {}
};

}  // namespace cudavision
