// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/hough/hough_operation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "cuda/common/rectangle.h"
#include "cuda/hough/line_primitives.h"
#include "gst/base/frame/format.h"

namespace cudavision {
namespace {

// Converts a line from coordinates of the region to those of the frame.
GstCudaVisionLine line_of_frame(const HoughLine &line, Region region) {
  const double rho =
      line.rho + region.x * std::cos(double{line.theta}) + region.y * std::sin(double{line.theta});
  const auto x = static_cast<float>(region.x), y = static_cast<float>(region.y);
  return {.rho = static_cast<float>(rho),
          .theta = line.theta,
          .votes = line.votes,
          .x1 = line.x1 + x,
          .y1 = line.y1 + y,
          .x2 = line.x2 + x,
          .y2 = line.y2 + y};
}

}  // namespace

Status HoughOperation::allocate(const OperationSetup &setup) {
  // If the properties contradict each other, begin_frame() reports it.
  if (const HoughSettings now = state_.snapshot(); validate(now).ok())
    CUDAVISION_TRY(check_accumulator(setup.region, now.params(setup.region)));
  CUDAVISION_TRY(edges_.allocate(setup.execution, setup.region));
  CUDAVISION_TRY(found_edges_.allocate(setup));
  CUDAVISION_TRY(make_hough(setup.execution, setup.region, &hough_));
  return make_canvas(setup.execution, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &canvas_);
}

Status HoughOperation::run(const Job &job) {
  if (!job.is_cut) state_.warn_once("size", futile(settings_, {job.region.width, job.region.height}));
  CUDAVISION_TRY(fit_to(job.execution, settings_.max_lines));
  ImageView<const std::uint8_t> edges;
  CUDAVISION_TRY(find_edges(job, &edges));
  if (!found_edges_.gate().is_open() && found_edges_.gate().regions().empty())
    return find_nothing(job.execution);
  CUDAVISION_TRY(
      hough_->run(edges, job.luma, settings_.params({job.region.width, job.region.height}), list()));
  if (job.draw) CUDAVISION_TRY(draw(job));
  return found_.fetch(job.execution);
}

Status HoughOperation::find_edges(const Job &job, ImageView<const std::uint8_t> *edges) {
  const bool are_given = settings_.input == HoughInput::edges;
  *edges = edges_.view();
  if (are_given && !settings_.roi_type)
    *edges = job.luma;
  else if (are_given)
    CUDAVISION_TRY(found_edges_.keep(job, settings_.roi_type, edges_.view()));
  else
    CUDAVISION_TRY(found_edges_.find(job, settings_, settings_.roi_type, edges_.view()));
  state_.warn_once("roi-type", found_edges_.gate().complaint());
  return {};
}

Status HoughOperation::find_nothing(const Execution &execution) {
  CUDAVISION_TRY(fill_rectangle(
      execution,
      {reinterpret_cast<std::uint8_t *>(found_.count()), sizeof(HoughCount), sizeof(HoughCount), 1}, 0));
  return found_.fetch(execution);
}

void HoughOperation::describe(GstStructure *message) {
  const HoughCount &count = found_.count_on_host();
  gst_structure_set(message, "lines", G_TYPE_INT, count.listed, "found", G_TYPE_INT, count.found, "peaks",
                    G_TYPE_INT, count.peaks, nullptr);
}

// Allocates the list and the primitives for max_lines lines, unless they already have that size.
Status HoughOperation::fit_to(const Execution &execution, int max_lines) {
  const std::size_t bytes = static_cast<std::size_t>(max_lines) * sizeof(Primitive);
  if (max_lines != found_.capacity()) CUDAVISION_TRY(found_.allocate(execution, max_lines));
  if (primitives_.size() != bytes) CUDAVISION_TRY(primitives_.allocate(execution, bytes));
  return {};
}

Status HoughOperation::draw(const Job &job) {
  auto *primitives = static_cast<Primitive *>(primitives_.data());
  LineStyle style{.origin_x = job.region.x,
                  .origin_y = job.region.y,
                  .line_width = width_for(settings_.line_width, job.frame.size())};
  if (settings_.color.is_by_direction()) {
    style.color_count = LineStyle::kMostColors;
    std::copy_n(hues_.hues(style.color_count, *job.info).colors, style.color_count, style.color);
  } else {
    style.color[0] = color_of(settings_.color.argb(), *job.info);
  }
  // The lines with the most votes come first.
  const int drawn =
      settings_.max_drawn == 0 ? found_.capacity() : std::min(settings_.max_drawn, found_.capacity());
  CUDAVISION_TRY(make_line_primitives(job.execution, list(), drawn, style, primitives));
  return canvas_->draw(job.frame, primitives, drawn, &list().count->listed, job.region);
}

Status HoughOperation::attach(const Job &job) {
  const HoughCount &count = found_.count_on_host();
  attached_.clear();
  for (int i = 0; i < count.listed; ++i)
    attached_.push_back(line_of_frame(found_.items_on_host()[i], job.region));
  warn_of_truncation(count);
  if (gst_cuda_vision_buffer_add_lines_meta(job.buffer, attached_.data(),
                                            static_cast<guint>(attached_.size())) == nullptr)
    return invalid_argument("the lines could not be attached");
  return {};
}

void HoughOperation::warn_of_truncation(const HoughCount &count) {
  const bool segments = settings_.mode == HoughMode::segments;
  const int most = segments ? std::max(count.found, count.peaks) : count.found, listed = found_.capacity();
  if (most > listed)
    state_.warn_once("max-lines", "max-lines is ", listed, ", but there are ", most,
                     segments ? " lines or segments" : " lines",
                     ": only those with the most votes are listed");
}

}  // namespace cudavision
