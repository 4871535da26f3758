// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sigma2kp/sigma2kp_operation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/sigma2kp/point_primitives.h"
#include "gst/base/frame/format.h"

namespace cudavision {

Status Sigma2KpOperation::allocate(const OperationSetup &setup) {
  region_ = setup.region;
  CUDAVISION_TRY(drawn_.allocate(setup.execution, sizeof(int)));
  CUDAVISION_TRY(make_sigma2kp(setup.execution, setup.region, &sigma2kp_));
  return make_canvas(setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &canvas_);
}

Status Sigma2KpOperation::run(const Job &job) {
  if (!job.is_cut) state_.warn_once("size", futile(settings_, region_));
  CUDAVISION_TRY(fit_to_settings(job));
  CUDAVISION_TRY(gate_.find(job, settings_.roi_type));
  state_.warn_once("roi-type", gate_.complaint());
  CUDAVISION_TRY(sigma2kp_->run(job.luma, settings_, list(), job.input, gate_.places()));
  if (job.draw) CUDAVISION_TRY(draw(job));
  // Copies the whole list, so that the host need not read its length from the device first.
  return found_.fetch(job.execution);
}

void Sigma2KpOperation::describe(GstStructure *message) {
  const Sigma2KpCount &count = found_.count_on_host();
  gst_structure_set(message, "keypoints", G_TYPE_INT, count.listed, "found", G_TYPE_INT, count.found,
                    nullptr);
}

// Allocates the list and the primitives for the most keypoints that can be listed, unless they already have that size.
Status Sigma2KpOperation::fit_to_settings(const Job &job) {
  const long long pixels = static_cast<long long>(region_.width) * region_.height;
  const int most = static_cast<int>(std::min<long long>(settings_.max_keypoints, pixels));
  if (most != found_.capacity()) CUDAVISION_TRY(found_.allocate(job.execution, most));
  const std::size_t bytes = 2 * static_cast<std::size_t>(most) * sizeof(Primitive);
  if (job.draw && primitives_.size() < bytes) CUDAVISION_TRY(primitives_.allocate(job.execution, bytes));
  return {};
}

Status Sigma2KpOperation::draw(const Job &job) {
  auto *primitives = static_cast<Primitive *>(primitives_.data());
  auto *drawn = static_cast<int *>(drawn_.data());
  const PointStyle style{.origin_x = job.region.x,
                         .origin_y = job.region.y,
                         .window = settings_.window,
                         .orientation_bins = settings_.orientation_bins,
                         .size = width_for(settings_.point_size, {2 * job.frame.width, 2 * job.frame.height}),
                         .grows = settings_.point_size == kAutomaticWidth,
                         .least_deviation = static_cast<float>(settings_.min_contrast),
                         .line_width = width_for(settings_.line_width, job.frame.size()),
                         .color = color_of(settings_.color.argb(), *job.info)};
  CUDAVISION_TRY(make_point_primitives(job.execution, list(), found_.capacity(), style, primitives, drawn));
  return canvas_->draw(job.frame, primitives, 2 * found_.capacity(), drawn, job.region);
}

Status Sigma2KpOperation::finish(const Job &job) {
  attached_.clear();
  const Sigma2KpCount &count = found_.count_on_host();
  for (int i = 0; i < count.listed; ++i)
    attached_.push_back(keypoint_of_frame(found_.items_on_host()[i], job.region));
  warn_of_truncation(count);
  if (gst_cuda_vision_buffer_add_keypoints_meta(job.buffer, attached_.data(),
                                                static_cast<guint>(attached_.size())) == nullptr)
    return invalid_argument("the keypoints could not be attached");
  return {};
}

// Converts a keypoint from coordinates of the region to those of the frame.
GstCudaVisionKeypoint Sigma2KpOperation::keypoint_of_frame(const Sigma2Keypoint &point, Region region) const {
  const int window = settings_.window;
  const bool has_angle = point.orientation != kNoOrientation;
  const double angle = has_angle ? angle_of_bin(point.orientation, settings_.orientation_bins) : NAN;
  return {.x = center_of_window(region.x + point.x, window),
          .y = center_of_window(region.y + point.y, window),
          .response = static_cast<float>(variance_of(point.strength, window)),
          .angle = static_cast<float>(angle)};
}

// Warns only with the default of max-keypoints: an application that sets max-keypoints wants only the strongest.
void Sigma2KpOperation::warn_of_truncation(const Sigma2KpCount &count) {
  if (count.found > count.listed && settings_.max_keypoints == Sigma2KpSettings().max_keypoints)
    state_.warn_once("max-keypoints", "there are ", count.found, " keypoints, more than the ", count.listed,
                     " that max-keypoints lists by default: only those of greatest variance are listed");
}

}  // namespace cudavision
