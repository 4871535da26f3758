// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of an element between start and stop.
#include "gst/base/session.h"

#include <algorithm>
#include <utility>

#include "cuda/luma/luma.h"
#include "gst/base/format.h"
#include "gst/base/launch_pauses.h"
#include "gst/base/repacked_format.h"

namespace cudavision {
namespace {

// The part of the frame that the region covers, as a frame of its own. Only its luma is valid: the grid of
// subsampled components is kept only if the region starts on it.
Frame luma_of_region(Frame frame, Region region) {
  for (int i = 0; i < frame.component_count(); ++i)
    frame.component[i].data = &frame.component[i].at(region.x, region.y);
  frame.width = region.width;
  frame.height = region.height;
  return frame;
}

bool needs_luma_image(const PixelLayout &layout) { return !make_frame(layout, {}, {}).has_luma_plane(); }

Size size_of(const GstVideoInfo &info) { return {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)}; }

}  // namespace

Region region_of(const FilterSettings &settings, Size frame) {
  const int width = settings.roi_width == 0 ? frame.width : settings.roi_width;
  const int height = settings.roi_height == 0 ? frame.height : settings.roi_height;
  return {settings.roi_x, settings.roi_y, std::max(0, std::min(width, frame.width - settings.roi_x)),
          std::max(0, std::min(height, frame.height - settings.roi_y))};
}

Session::~Session() { move_to(nullptr); }

void Session::drop_stage() {
  const DeviceContext::Scope scope(context_.get());
  if (context_ && stage_) (void)context_->synchronize();
  stage_.reset();
}

void Session::move_to(std::shared_ptr<const DeviceContext> context) {
  if (context_) expect_allocations();
  drop_stage();
  {
    const DeviceContext::Scope scope(context_.get());
    wait_.reset();
  }
  context_ = std::move(context);
}

Status Session::wait() {
  if (!context_) return {};
  const Status status = wait_->wait(context_->stream());
  // If the wait failed, work may still be running.
  if (!status.ok()) (void)context_->synchronize();
  return status;
}

// Keeps the host from running too far ahead of the GPU.
Status Session::wait_for_oldest() {
  CUevent_st *oldest = context_->oldest_pending();
  if (oldest == nullptr) return {};
  return wait_->wait(oldest, context_->stream());
}

Status Session::wait_for_pending() {
  if (!context_) return {};
  const DeviceContext::Scope scope(context_.get());
  CUDAVISION_TRY(scope.status());
  return context_->wait_for_pending();
}

Execution Session::execution() const {
  return {backend(), stage_ ? stage_->workers.get() : nullptr, context_ ? context_->stream() : nullptr};
}

Status Session::negotiate(const GstVideoInfo &info, bool in_cuda_memory, const FilterSettings &settings) {
  if (context_) expect_allocations();
  drop_stage();
  const DeviceContext::Scope scope(context_.get());
  CUDAVISION_TRY(scope.status());
  info_ = info;
  in_cuda_memory_ = in_cuda_memory;
  working_info_ = working_info(info);
  layout_ = pixel_layout(working_info_);
  return prepare(settings);
}

Status Session::prepare(const FilterSettings &settings) {
  const Region region = region_of(settings, size_of(info_));
  // the CUDA backend needs one
  const int n_threads = context_ ? 1 : std::min(settings.n_threads, Workers::core_count());
  const Size size{region.width, region.height};
  if (stage_ && stage_->size == size && stage_->n_threads == n_threads) {
    stage_->region = region;  // the region may move: scratch depends only on its size
    return {};
  }
  drop_stage();
  if (size.width == 0 || size.height == 0) return {};
  std::optional<AllocatingElement> allocating;  // set on the CUDA backend
  if (context_) allocating.emplace();
  if (context_ && !wait_) CUDAVISION_TRY(StreamWait::make(&wait_));
  stage_.emplace();
  stage_->region = region;
  stage_->size = size;
  stage_->n_threads = n_threads;
  stage_->workers = std::make_unique<Workers>(n_threads);
  const auto make = [&]() -> Status {
    if (!in_cuda_memory_) CUDAVISION_TRY(stage_frames());
    if (is_repacked(GST_VIDEO_INFO_FORMAT(&info_))) CUDAVISION_TRY(allocate_working_planes());
    if (needs_luma_image(layout_)) CUDAVISION_TRY(stage_->luma.allocate(execution(), size));
    return make_operation_({execution(), context_, &working_info_, size, settings.display},
                           &stage_->operation);
  };
  const Status status = make();
  if (!status.ok()) stage_.reset();
  return status;
}

