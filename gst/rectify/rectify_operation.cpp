// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/rectify/rectify_operation.h"

#include <algorithm>

#include "gst/base/frame/format.h"
#include "gst/rectify/carried_results.h"

namespace cudavision {
namespace {

// The luma, or all channels of packed RGB with the byte that is alpha or padding, and the chroma: together where both
// components lie side by side.
std::vector<ComponentGroup> groups_of(const Frame &frame) {
  const Component *c = frame.component;
  if (frame.model == ColorModel::gray) return {{0, 1, 1}};
  if (frame.model == ColorModel::rgb) return {{0, 3, c[0].step_bytes}};
  if (c[1].step_bytes == 2 && c[0].step_bytes == 1) return {{0, 1, 1}, {1, 2, 2}};
  return {{0, 1, 1}, {1, 1, 1}, {2, 1, 1}};
}

SampleGrid grid_of(const Frame &frame, const ComponentGroup &group) {
  SampleGrid grid{frame.component[group.first].data, frame.component[group.first].pitch_bytes,
                  frame.component[group.first].step_bytes};
  for (int i = 1; i < group.count; ++i)
    grid.data = std::min(grid.data, frame.component[group.first + i].data);
  return grid;
}

// A frame without memory, to ask how the components lie.
Frame shape_of(const GstVideoInfo &info) { return make_frame(pixel_layout(info), size_of(info), {}); }

// The whole frame, stretched.
CameraView scaled_picture(Size source, Size output) {
  const double x = double(source.width) / output.width, y = double(source.height) / output.height;
  CameraView view;
  view.matrix[0] = x, view.matrix[2] = (x - 1) / 2;
  view.matrix[4] = y, view.matrix[5] = (y - 1) / 2;
  return view;
}

void set_border(const Frame &frame, const ComponentGroup &group, const Color &color, std::uint8_t *border) {
  std::fill_n(border, 4, std::uint8_t{255});  // alpha
  const SampleGrid grid = grid_of(frame, group);
  for (int i = group.first; i < group.first + group.count; ++i)
    border[frame.component[i].data - grid.data] = color.component[i];
}

}  // namespace

Status RectifyOperation::allocate(const OperationSetup &setup) {
  execution_ = setup.execution;
  context_ = setup.context;
  source_ = size_of(*setup.info);
  output_ = size_of(*setup.output);
  CUDAVISION_TRY(make_remap_for(*setup.info));
  return set_view();
}

Status RectifyOperation::make_remap_for(const GstVideoInfo &info) {
  border_ = color_of(settings_.border_color.argb(), info);
  const Frame shape = shape_of(info);
  groups_ = groups_of(shape);
  RemapGrid grids[Remap::kMostGrids];
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Component &component = shape.component[groups_[i].first];
    const int across = 1 << component.shift_x, down = 1 << component.shift_y;  // pixels of a sample
    // Without a word in the caps, chroma lies on the left pixel, as in MPEG-2 and its successors.
    const bool is_known = info.chroma_site != GST_VIDEO_CHROMA_SITE_UNKNOWN;
    const bool left = !is_known || (info.chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0,
               top = is_known && (info.chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;
    grids[i] = {.channels = groups_[i].channels,
                .scale_x = across,
                .scale_y = down,
                .offset_x = left ? 0 : (across - 1) / 2.0,
                .offset_y = top ? 0 : (down - 1) / 2.0,
                .source = {divide_up(source_.width, across), divide_up(source_.height, down)},
                .output = {divide_up(output_.width, across), divide_up(output_.height, down)},
                .border = {}};
    set_border(shape, groups_[i], border_, grids[i].border);
  }
  CUDAVISION_TRY(make_remap(execution_, grids, static_cast<int>(groups_.size()), &remap_));
  return view_ ? remap_->set_view(*view_) : Status();
}

Status RectifyOperation::make_wanted_view(CameraView *view) const {
  rectify::ViewSettings wanted;
  CUDAVISION_TRY(read_view(settings_, source_, &wanted));
  const auto &calibration = state_.files().calibration;
  if (!calibration && wanted.kind == rectify::ViewKind::undistorted) {
    *view = scaled_picture(source_, output_);
    return {};
  }
  CameraModel camera;
  if (calibration) CUDAVISION_TRY(rectify::camera_for(*calibration, source_, &camera));
  return rectify::make_view(wanted, calibration ? &camera : nullptr, source_, output_, view);
}

// Makes the view of the current settings. If it is impossible, the last one stays.
Status RectifyOperation::set_view() {
  if (viewed_ == settings_ && view_) return {};
  viewed_ = settings_;
  CameraView view;
  const Status made = make_wanted_view(&view);
  if (!made.ok() && !view_) return made;
  if (!made.ok()) {
    state_.warn_once(made.text().c_str(), made.text(), ": the last view stays");
    return {};
  }
  if (view == view_) return {};
  if (context_) CUDAVISION_TRY(context_->synchronize());  // the last view's tables may still be copied
  CUDAVISION_TRY(remap_->set_view(view));
  points_.emplace(view);
  view_ = view;
  return {};
}

Status RectifyOperation::run(const Job &job) {
  if (color_of(settings_.border_color.argb(), *job.info) != border_)
    CUDAVISION_TRY(make_remap_for(*job.info));
  CUDAVISION_TRY(set_view());
  SampleGrid source[Remap::kMostGrids], output[Remap::kMostGrids];
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    source[i] = grid_of(job.frame, groups_[i]);
    output[i] = grid_of(job.output, groups_[i]);
  }
  CUDAVISION_TRY(remap_->run(source, output, settings_));
  carry_results(job.analysed, job.buffer, *points_, output_);
  return {};
}

}  // namespace cudavision
