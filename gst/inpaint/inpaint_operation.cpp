// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/inpaint/inpaint_operation.h"

#include <gst/base/gstbasetransform.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "cuda/common/backends.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"

namespace cudavision {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kProgressInterval = std::chrono::milliseconds(500);

// The matrix from YUV to RGB for the colorimetry in the caps.
RgbMatrix matrix_of(const GstVideoInfo &info) {
  if (!GST_VIDEO_INFO_IS_YUV(&info)) return {};
  const auto [kr, kb, offset, scale] = yuv_range_of(info);
  const double kg = 1 - kr - kb, luma = 255.0 / scale[0], chroma = 255.0 / scale[1];
  const auto fixed = [](double factor) { return static_cast<int>(std::lround(factor * (1 << 14))); };
  return {.offset = offset[0],
          .luma = fixed(luma),
          .red_v = fixed(2 * (1 - kr) * chroma),
          .green_u = fixed(-2 * (1 - kb) * kb / kg * chroma),
          .green_v = fixed(-2 * (1 - kr) * kr / kg * chroma),
          .blue_u = fixed(2 * (1 - kb) * chroma)};
}

void post_progress(GstElement *element, GstProgressType type, int filled, int removed) {
  gchar *text = g_strdup_printf("Filled %d of %d pixels", filled, removed);
  gst_element_post_message(element, gst_message_new_progress(GST_OBJECT(element), type, "inpaint", text));
  g_free(text);
}

}  // namespace

Status InpaintOperation::allocate(const OperationSetup &setup) {
  const Size size{GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)};
  if (const MaskPicture *picture = state_.files().mask.get(); picture != nullptr) {
    host_mask_ = picture->scaled_to(size);
    CUDAVISION_TRY(mask_.allocate(setup.execution, host_mask_.size()));
    CUDAVISION_TRY(copy_from_host(setup.execution, mask_.data(), host_mask_.data(), host_mask_.size()));
  }
  CUDAVISION_TRY(make_removal_mask(setup.execution, size, &removal_));
  CUDAVISION_TRY(TensorPool::make(
      setup.context, static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height), &masks_));
  if (const std::unique_ptr<LearntState> learnt = std::move(*setup.learnt); learnt != nullptr) {
    inpaint_ = std::move(static_cast<Background *>(learnt.get())->inpaint);
    return {};
  }
  return make_inpaint(setup.execution, size, &inpaint_);
}

std::unique_ptr<LearntState> InpaintOperation::take_learnt(bool given_up) {
  if (given_up) return nullptr;
  auto background = std::make_unique<Background>();
  background->inpaint = std::move(inpaint_);
  return background;
}

Reads InpaintOperation::reads() const { return Reads::components; }

Status InpaintOperation::run(const Job &job) {
  report_ = {};
  fixed_selection_ = false;
  RemovalSources sources;
  const InpaintParams params = settings_.params();
  // A frame that is not learned interrupts the history: the background may have changed unseen.
  if (!job.draw || !params.temporal) inpaint_->drop_history();
  if (!job.draw && !settings_.attach_mask) return {};
  const bool selects = find_sources(job, &sources);
  if (job.execution.stop->requested()) return Status(Status::Code::stopped);
  const bool fills = job.draw && (selects || params.temporal);
  fixed_selection_ =
      job.draw && selects && !settings_.remove_type && !sources.by_color && !settings_.mask_alpha;
  if (!fills && !settings_.attach_mask) return {};
  ImageView<const std::uint8_t> mask;
  CUDAVISION_TRY(make_mask(job, sources, &mask));
  if (!fills) return {};
  return fill({job.frame, sources.alpha, mask, matrix_of(*job.info)}, params, job.execution.stop);
}

Status InpaintOperation::fill(const InpaintFrame &frame, const InpaintParams &params, const StopFlag *stop) {
  Status status = catch_bad_alloc([&] { return inpaint_->run(frame, params, &report_, {}, progress(stop)); });
  if (status.ok()) status = check_stopped();  // on CUDA, finish() checks this
  end_progress(status.ok()                              ? GST_PROGRESS_TYPE_COMPLETE
               : status.code() == Status::Code::stopped ? GST_PROGRESS_TYPE_CANCELED
                                                        : GST_PROGRESS_TYPE_ERROR);
  return status;
}

Status InpaintOperation::check_stopped() const {
  return report_.stopped ? Status(Status::Code::stopped) : Status();
}

Status InpaintOperation::make_mask(const Job &job, const RemovalSources &sources,
                                   ImageView<const std::uint8_t> *mask) {
  if (!settings_.attach_mask) return removal_->run(job.frame, sources, mask);
  Job whole = job;  // the mask is that of the whole frame
  whole.region = {0, 0, job.frame.width, job.frame.height};
  TensorPool::Lease lease;
  CUDAVISION_TRY(masks_->acquire(&lease));
  CUDAVISION_TRY(attach_map(whole, "removal-mask", "removed", std::move(lease.buffer)));
  return removal_->run(job.frame, sources, mask, static_cast<std::uint8_t *>(lease.data));
}

