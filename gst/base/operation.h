// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element computes on each frame: the part that differs from element to element.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <memory>

#include "gst/base/device_context.h"
#include "cuda/common/execution.h"
#include "cuda/common/frame.h"

namespace cudavision {

// Construction context of an operation. All members but `info` outlive it.
struct Site {
  Execution execution;
  std::shared_ptr<const DeviceContext> context;  // null on the CPU
  const GstVideoInfo *info;                      // of the caps
  Size region;                                   // the size of the part that will be analysed
  bool display;                                  // the property `display` when the operation is made
};

// One frame to work on. Everything lies in the backend's memory and only for the time of the call.
struct Job {
  Execution execution;
  const GstVideoInfo *info;  // of the caps
  Frame frame;               // the whole picture; to be changed only when draw is set. Its chroma is
                             // there when draw is set or begin_frame() asked for components
  Region region;             // the part to analyse
  ImageView<const std::uint8_t> luma;  // of the region; empty where begin_frame() asked for components
  bool draw;                           // the property `display`
  bool report;                         // the property `message`: describe() will be asked
  GstBuffer *buffer;                   // takes metas; writable, but for its memory
};

// What of a frame an operation reads, besides what it draws on.
enum class Reads {
  luma,        // Job::luma
  components,  // Job::frame; there is no luma then
};

// Made anew when the caps, the region's size or the threads change; owns its scratch.
class Operation {
 public:
  virtual ~Operation() = default;
  // Before each run: takes the settings of the frame, and says what they need of it.
  virtual Reads begin_frame() { return Reads::luma; }
  // CUDA: enqueues; the caller waits for the work, or passes the frame on while it is pending.
  virtual Status run(const Job &job) = 0;
  // The same job, when the stream is synchronised: attaches what the host had to read first.
  virtual Status finish(const Job &) { return {}; }
  // Whether finish() reads what run() wrote: the host then waits before the frame is passed on. Where it does not,
  // and nobody asks describe(), the frame may be passed on while the card still works on it.
  virtual bool host_reads_result() const { return true; }
  // What the message of the last frame says of its result: adds fields. Called when the stream is
  // synchronised.
  virtual void describe(GstStructure *) {}
  // The next frame does not follow the last one: forget what was kept of it.
  virtual void drop_history() {}
};

}  // namespace cudavision
