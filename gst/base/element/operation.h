// SPDX-License-Identifier: LGPL-2.1-or-later
// The computation of an element on each frame, which differs from element to element.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "gst/base/device/device_context.h"

namespace cudavision {

// What an operation has learnt from earlier frames and another one for frames of the same format can use, such as
// a background.
struct Learnt {
  virtual ~Learnt() = default;
  // As Operation::drop_history(); and as Operation::end(), also when other frames come.
  virtual void drop_history() {}
  virtual void end() {}
};

// Construction context of an operation. All members except `info` and `learnt` must outlive the operation.
struct Site {
  Execution execution;
  std::shared_ptr<DeviceContext> context;  // null on the CPU backend
  const GstVideoInfo *info;         // the caps; later ones of the same format and size may take their place
  Size region;                      // size of the region of interest
  bool display;                     // the property `display` when the operation is made
  std::unique_ptr<Learnt> *learnt;  // of the operation before; may be taken, may hold null
};

// One frame to process. All images lie in the backend's memory and are valid only during the call.
struct Job {
  Execution execution;
  const GstVideoInfo *info;  // the caps
  // The whole picture. It may be changed only if `draw` is set. Its chroma is valid only if `draw` is set or
  // begin_frame() returned Reads::components or Reads::channels.
  Frame frame;
  Region region;  // the region of interest
  bool is_cut;    // an edge of the frame cuts off a part of that region
  // Of the region; may be empty unless begin_frame() returned Reads::luma.
  ImageView<const std::uint8_t> luma;
  Input input;        // of luma, or of the frame if luma is empty
  bool draw;          // the property `display`
  bool report;        // the property `post-messages`: describe() will be called
  GstBuffer *buffer;  // accepts metas; its memory is not writable
  bool is_copy;       // the frame is an 8-bit copy of one with more bits (repacked_format.h)
};

// The part of a frame that an operation reads, apart from drawing.
enum class Reads {
  luma,        // Job::luma
  components,  // Job::frame; Job::luma is empty
  channels,    // Job::frame, but Job::luma instead of its luma if that is not empty, as with luma-range=full
};

// Made again when the format or the size of the frames or the size of the region change. Other caps, such as another
// colorimetry, come with the job. Owns its scratch memory. After an error of run(), or
// std::bad_alloc, it is destroyed.
class Operation {
 public:
  virtual ~Operation() = default;
  // Called before each run(). Takes the settings of the frame and returns what they need to read.
  virtual Reads begin_frame() { return Reads::luma; }
  // On CUDA, only enqueues work. The caller waits for it or passes the frame on while it is pending.
  virtual Status run(const Job &job) = 0;
  // Called with the same job after the stream is synchronised. Attaches results that the host must read.
  virtual Status finish(const Job &) { return {}; }
  // Returns true if finish() reads the output of run(): the host then waits before the frame is passed on. If
  // it returns false and describe() is not needed, the frame may be passed on while the GPU still works on
  // it.
  virtual bool host_reads_result() const { return true; }
  // A map of the whole frame, in the backend's memory, without padding: where it is not 0, run() has replaced the pixels, so
  // that nothing may be left of them in the bits that the copy (Job::is_copy) does not have. Without data: nowhere.
  virtual ImageView<const std::uint8_t> replaced() const { return {}; }
  // Adds the fields of the last frame's result to its message. Called after the stream is synchronised.
  virtual void describe(GstStructure *) {}
  // Whether what is found depends on how the last frame is turned and stretched: what stands upright, or has a given
  // direction.
  virtual bool depends_on_shape() const { return false; }
  // Called if the next frame does not follow the last one. Forgets all state of earlier frames.
  virtual void drop_history() {}
  // Whether there is such a state, with the settings of the last frame.
  virtual bool has_history() const { return false; }
  // Called before another operation replaces this one, for frames of the same format. given_up: because a frame was
  // given up, which has left the algorithms in the middle.
  virtual std::unique_ptr<Learnt> take_learnt([[maybe_unused]] bool given_up) { return nullptr; }
  // Called when the element stops, behind the last frame.
  virtual void end() {}
};

}  // namespace cudavision
