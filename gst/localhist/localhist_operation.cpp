// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudalocalhist computes on each frame.
#include "gst/localhist/localhist_operation.h"

#include <algorithm>
#include <cmath>

#include "gst/base/palette.h"

namespace cudavision {
namespace {

// Where an element is painted: around the centre of its window, as large as its stride.
MapPlace place_of(const Job &job, const LocalHistogramParams &p) {
  return {job.region.x + (p.window.width - p.stride_x) / 2, job.region.y + (p.window.height - p.stride_y) / 2,
          p.stride_x, p.stride_y, job.region};
}

// Of the region that is analysed, in its own coordinates; empty where both do not meet.
Region model_region(const LocalHistSettings &s, Region analysed) {
  const int x = std::max(s.model_x, analysed.x), y = std::max(s.model_y, analysed.y);
  const auto end = [](int begin, int size, int last) {
    return size == 0 ? last : static_cast<int>(std::min<gint64>(gint64{begin} + size, last));
  };
  return {x - analysed.x, y - analysed.y, end(s.model_x, s.model_width, analysed.x + analysed.width) - x,
          end(s.model_y, s.model_height, analysed.y + analysed.height) - y};
}

}  // namespace

Status LocalHistOperation::allocate(const Site &site, bool display) {
  execution_ = site.execution;
  context_ = site.context;
  region_ = site.region;
  settings_ = take_settings_();
  CUDAVISION_TRY(model_.allocate(execution_, kMaxGradientBins * sizeof(float)));
  return prepare(display);
}

// The rooms and buffers for the settings; what is there already stays.
Status LocalHistOperation::prepare(bool display) {
  const LocalHistogramParams params = settings_.params();
  const bool fits = room_ && params == params_;
  if (fits && settings_.max_memory == max_memory_ && (display_ || !display)) return {};
  if (!fits) {
    room_.reset();
    painted_room_.reset();
  }
  CUDAVISION_TRY(check_memory(execution_, region_, params, display, settings_.max_memory));
  max_memory_ = settings_.max_memory;
  display_ = display;
  if (!fits) {
    CUDAVISION_TRY(shape_of(region_, params, &shape_));
    CUDAVISION_TRY(results_.make(context_, shape_, params));
    CUDAVISION_TRY(make_local_histogram(execution_, region_, params, &room_));
    params_ = params;
  }
  return display && params.reduction == LocalReduction::none && !painted_room_ ? make_painted() : Status();
}

Status LocalHistOperation::make_painted() {
  const auto windows = static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.cols);
  CUDAVISION_TRY(painted_bins_.allocate(execution_, windows * sizeof(std::uint16_t)));
  CUDAVISION_TRY(painted_shares_.allocate(execution_, windows * sizeof(float)));
  return make_local_histogram(execution_, region_, painted_params(params_), &painted_room_);
}

Reads LocalHistOperation::begin_frame() {
  settings_ = take_settings_();
  return Reads::luma;
}

Status LocalHistOperation::run(const Job &job) {
  CUDAVISION_TRY(prepare(job.draw));
  reported_.clear();
  const bool distance = params_.reduction == LocalReduction::distance;
  if (distance) {
    CUDAVISION_TRY(take_model(job));
    if (!has_model_) return {};  // a warning says why
  }
  LocalHistogramOutput output;
  CUDAVISION_TRY(results_.attach(job, &output));
  CUDAVISION_TRY(room_->run(job.luma, output, static_cast<const float *>(model_.data())));
  if (distance && job.report) {
    reported_.resize(static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.cols));
    reported_x_ = job.region.x;
    reported_y_ = job.region.y;
    CUDAVISION_TRY(
        copy_to_host(job.execution, reported_.data(), output.value, reported_.size() * sizeof(float)));
  }
  return job.draw ? paint(job, output) : Status();
}

// Once after each change of the model's region, or of what is counted.
Status LocalHistOperation::take_model(const Job &job) {
  const ModelKey key{params_.feature, params_.op, params_.weight, params_.bins, settings_.model_changes};
  if (has_model_ && key == model_key_) return {};
  const Region region = model_region(settings_, job.region);
  if (region.width > 0 && region.height > 0) {
    CUDAVISION_TRY(room_->take_model(job.luma, region, static_cast<float *>(model_.data())));
    model_key_ = key;
    has_model_ = true;
    return {};
  }
  if (settings_.model_changes != refused_model_)
    GST_ELEMENT_WARNING(
        element_, RESOURCE, SETTINGS,
        ("model-region-x and model-region-y (%d, %d) lie outside of what is analysed: %s", settings_.model_x,
         settings_.model_y, has_model_ ? "the last model stays in force" : "there is no model"),
        (nullptr));
  refused_model_ = settings_.model_changes;
  // A model of other bins would mean nothing.
  const ModelKey last = model_key_;
  has_model_ = has_model_ && ModelKey{key.feature, key.op, key.weight, key.bins, last.changes} == last;
  return {};
}

Status LocalHistOperation::paint(const Job &job, const LocalHistogramOutput &output) {
  LocalHistogramOutput painted = output;
  if (painted_room_) {
    painted = {nullptr, static_cast<std::uint16_t *>(painted_bins_.data()),
               static_cast<float *>(painted_shares_.data())};
    CUDAVISION_TRY(painted_room_->run(job.luma, painted, nullptr));
  }
  MapElements elements{shape_.rows, shape_.cols, painted.argmax, painted.value, 0, 1};
  const bool hues = painted.argmax != nullptr;
  if (params_.reduction == LocalReduction::entropy)
    elements.high = std::max(1.0f, std::log2(static_cast<float>(params_.bins)));
  if (params_.reduction == LocalReduction::distance)
    elements.low = 2, elements.high = 0;  // what resembles the model glows
  return paint_color_map(job.execution, job.frame, elements, place_of(job, params_),
                         hues ? hue_palette(params_.bins, *job.info) : heat_palette(*job.info));
}

// How many windows there are; of distances the least, and the first window that has it.
void LocalHistOperation::describe(GstStructure *message) {
  gst_structure_set(message, "windows", G_TYPE_UINT64, guint64(shape_.rows) * guint64(shape_.cols), nullptr);
  if (reported_.empty()) return;
  const auto least = std::min_element(reported_.begin(), reported_.end());
  const int i = static_cast<int>(least - reported_.begin());
  gst_structure_set(message, "least-distance", G_TYPE_DOUBLE, static_cast<double>(*least), "x", G_TYPE_INT,
                    reported_x_ + i % shape_.cols * params_.stride_x, "y", G_TYPE_INT,
                    reported_y_ + i / shape_.cols * params_.stride_y, nullptr);
}

}  // namespace cudavision