Status Session::stage_frames() {
  return make_staged_frame(execution(), planes_shape(info_), &stage_->staged);
}

Status Session::allocate_working_planes() {
  const Planes shape = planes_shape(working_info_);
  for (int i = 0; i < shape.count; ++i)
    CUDAVISION_TRY(stage_->working[i].allocate(execution(), {shape.plane[i].row_bytes, shape.plane[i].rows}));
  return {};
}

Planes Session::working_planes() {
  Planes planes = planes_shape(working_info_);
  for (int i = 0; i < planes.count; ++i) {
    const ImageView<std::uint8_t> view = stage_->working[i].view();
    planes.plane[i].data = view.data;
    planes.plane[i].pitch_bytes = view.pitch_bytes;
  }
  return planes;
}

Status Session::process(const MappedFrame &frame, GstBuffer *buffer, const FilterSettings &settings) {
  if (context_) pause_launches();
  const DeviceContext::Scope scope(context_.get());
  CUDAVISION_TRY(scope.status());
  CUDAVISION_TRY(prepare(settings));
  if (!frame.on_device() && !stage_->staged) CUDAVISION_TRY(stage_frames());
  Job job{};
  const bool leaves_pending = frame.can_be_left_pending() && !settings.message && few_elements_work();
  if (leaves_pending) CUDAVISION_TRY(wait_for_oldest());
  CUDAVISION_TRY(frame.order_behind_producer());
  const Status worked = work(frame, buffer, settings, &job);
  left_pending_ =
      worked.ok() && leaves_pending && !stage_->operation->host_reads_result() && frame.leave_pending().ok();
  if (left_pending_) return {};
  // The frame is unmapped after this call: no work may still read or write it, even after an error.
  const Status finished = wait();
  CUDAVISION_TRY(worked);
  CUDAVISION_TRY(finished);
  frame.mark_finished();
  return stage_->operation->finish(job);
}

Status Session::work(const MappedFrame &mapped, GstBuffer *buffer, const FilterSettings &settings, Job *job) {
  Stage &stage = *stage_;
  const bool draw = settings.display, luma = stage.operation->begin_frame() == Reads::luma;
  const Execution where = execution();
  // Luma is the first component and lies in the first plane.
  const bool luma_alone = luma && !draw && layout_.model != ColorModel::rgb;
  Planes planes = mapped.planes();
  if (!mapped.on_device())
    CUDAVISION_TRY(stage.staged->upload(mapped.planes(), luma_alone ? 1 : planes.count, &planes));
  path_ = {backend(),
           context_of(buffer) != nullptr,
           mapped.on_device(),
           luma_alone,
           is_repacked(GST_VIDEO_INFO_FORMAT(&info_)),
           draw};
  RepackedFrame repacked;  // only of a repacked format
  if (path_.repacked) {
    const Planes copy = working_planes();
    repacked = repacked_frame(info_, planes, copy, {settings.gray16_min, settings.gray16_max});
    CUDAVISION_TRY(repack_frame(where, repacked, luma_alone ? 1 : repacked.count));
    planes = copy;
  }
  const Frame frame = make_frame(layout_, size_of(info_), planes);
  const bool extracts_luma = luma && needs_luma_image(layout_);
  const Input input = path_.repacked || extracts_luma ? Input::in_stream_order : mapped.input();
  *job = {where, &working_info_, frame, stage.region, {}, input, draw, settings.message, buffer};
  if (extracts_luma) {
    CUDAVISION_TRY(extract_luma(where, luma_of_region(frame, stage.region), stage.luma.view()));
    job->luma = stage.luma.view();
  } else if (luma) {
    job->luma = frame.luma_plane().crop(stage.region);
  }
  CUDAVISION_TRY(stage.operation->run(*job));
  if (draw && repacked.count != 0)
    CUDAVISION_TRY(unpack_frame(where, repacked, {0, 0, frame.width, frame.height}));
  return draw && !mapped.on_device() ? stage.staged->download(mapped.planes()) : Status();
}

void Session::drop_history() {
  const DeviceContext::Scope scope(context_.get());
  if (stage_ && scope.status().ok()) stage_->operation->drop_history();
}

}  // namespace cudavision
