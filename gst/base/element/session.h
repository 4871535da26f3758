// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of an element between start and stop: a backend and, once caps are known, an operation with its
// staging memory.
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <memory>
#include <optional>

#include "cuda/common/launch_gate.h"
#include "cuda/common/memory_budget.h"
#include "cuda/common/owned_memory.h"
#include "cuda/common/staged_frame.h"
#include "cuda/common/stop.h"
#include "cuda/repack/repack.h"
#include "gst/base/device/device_context.h"
#include "gst/base/device/stream_wait.h"
#include "gst/base/element/filter_properties.h"
#include "gst/base/element/operation.h"
#include "gst/base/frame/mapped_frame.h"

namespace cudavision {

// The region of interest within a frame; empty if it lies outside.
Region region_of(const FilterSettings &settings, Size frame);

class Session {
 public:
  using MakeOperation = std::function<Status(const OperationSetup &, std::unique_ptr<Operation> *)>;

  // context: null for the CPU backend. stop: asks that the work on a frame is given up; outlives the session.
  Session(std::shared_ptr<DeviceContext> context, MakeOperation make_operation, const StopFlag *stop)
      : make_operation_(std::move(make_operation)), stop_(stop), workers_(1, stop) {
    move_to(std::move(context));
  }
  ~Session();

  Backend backend() const { return context_ ? Backend::cuda : Backend::cpu; }
  const std::shared_ptr<DeviceContext> &context() const { return context_; }
  // Works in that context from the next frame on. State of earlier frames is lost.
  void move_to(std::shared_ptr<DeviceContext> context);

  // Called for new caps: allocates everything that frames of this format need. May be called again. What was learnt
  // from earlier frames is kept if format and size stay the same. in_cuda_memory: true if the caps ask for CUDA memory.
  // output: the caps of new frames, in the same format; null if frames are changed in place.
  Status negotiate(const GstVideoInfo &info, const GstVideoInfo *output, bool in_cuda_memory,
                   const FilterSettings &settings);
  bool knows_caps() const { return info_.finfo != nullptr; }
  const GstVideoInfo &info() const { return info_; }
  const GstVideoInfo &output_info() const { return *output_info_; }
  Size frame_size() const { return size_of(info_); }
  // Allocates what the region of the next frame needs, if its size has changed. Call it before process(). Fails with
  // too_small if the region is too small or lies outside the frame.
  Status prepare(const FilterSettings &settings);
  // Processes one frame of the negotiated format and attaches the results to its buffer. The frame must be mapped with
  // this session's context; for reading only, if settings.display is off. made: the new frame, whose buffer gets the
  // results instead; null if frames are changed in place. Returns when
  // the frame is finished or, unless is_timed is set, when it can be passed on while the GPU still works on it
  // (FrameOrder). Fails with the code `stopped` if the work on the frame was given up.
  Status process(MappedFrame &frame, MappedFrame *made, const FilterSettings &settings, bool is_timed);
  // Tells whether the next frames are to be turned when they are shown (shown_shape.h).
  void set_turned(bool is_turned) { is_turned_ = is_turned; }
  // Whether the system has refused some of the threads of the CPU backend.
  bool lacks_threads() const { return !context_ && workers_.lacks_threads(); }
  // Whether the last frame went downstream before the GPU had finished with it.
  bool left_pending() const { return left_pending_; }
  // Adds the fields of the last frame's result to its message.
  void describe(GstStructure *message) { stage_->operation->describe(message); }
  bool depends_on_shape() const { return stage_->operation->depends_on_shape(); }
  void drop_history();
  // Called when the element stops, after the last frame.
  void end();
  // Waits until the GPU has finished all frames that were passed on before. Returns errors of their kernels.
  Status wait_for_pending();

 private:
  template <typename Body>
  Status guarded(const Body &body);
  bool keep_stage(const FilterSettings &settings);
  Status fit_stage(const FilterSettings &settings);
  Status make_stage(const FilterSettings &settings);
  Status make_output();
  Status set_budget(const FilterSettings &settings);
  Status work(MappedFrame &mapped, MappedFrame *made, const FilterSettings &settings, Job *job);
  Status begin_output(MappedFrame &made, const GrayRange &range, RepackedFrame *repacked, Frame *output);
  void drop_stage();
  // Destroys the stage. Keeps what its operation has learnt (Operation::take_learnt) for the next operation.
  void retire_stage(bool given_up);
  Execution execution() const;

  std::shared_ptr<DeviceContext> context_;  // null on the CPU backend
  std::optional<WorkingElement> working_;   // set if there is a context
  std::unique_ptr<StreamWait> wait_;        // null until the first frame, and on the CPU backend
  MakeOperation make_operation_;
  const StopFlag *stop_;
  Workers workers_;         // one thread on the CUDA backend
  int wanted_threads_ = 1;  // n-threads, for which workers_ was set
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>();
  std::optional<guint64> budgeted_;  // the max-memory that the budget's limit comes from
  GstVideoInfo info_{};              // the caps
  // The caps of the frames that operations see: of the 8-bit copy for a repacked format (repacked_format.h).
  GstVideoInfo working_info_;
  std::optional<GstVideoInfo> output_info_;  // the caps of new frames
  bool in_cuda_memory_ = false;
  PixelLayout layout_;
  LumaRange luma_range_ = LumaRange::as_is;  // of these caps: `full` only if their luma is to be expanded
  bool left_pending_ = false, is_turned_ = false;

  // For frames that operations do not see as they are.
  struct FrameMemory {
    std::unique_ptr<StagedFrame> staged;  // for frames that do not lie in the backend's memory
    OwnedImage working[Planes::kMost];    // the memory of `copy`
    Planes copy;                          // of a frame of a repacked format
  };
  Status allocate(const GstVideoInfo &info, FrameMemory *memory);

  // Made for one size of the region. Destroyed before the context, with the context current.
  struct Stage {
    Region region;
    Size size;  // of the region
    FrameMemory input, output;
    OwnedImage everywhere;  // a mask of a whole new frame, if its format is repacked
    OwnedImage luma;        // of the region, if the luma cannot be read in the frame
    std::unique_ptr<Operation> operation;
  };
  std::optional<Stage> stage_;
  std::unique_ptr<LearntState> learnt_;  // what the last operation has learnt, until the next one takes it
};

}  // namespace cudavision
