// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionredact/visionredact_operation.h"

#include <algorithm>

#include "gst/base/frame/format.h"

namespace cudavision {

Status VisionRedactOperation::allocate(const OperationSetup &setup) {
  masks_.allocate(setup);
  return make_redact(setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &redact_);
}

Status VisionRedactOperation::run(const Job &job) {
  HiddenFrame &hidden = redact_state_.hidden;
  const Region frame{0, 0, job.frame.width, job.frame.height};
  whole_ = hidden.whole || hidden.by != HiddenBy(settings_) ||
           (hidden.is_unseen && settings_.on_silence == OnSilence::hide_all);
  map_view_ = {};
  if (!job.draw) return {};
  warn(job);
  bool readable = true;
  frame_masks_.clear();
  if (settings_.masks && !whole_) CUDAVISION_TRY(masks_.read(job, settings_, &frame_masks_, &readable));
  whole_ = whole_ || !readable;
  if (job.is_copy) CUDAVISION_TRY(make_map(job));
  ImageView<const std::uint8_t> always;
  if (!whole_) CUDAVISION_TRY(polygons_.draw(job.execution, job.frame.size(), settings_.always, &always));
  RedactParams params = settings_;
  params.color = color_of(settings_.fill_color.argb(), *job.info);
  // Where boxes overlap, the last one counts: that with the largest cells.
  std::ranges::stable_sort(hidden.boxes, {},
                           [](const Region &box) { return std::max(box.width, box.height); });
  if (!whole_)
    return redact_->run(job.frame,
                        {hidden.boxes.data(), static_cast<int>(hidden.boxes.size()), frame_masks_.data(),
                         static_cast<int>(frame_masks_.size()), job.region, always,
                         job.info->interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE},
                        params, map_view_);
  RedactParams filled;
  filled.color = params.color;
  return redact_->run(job.frame, {&frame, 1, nullptr, 0, {}}, filled, map_view_);
}

Status VisionRedactOperation::make_map(const Job &job) {
  const std::size_t pixels =
      static_cast<std::size_t>(job.frame.width) * static_cast<std::size_t>(job.frame.height);
  if (map_.size() < pixels) CUDAVISION_TRY(map_.allocate(job.execution, pixels));
  map_view_ = {static_cast<std::uint8_t *>(map_.data()), job.frame.width, job.frame.width, job.frame.height};
  return {};
}

void VisionRedactOperation::warn(const Job &job) {
  if (redact_state_.hidden.is_silent && settings_.on_silence == OnSilence::hide_all)
    state_.warn_once(
        "silence",
        "No detector has marked a frame or found something for longer than `timeout`: frames are "
        "hidden as a whole. Put a detector in front, or set on-silence=pass");
  if (redact_state_.hidden.is_crowded)
    state_.warn_once(
        "crowd",
        "A frame has more than 256 boxes, or more than 512 objects or 1,024 places are to be hidden: "
        "frames are hidden as a whole. Let the detector find less, set `type`, or lower look-back-time");
  if (settings_.is_every_type()) return;
  collect_boxes(job.buffer, *job.execution.stop, &boxes_);
  state_.warn_once("type", awaited_.take(job.buffer, boxes_, "type", *settings_.type));
}

Status VisionRedactOperation::finish(const Job &job) {
  masks_.release();
  if (settings_.drop_pictures) drop_pictures(job.buffer);
  return {};
}

void VisionRedactOperation::describe(GstStructure *message) {
  gst_structure_set(message, "regions", G_TYPE_INT, static_cast<gint>(redact_state_.hidden.boxes.size()),
                    "masks", G_TYPE_INT, static_cast<gint>(frame_masks_.size()), "whole", G_TYPE_BOOLEAN,
                    static_cast<gboolean>(whole_), nullptr);
}

}  // namespace cudavision