Status InpaintOperation::finish(const Job &job) {
  CUDAVISION_TRY(check_stopped());
  const int side = settings_.patch_size;
  if (report_.refused)
    state_.warn_once("patch-size", report_.removed, " pixels cannot be filled, because no patch of ", side,
                     "x", side, " pixels lies outside of them: the frame stays unchanged");
  // The 5 s of the warning below begin anew when the region of interest moves: it may then meet the selection again.
  if (!fixed_selection_ || was_outside_ || report_.removed != 0 || job.region != empty_region_)
    unselected_ = {};
  empty_region_ = job.region;
  if (fixed_selection_ && unselected_.is_over(job.buffer))
    state_.warn_once("region of interest",
                     "For 5 s mask-location and the region to remove have selected no pixel in the "
                     "region of interest: nothing is removed");
  return {};
}

void InpaintOperation::describe(GstStructure *message) {
  gst_structure_set(message, "removed", G_TYPE_UINT, static_cast<guint>(report_.removed), "remembered",
                    G_TYPE_UINT, static_cast<guint>(report_.remembered), "patches", G_TYPE_UINT,
                    static_cast<guint>(report_.patches), "diffused", G_TYPE_UINT,
                    static_cast<guint>(report_.diffused), "refused", G_TYPE_BOOLEAN,
                    static_cast<gboolean>(report_.refused), nullptr);
}

void InpaintOperation::tell_of_part_outside(Region region, Size frame) {
  was_outside_ = region.x + std::int64_t{region.width} > frame.width ||
                 region.y + std::int64_t{region.height} > frame.height;
  if (was_outside_)
    state_.warn_once("region", "The region to remove, ", region.width, "x", region.height, " pixels at (",
                     region.x, ", ", region.y, "), reaches beyond the frame of ", frame.width, "x",
                     frame.height, ": only the part inside is removed");
}

bool InpaintOperation::find_sources(const Job &job, RemovalSources *sources) {
  regions_.clear();
  if (settings_.region_width > 0 && settings_.region_height > 0) {
    regions_.push_back(
        {settings_.region_x, settings_.region_y, settings_.region_width, settings_.region_height});
    tell_of_part_outside(regions_.back(), job.frame.size());
  }
  if (settings_.remove_type) {
    typed_.read(job.buffer, job.frame.size(), *job.execution.stop, "remove-type", *settings_.remove_type);
    state_.warn_once("remove-type", typed_.complaint());
    regions_.insert(regions_.end(), typed_.regions().begin(), typed_.regions().end());
  }
  sources->picture = static_cast<const std::uint8_t *>(mask_.data());
  sources->regions = regions_.data();
  sources->region_count = static_cast<int>(regions_.size());
  sources->color = color_of(settings_.mask_color.argb(), *job.info);
  sources->by_color = settings_.removes_color();
  sources->tolerance = settings_.mask_tolerance;
  sources->alpha = alpha_of(job);
  sources->limit = job.region;
  sources->dilation = settings_.dilation;
  return sources->picture != nullptr || !regions_.empty() || sources->by_color ||
         sources->alpha.data != nullptr;
}

// The alpha channel if mask-alpha is set and the format has one; otherwise a component without data.
Component InpaintOperation::alpha_of(const Job &job) const {
  if (!settings_.mask_alpha || !GST_VIDEO_INFO_HAS_ALPHA(job.info)) return {};
  Component alpha = job.frame.component[0];
  alpha.data += GST_VIDEO_INFO_COMP_POFFSET(job.info, 3) - GST_VIDEO_INFO_COMP_POFFSET(job.info, 0);
  return alpha;
}

Inpaint::Progress InpaintOperation::progress(const StopFlag *stop) {
  return [this, stop, next = Clock::now() + kProgressInterval](int filled, int removed) mutable {
    filled_ = filled;
    if (stop->requested() || Clock::now() < next) return !stop->requested();
    next = Clock::now() + kProgressInterval;
    post_progress(state_.element(), progressing_ ? GST_PROGRESS_TYPE_CONTINUE : GST_PROGRESS_TYPE_START,
                  filled, removed);
    removed_ = removed;
    progressing_ = true;
    return true;
  };
}

void InpaintOperation::end_progress(GstProgressType type) {
  if (!std::exchange(progressing_, false)) return;
  post_progress(state_.element(), type, type == GST_PROGRESS_TYPE_COMPLETE ? removed_ : filled_, removed_);
}

}  // namespace cudavision
