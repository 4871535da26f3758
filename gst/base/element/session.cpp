// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/element/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "cuda/common/available_memory.h"
#include "cuda/common/backends.h"
#include "cuda/common/rectangle.h"
#include "cuda/luma/luma.h"
#include "gst/base/frame/format.h"
#include "gst/base/frame/repacked_format.h"

namespace cudavision {
namespace {

// The part of the frame that the region covers, as a frame of its own. Only its luma is valid: subsampled chroma would
// be shifted if the region does not begin on a chroma sample.
Frame luma_of_region(Frame frame, Region region) {
  for (int i = 0; i < frame.component_count(); ++i)
    frame.component[i].data = &frame.component[i].at(region.x, region.y);
  frame.width = region.width;
  frame.height = region.height;
  return frame;
}

bool needs_luma_image(const PixelLayout &layout, LumaRange range) {
  return range == LumaRange::full || !make_frame(layout, {}, {}).has_luma_plane();
}

// The luma range that the operation gets: `wanted` (luma-range) if luma is stored in the limited range. The luma of RGB
// is computed in the full range.
LumaRange luma_range_of(const GstVideoInfo &info, LumaRange wanted) {
  const bool limited =
      info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235 && !GST_VIDEO_INFO_IS_RGB(&info);
  return limited ? wanted : LumaRange::as_is;
}

// Whether frames of both caps have the same format and size. All else in caps, such as the frame rate, the pixel aspect
// ratio and the colorimetry, may change in the middle of a video and changes no sample.
bool same_frames(const GstVideoInfo &a, const GstVideoInfo &b) {
  return a.finfo == b.finfo && size_of(a) == size_of(b);
}

// Sets the bits that are in no sample of a new frame of a repacked format, where other elements may rely on zeros. An
// alpha of two bits becomes opaque.
Status fill_unused_bits(const Execution &execution, const GstVideoInfo &info, const Planes &planes) {
  if (GST_VIDEO_INFO_COMP_DEPTH(&info, 0) % 8 == 0) return {};  // there are none
  for (int i = 0; i < planes.count; ++i) {
    const Planes::Plane &plane = planes.plane[i];
    // The lowest row, since a picture that is stored upside down has a negative pitch.
    std::uint8_t *first = plane.data + std::min(std::ptrdiff_t{0}, (plane.rows - 1) * plane.pitch_bytes);
    CUDAVISION_TRY(fill_rectangle(execution,
                                  {first, std::abs(plane.pitch_bytes), plane.row_bytes, plane.rows},
                                  GST_VIDEO_INFO_HAS_ALPHA(&info) ? 255 : 0));
  }
  return {};
}

}  // namespace

Region region_of(const FilterSettings &settings, Size frame) {
  const int width = settings.roi_width == 0 ? frame.width : settings.roi_width;
  const int height = settings.roi_height == 0 ? frame.height : settings.roi_height;
  return {settings.roi_x, settings.roi_y, std::max(0, std::min(width, frame.width - settings.roi_x)),
          std::max(0, std::min(height, frame.height - settings.roi_y))};
}

Session::~Session() { move_to(nullptr); }

// Calls body() with the context current, and charges what it allocates to the element. Algorithms rely on what they
// leave in their scratch memory, and an error stops them in the middle: the stage is not used again. If the device has
// failed, launched kernels may not have run, so what was learnt is undefined.
template <typename Body>
Status Session::guarded(const Body &body) {
  const DeviceContext::Scope scope(context_.get());
  CUDAVISION_TRY(scope.status());
  const MemoryBudget::Scope budget(budget_);
  const Status status = catch_bad_alloc(body);
  if (!status.ok()) retire_stage(true);
  if (status.code() == Status::Code::device_failed) learnt_.reset();
  return status;
}

void Session::drop_stage() {
  const DeviceContext::Scope scope(context_.get());
  if (context_ && stage_) (void)context_->synchronize();
  stage_.reset();
}

void Session::retire_stage(bool given_up) {
  if (stage_ && stage_->operation) {
    if (learnt_) learnt_->end();  // no operation has taken it
    learnt_ = stage_->operation->take_learnt(given_up);
  }
  drop_stage();
}

void Session::move_to(std::shared_ptr<DeviceContext> context) {
  if (context) end();  // what was learnt cannot move to the new context
  drop_stage();
  {
    const DeviceContext::Scope scope(context_.get());
    learnt_.reset();
    wait_.reset();
  }
  context_ = std::move(context);
  working_.reset();
  if (context_) working_.emplace(LaunchGate::of_device(context_->device_id()));
}

Status Session::wait_for_pending() {
  if (!context_) return {};
  return guarded([this] { return context_->wait_for_pending(); });
}

Execution Session::execution() const {
  return {backend(), &workers_, context_ ? context_->stream() : nullptr, stop_};
}

Status Session::negotiate(const GstVideoInfo &info, const GstVideoInfo *output, bool in_cuda_memory,
                          const FilterSettings &settings) {
  return guarded([&] {
    const LumaRange luma_range = luma_range_of(info, settings.luma_range);
    const bool same = same_frames(info, info_);
    const bool same_output = output == nullptr || (output_info_ && same_frames(*output, *output_info_));
    if (!same || !same_output || in_cuda_memory != in_cuda_memory_ || luma_range != luma_range_)
      retire_stage(false);
    if (!same && learnt_) {
      learnt_->end();
      learnt_.reset();
    }
    info_ = info;
    if (output != nullptr) output_info_ = *output;
    in_cuda_memory_ = in_cuda_memory;
    working_info_ = working_info(info);
    layout_ = pixel_layout(working_info_);
    luma_range_ = luma_range;
    return fit_stage(settings);
  });
}

// Everything that an element allocates for its frames is charged to one budget. Without max-memory, its limit is the
// memory that is free on the device or machine, which is asked for while the element has no stage.
Status Session::set_budget(const FilterSettings &settings) {
  if (settings.max_memory == budgeted_ && (settings.max_memory != 0 || stage_)) return {};
  std::size_t limit = settings.max_memory;
  if (limit == 0) {
    CUDAVISION_TRY(available_memory(execution(), &limit));
    limit += std::min(budget_->used(), SIZE_MAX - limit);
  }
  budget_->set_limit(limit, settings.max_memory != 0 ? "max-memory allows" : "there are");
  budgeted_ = settings.max_memory;
  return budget_->used() > limit ? budget_->refusal(budget_->used()) : Status();
}

Status Session::prepare(const FilterSettings &settings) {
  if (keep_stage(settings)) return {};
  return guarded([&] { return fit_stage(settings); });
}

// Sets the number of threads for the next frame and moves the stage to its region. Returns true if that is enough.
bool Session::keep_stage(const FilterSettings &settings) {
  const Region region = region_of(settings, frame_size());
  // To count the cores is to read a file of the kernel, which would take as long as the work on a small frame.
  if (!context_ && settings.n_threads != wanted_threads_) {
    wanted_threads_ = settings.n_threads;
    workers_.set_thread_count(wanted_threads_ > 1 ? std::min(wanted_threads_, Workers::core_count())
                                                  : wanted_threads_);
  }
  if (!stage_ || stage_->size != Size{region.width, region.height} || settings.max_memory != budgeted_)
    return false;
  stage_->region = region;  // the region may move: scratch depends only on its size
  return true;
}

Status Session::fit_stage(const FilterSettings &settings) {
  const Region region = region_of(settings, frame_size());
  const Size size{region.width, region.height};
  if (size.width == 0 || size.height == 0) {
    retire_stage(false);
    return too_small("roi-x and roi-y (" + std::to_string(settings.roi_x) + ", " +
                     std::to_string(settings.roi_y) + ") lie outside the frame of " +
                     to_string(frame_size()));
  }
  CUDAVISION_TRY(set_budget(settings));
  if (keep_stage(settings)) return {};
  retire_stage(false);
  stage_.emplace();
  stage_->region = region;
  stage_->size = size;
  return make_stage(settings);
}

Status Session::make_stage(const FilterSettings &settings) {
  if (context_ && !wait_) CUDAVISION_TRY(StreamWait::make(&wait_));
  // First, because it fails if the region is too small, possibly for frame after frame: then nothing else is allocated.
  CUDAVISION_TRY(
      make_operation_({execution(), context_, &working_info_, output_info_ ? &*output_info_ : nullptr,
                       stage_->size, settings.display, &learnt_},
                      &stage_->operation));
  CUDAVISION_TRY(allocate(info_, &stage_->input));
  if (output_info_) CUDAVISION_TRY(make_output());
  return needs_luma_image(layout_, luma_range_) ? stage_->luma.allocate(execution(), stage_->size) : Status();
}

Status Session::make_output() {
  CUDAVISION_TRY(allocate(*output_info_, &stage_->output));
  if (!is_repacked(GST_VIDEO_INFO_FORMAT(&info_))) return {};
  CUDAVISION_TRY(stage_->everywhere.allocate(execution(), size_of(*output_info_)));
  return fill_rectangle(execution(), stage_->everywhere.view(), 255);
}

Status Session::allocate(const GstVideoInfo &info, FrameMemory *memory) {
  if (!in_cuda_memory_) CUDAVISION_TRY(make_staged_frame(execution(), planes_shape(info), &memory->staged));
  if (!is_repacked(GST_VIDEO_INFO_FORMAT(&info))) return {};
  Planes &copy = memory->copy = planes_shape(working_info(info));
  for (int i = 0; i < copy.count; ++i) {
    Planes::Plane &plane = copy.plane[i];
    CUDAVISION_TRY(memory->working[i].allocate(execution(), {plane.row_bytes, plane.rows}));
    const ImageView<std::uint8_t> view = memory->working[i].view();
    plane.data = view.data;
    plane.pitch_bytes = view.pitch_bytes;
  }
  return {};
}

Status Session::process(MappedFrame &frame, MappedFrame *made, const FilterSettings &settings,
                        bool is_timed) {
  return guarded([&]() -> Status {
    if (!frame.on_device() && !stage_->input.staged)
      CUDAVISION_TRY(make_staged_frame(execution(), planes_shape(info_), &stage_->input.staged));
    if (made != nullptr && !made->on_device() && !stage_->output.staged)
      CUDAVISION_TRY(make_staged_frame(execution(), planes_shape(*output_info_), &stage_->output.staged));
    FrameOrder &written = made != nullptr ? made->order() : frame.order();
    Job job{};
    const bool leaves_pending = frame.order().can_stay_pending() && written.can_stay_pending() &&
                                !settings.post_messages && !is_timed && working_->gate().few_elements_work();
    // Keeps the host from running too far ahead of the GPU.
    CUevent_st *oldest = leaves_pending ? context_->oldest_pending() : nullptr;
    if (oldest != nullptr) CUDAVISION_TRY(wait_->wait(oldest, context_->stream()));
    CUDAVISION_TRY(frame.order().begin());
    if (made != nullptr) CUDAVISION_TRY(made->order().begin());
    const Status worked = work(frame, made, settings, &job);
    left_pending_ = worked.ok() && leaves_pending && !stage_->operation->host_reads_result() &&
                    written.leave_pending(made != nullptr ? &frame.order() : nullptr).ok();
    if (left_pending_) return {};
    // The frame is unmapped after this call: no work may still read or write it, even after an error.
    const Status finished = context_ ? wait_->wait(context_->stream()) : Status();
    if (!finished.ok()) (void)context_->synchronize();  // the wait failed, so work may still be running
    CUDAVISION_TRY(worked);
    CUDAVISION_TRY(finished);
    if (settings.display || made != nullptr) written.finish();
    return stage_->operation->finish(job);
  });
}

Status Session::work(MappedFrame &mapped, MappedFrame *made, const FilterSettings &settings, Job *job) {
  Stage &stage = *stage_;
  const Reads reads = stage.operation->begin_frame();
  const bool draw = settings.display && made == nullptr, luma = reads == Reads::luma;
  const Execution where = execution();
  // Luma is the first component and lies in the first plane.
  const bool luma_alone = luma && !draw && layout_.model != ColorModel::rgb;
  Planes planes = mapped.planes();
  if (!mapped.on_device())
    CUDAVISION_TRY(stage.input.staged->upload(mapped.planes(), luma_alone ? 1 : planes.count, &planes));
  std::optional<LaunchTurn> turn;  // set on the CUDA backend
  if (working_) turn.emplace(working_->gate());
  const bool is_copy = is_repacked(GST_VIDEO_INFO_FORMAT(&info_));
  const GrayRange range{settings.gray16_min, settings.gray16_max};
  RepackedFrame repacked, repacked_output;  // set only for a copy
  if (is_copy) {
    repacked = repacked_frame(info_, planes, stage.input.copy, range);
    CUDAVISION_TRY(repack_frame(where, repacked, luma_alone ? 1 : repacked.count));
    planes = stage.input.copy;
  }
  const Frame frame = make_frame(layout_, frame_size(), planes);
  const bool extracts_luma = (luma && needs_luma_image(layout_, luma_range_)) ||
                             (reads == Reads::channels && luma_range_ == LumaRange::full);
  const Input input = is_copy || extracts_luma ? Input::in_stream_order : mapped.order().input();
  const bool is_cut = stage.region.width < settings.roi_width || stage.region.height < settings.roi_height;
  GstBuffer *buffer = made != nullptr ? made->buffer() : mapped.buffer();
  *job = {where,        &working_info_, frame,
          stage.region, is_cut,         {},
          input,        draw,           settings.post_messages,
          buffer,       is_copy,        is_turned_ && depends_on_shape(),
          {},           mapped.buffer()};
  if (made != nullptr) CUDAVISION_TRY(begin_output(*made, range, &repacked_output, &job->output));
  if (extracts_luma) {
    CUDAVISION_TRY(extract_luma(where, luma_of_region(frame, stage.region), stage.luma.view(), luma_range_));
    job->luma = stage.luma.view();
  } else if (luma) {
    job->luma = frame.luma_plane().crop(stage.region);
  }
  CUDAVISION_TRY(stage.operation->run(*job));
  if (draw && repacked.count != 0)
    CUDAVISION_TRY(
        unpack_frame(where, repacked, {0, 0, frame.width, frame.height}, stage.operation->replaced()));
  if (made != nullptr && is_copy)
    CUDAVISION_TRY(unpack_frame(where, repacked_output, {0, 0, job->output.width, job->output.height},
                                stage.everywhere.view()));
  turn.reset();  // before the download, which waits for the GPU if the memory is pageable
  if (made != nullptr && !made->on_device()) return stage.output.staged->download(made->planes());
  return draw && !mapped.on_device() ? stage.input.staged->download(mapped.planes()) : Status();
}

// Finds the memory where the operation makes the new frame.
Status Session::begin_output(MappedFrame &made, const GrayRange &range, RepackedFrame *repacked,
                             Frame *output) {
  Planes planes = made.planes();
  if (!made.on_device()) CUDAVISION_TRY(stage_->output.staged->upload(planes, 0, &planes));
  if (is_repacked(GST_VIDEO_INFO_FORMAT(&info_))) {
    CUDAVISION_TRY(fill_unused_bits(execution(), *output_info_, planes));
    *repacked = repacked_frame(*output_info_, planes, stage_->output.copy, range);
    planes = stage_->output.copy;
  }
  *output = make_frame(layout_, size_of(*output_info_), planes);
  return {};
}

void Session::end() {
  const DeviceContext::Scope scope(context_.get());
  if (!scope.status().ok()) return;
  const MemoryBudget::Scope budget(budget_);
  if (learnt_) learnt_->end();
  if (stage_ && stage_->operation) stage_->operation->end();
}

void Session::drop_history() {
  const DeviceContext::Scope scope(context_.get());
  if (!scope.status().ok()) return;
  if (learnt_) learnt_->drop_history();
  if (stage_) stage_->operation->drop_history();
}

}  // namespace cudavision
