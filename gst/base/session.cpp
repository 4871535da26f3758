// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element owns between start and stop.
#include "base/session.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "luma/luma.h"

namespace cudavision {
namespace {

// The part of the frame that the region covers, as a frame of its own. Subsampled components keep the frame's
// grid only where the region starts on it, so that this is for luma alone.
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

Status Session::open(const FilterSettings &settings, MakeOperation make_operation,
                     std::unique_ptr<Session> *session, Status *why_not) {
  std::unique_ptr<DeviceContext> context;
  if (settings.backend != BackendChoice::cpu) {
    Status status = DeviceContext::open(settings.cuda_device_id, &context);
    if (!status.ok() && settings.backend == BackendChoice::cuda) return status;
    *why_not = std::move(status);
  }
  session->reset(new Session(std::move(context), std::move(make_operation)));
  return {};
}

Session::~Session() {
  const DeviceContext::Scope scope(context_.get());
  if (context_) (void)context_->synchronize();
  stage_.reset();
}

Execution Session::execution() const {
  return {backend(), stage_ ? stage_->workers.get() : nullptr, context_ ? context_->stream() : nullptr};
}

Status Session::negotiate(const GstVideoInfo &info, const FilterSettings &settings) {
  const DeviceContext::Scope scope(context_.get());
  stage_.reset();
  info_ = info;
  layout_ = pixel_layout(info);
  return prepare(settings);
}

Status Session::prepare(const FilterSettings &settings) {
  const Region region = region_of(settings, size_of(info_));
  const int n_threads = context_ ? 1 : std::min(settings.n_threads, Workers::core_count());  // CUDA needs one
  const Size size{region.width, region.height};
  if (stage_ && stage_->size == size && stage_->n_threads == n_threads) {
    stage_->region = region;  // it may move: scratch depends on its size alone
    return {};
  }
  stage_.reset();
  if (size.width == 0 || size.height == 0) return {};
  stage_.emplace();
  stage_->region = region;
  stage_->size = size;
  stage_->n_threads = n_threads;
  stage_->workers = std::make_unique<Workers>(n_threads);
  const auto make = [&]() -> Status {
    CUDAVISION_TRY(stage_->staged.allocate(execution(), planes_shape(info_)));
    if (needs_luma_image(layout_)) CUDAVISION_TRY(stage_->luma.allocate(execution(), size));
    return make_operation_({execution(), context_, &info_, size}, &stage_->operation);
  };
  const Status status = make();
  if (!status.ok()) stage_.reset();
  return status;
}

Status Session::process(const Planes &frame, GstBuffer *buffer, const FilterSettings &settings) {
  const DeviceContext::Scope scope(context_.get());
  CUDAVISION_TRY(prepare(settings));
  const Status worked = work(frame, buffer, settings);
  // The frame is unmapped after this call: nothing may still read or write it, whatever went wrong.
  const Status finished = context_ ? context_->synchronize() : Status();
  return worked.ok() ? finished : worked;
}

Status Session::work(const Planes &host, GstBuffer *buffer, const FilterSettings &settings) {
  Stage &stage = *stage_;
  const bool draw = settings.display, luma = stage.operation->begin_frame() == Reads::luma;
  const Execution where = execution();
  Planes planes;
  // The luma is or lies in the first plane.
  CUDAVISION_TRY(stage.staged.upload(where, host, luma && !draw ? 1 : host.count, &planes));
  const Frame frame = make_frame(layout_, size_of(info_), planes);
  Job job{where, &info_, frame, stage.region, {}, draw, settings.message, buffer};
  if (luma && needs_luma_image(layout_)) {
    CUDAVISION_TRY(extract_luma(where, luma_of_region(frame, stage.region), stage.luma.view()));
    job.luma = stage.luma.view();
  } else if (luma) {
    job.luma = frame.luma_plane().crop(stage.region);
  }
  CUDAVISION_TRY(stage.operation->run(job));
  return draw ? stage.staged.download(where, host) : Status();
}

void Session::drop_history() {
  const DeviceContext::Scope scope(context_.get());
  if (stage_) stage_->operation->drop_history();
}

}  // namespace cudavision
