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

// What an operation has learnt from earlier frames, such as a background, for the next operation on the same format.
struct LearntState {
  virtual ~LearntState() = default;
  // Like Operation::drop_history() and Operation::end(). end() is also called when no operation can use this any more.
  virtual void drop_history() {}
  virtual void end() {}
};

// What an operation is made for. All that the members point to, except `info` and `learnt`, must outlive the operation.
struct OperationSetup {
  Execution execution;
  std::shared_ptr<DeviceContext> context;  // null on the CPU backend
  const GstVideoInfo *info;    // of the frames; may change later (Job::info), but not in format and size
  const GstVideoInfo *output;  // of the new frames (make_new_frames()); null if frames are changed in place
  Size region;                 // size of the region of interest
  bool display;                // the property `display` when the operation is made
  std::unique_ptr<LearntState> *learnt;  // of the operation before, or null; may be taken
};

// One frame to process. All images lie in the backend's memory and are valid only during the call.
struct Job {
  Execution execution;
  const GstVideoInfo *info;  // the caps; of the 8-bit copy if is_copy
  // The whole picture. It may be changed only if `draw` is set. Its chroma is valid only if `draw` is set or
  // begin_frame() returned Reads::components or Reads::channels.
  Frame frame;
  Region region;  // the region of interest
  bool is_cut;    // an edge of the frame cuts off a part of that region
  // The luma of the region. May be empty unless begin_frame() returned Reads::luma.
  ImageView<const std::uint8_t> luma;
  Input input;        // when luma, or frame if luma is empty, is complete
  bool draw;          // the property `display`
  bool report;        // the property `post-messages`: describe() will be called
  GstBuffer *buffer;  // accepts metas; its memory is not writable
  bool is_copy;       // the frame is an 8-bit copy of one in another format (repacked_format.h)
  bool is_turned;     // depends_on_shape(), and a tag says that the frame is to be turned when it is shown
  // Of an element that makes new frames:
  Frame output;         // the new frame, to be written whole; `buffer` is its buffer
  GstBuffer *analysed;  // the buffer of `frame`, whose results are not copied
};

// The part of a frame that an operation reads, apart from drawing.
enum class Reads {
  luma,        // Job::luma
  components,  // Job::frame; Job::luma is empty
  channels,    // Job::frame; its luma is in Job::luma if that is not empty, as with luma-range=full
};

// An operation is made anew when the format or the size of the frames or the size of the region changes. Other changes
// of the caps, such as another colorimetry, come with the job. An operation owns its scratch memory. After an error of
// run(), or std::bad_alloc, it is destroyed.
class Operation {
 public:
  virtual ~Operation() = default;
  // Called before each run(). Takes the settings of the frame and returns which part of the frame run() will read.
  virtual Reads begin_frame() { return Reads::luma; }
  // On CUDA, only enqueues work. The caller waits for it or passes the frame on while it is pending.
  virtual Status run(const Job &job) = 0;
  // Called with the same job after the stream is synchronised. Attaches results that the host must read.
  virtual Status finish(const Job &) { return {}; }
  // Returns true if finish() reads the output of run(): the host then waits before the frame is passed on. If it
  // returns false and describe() is not needed, the frame may be passed on while the GPU still works on it.
  virtual bool host_reads_result() const { return true; }
  // A mask of the whole frame, in the backend's memory, without padding: not 0 where run() has replaced pixels; empty
  // if nowhere. There, the caller clears the bits of the original samples that an 8-bit copy (Job::is_copy) lacks.
  virtual ImageView<const std::uint8_t> replaced() const { return {}; }
  // Adds the fields of the last frame's result to its message. Called after the stream is synchronised.
  virtual void describe(GstStructure *) {}
  // Whether results depend on the rotation and pixel aspect ratio of the last frame, as upright objects or angles do.
  virtual bool depends_on_shape() const { return false; }
  // Called if the next frame does not follow the last one. Forgets all state of earlier frames.
  virtual void drop_history() {}
  // Called before another operation replaces this one; returns what that may use if the format of the frames stays.
  // given_up: the work on a frame was given up, so the algorithms stopped in the middle of it.
  virtual std::unique_ptr<LearntState> take_learnt([[maybe_unused]] bool given_up) { return nullptr; }
  // Called after the last frame, when the element stops or moves to another CUDA context.
  virtual void end() {}
};

}  // namespace cudavision
