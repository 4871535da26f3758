// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/localhist/localhist_operation.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "gst/base/results/attach.h"

namespace cudavision {
namespace {

// The place of the painted map: each element covers a block of the size of the strides around the centre of its window.
MapPlace place_of(const Job &job, const LocalHistParams &p) {
  return {.x = job.region.x + (p.window.width - p.stride_x) / 2,
          .y = job.region.y + (p.window.height - p.stride_y) / 2,
          .step_x = p.stride_x,
          .step_y = p.stride_y,
          .clip = job.region};
}

// The part of the model's region that lies in the analysed region, in coordinates of the latter; width or
// height are not positive if the two do not overlap.
Region model_region(const LocalHistSettings &s, Region analysed) {
  const int x = std::max(s.model_x, analysed.x), y = std::max(s.model_y, analysed.y);
  const auto end = [](int begin, int size, int last) {
    return size == 0 ? last : static_cast<int>(std::min<gint64>(gint64{begin} + size, last));
  };
  return {x - analysed.x, y - analysed.y, end(s.model_x, s.model_width, analysed.x + analysed.width) - x,
          end(s.model_y, s.model_height, analysed.y + analysed.height) - y};
}

std::size_t windows_of(const LocalHistShape &shape) {
  return static_cast<std::size_t>(shape.rows) * static_cast<std::size_t>(shape.cols);
}

// The parameters of the map that display paints: reduction `none` becomes `argmax`, the dominant bins.
LocalHistParams painted_params(LocalHistParams params) {
  if (params.reduction == LocalHistReduction::none) params.reduction = LocalHistReduction::argmax;
  return params;
}

}  // namespace

Status LocalHistResults::make(std::shared_ptr<DeviceContext> context, const LocalHistShape &shape,
                              const LocalHistParams &params) {
  *this = LocalHistResults();
  shape_ = shape;
  params_ = params;
  if (params.reduction == LocalHistReduction::none)
    return TensorPool::make(std::move(context), shape.histogram_bytes, &histograms_);
  if (params.reduction == LocalHistReduction::argmax)
    CUDAVISION_TRY(TensorPool::make(context, windows_of(shape) * sizeof(std::uint16_t), &argmax_));
  return TensorPool::make(std::move(context), windows_of(shape) * sizeof(float), &value_);
}

Status LocalHistResults::attach(const Job &job, LocalHistOutput *output) {
  const auto attach_from = [&](TensorPool &pool, const char *id, GstCudaVisionElementType type,
                               std::initializer_list<int> dims, auto **data) -> Status {
    TensorPool::Lease lease;
    CUDAVISION_TRY(pool.acquire(&lease));
    *data = static_cast<std::remove_pointer_t<decltype(data)>>(lease.data);
    return attach_tensor(job, id, type, dims, std::move(lease.buffer), params_.stride_x, params_.stride_y);
  };
  *output = {};
  const int rows = shape_.rows, cols = shape_.cols, bins = params_.bins;
  if (histograms_) {
    constexpr GstCudaVisionElementType kTypes[] = {
        GST_CUDA_VISION_ELEMENT_TYPE_U16, GST_CUDA_VISION_ELEMENT_TYPE_U32, GST_CUDA_VISION_ELEMENT_TYPE_F32};
    const auto type = kTypes[static_cast<int>(shape_.element)];
    if (params_.layout == LocalHistLayout::planar)
      return attach_from(*histograms_, "local-histogram", type, {bins, rows, cols}, &output->histograms);
    return attach_from(*histograms_, "local-histogram", type, {rows, cols, bins}, &output->histograms);
  }
  if (argmax_)
    CUDAVISION_TRY(attach_from(*argmax_, "local-histogram-argmax", GST_CUDA_VISION_ELEMENT_TYPE_U16,
                               {rows, cols}, &output->argmax));
  const char *id = params_.reduction == LocalHistReduction::argmax    ? "local-histogram-share"
                   : params_.reduction == LocalHistReduction::entropy ? "local-histogram-entropy"
                                                                      : "local-histogram-distance";
  return attach_from(*value_, id, GST_CUDA_VISION_ELEMENT_TYPE_F32, {rows, cols}, &output->value);
}

// Allocates for the settings of this moment, so that a lack of memory is an error when the caps are negotiated.
Status LocalHistOperation::allocate(const OperationSetup &setup) {
  execution_ = setup.execution;
  context_ = setup.context;
  region_ = setup.region;
  state_.take_settings();
  auto *last = static_cast<Model *>(setup.learnt->get());
  if (last != nullptr) valid_ = last->valid;
  CUDAVISION_TRY(prepare(setup.display));
  if (last != nullptr) {
    model_.reset(static_cast<Model *>(setup.learnt->release()));
    return {};
  }
  model_ = std::make_unique<Model>();
  return model_->shares.allocate(execution_, LocalHistRanges::bins.most * sizeof(float));
}

std::unique_ptr<LearntState> LocalHistOperation::take_learnt(bool) {
  model_->valid = valid_;
  return std::move(model_);
}

// Makes the algorithms and buffers that the settings need, unless they exist. The tensors, which are the
// largest, come first: if they do not fit into max-memory, little was allocated in vain.
Status LocalHistOperation::prepare(bool display) {
  const LocalHistParams params = valid_params();
  if (!localhist_ || params != params_) {
    localhist_.reset();
    painted_.reset();
    CUDAVISION_TRY(shape_of(region_, params, &shape_));
    CUDAVISION_TRY(results_.make(context_, shape_, params));
    CUDAVISION_TRY(make_localhist(execution_, region_, params, &localhist_));
    params_ = params;
    valid_ = params;
  }
  return display && params.reduction == LocalHistReduction::none && !painted_ ? make_painted() : Status();
}

// The parameters of the settings. If they change to ones that are not valid for the size of the region, the
// stream does not end: the last valid ones stay in force, and one warning is posted.
LocalHistParams LocalHistOperation::valid_params() {
  const LocalHistParams params = settings_.params();
  LocalHistShape shape;
  const Status status = shape_of(region_, params, &shape);
  if (status.ok() || !valid_ || !shape_of(region_, *valid_, &shape).ok()) return params;
  state_.warn_once("parameters", status.text() + ": the last valid values stay in force");
  return *valid_;
}

Status LocalHistOperation::make_painted() {
  const auto windows = static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.cols);
  CUDAVISION_TRY(painted_bins_.allocate(execution_, windows * sizeof(std::uint16_t)));
  CUDAVISION_TRY(painted_shares_.allocate(execution_, windows * sizeof(float)));
  return make_localhist(execution_, region_, painted_params(params_), &painted_);
}

Status LocalHistOperation::run(const Job &job) {
  CUDAVISION_TRY(prepare(job.draw));
  reported_.clear();
  const bool distance = params_.reduction == LocalHistReduction::distance;
  if (distance) {
    CUDAVISION_TRY(take_model(job));
    if (!model_->exists) return {};  // take_model() has posted a warning
  }
  LocalHistOutput output;
  CUDAVISION_TRY(results_.attach(job, &output));
  CUDAVISION_TRY(
      localhist_->run(job.luma, output, static_cast<const float *>(model_->shares.data()), job.input));
  if (distance && job.report) {
    reported_.resize(static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.cols));
    reported_x_ = job.region.x;
    reported_y_ = job.region.y;
    CUDAVISION_TRY(
        copy_to_host(job.execution, reported_.data(), output.value, reported_.size() * sizeof(float)));
  }
  return job.draw ? paint(job, output) : Status();
}

// Takes the model if there is none for the current settings. If the model's region lies outside the analysed
// region, the last model stays in force and one warning is posted.
Status LocalHistOperation::take_model(const Job &job) {
  const ModelKey key{.feature = params_.feature,
                     .op = params_.op,
                     .weight = params_.weight,
                     .bins = params_.bins,
                     .changes = settings_.model_changes};
  if (model_->exists && key == model_->key) return {};
  const Region region = model_region(settings_, job.region);
  if (region.width > 0 && region.height > 0) {
    model_->exists = false;  // while it is being written
    CUDAVISION_TRY(localhist_->take_model(job.luma, region, static_cast<float *>(model_->shares.data())));
    model_->key = key;
    model_->exists = true;
    return {};
  }
  state_.warn_once("model", "model-region-x and model-region-y (", settings_.model_x, ", ", settings_.model_y,
                   ") lie outside the analysed region: ",
                   model_->exists ? "the last model stays in force" : "there is no model");
  // If only the model's region has changed, the last model still fits. With other bins, for example, it does not.
  ModelKey last = model_->key;
  last.changes = key.changes;
  model_->exists = model_->exists && key == last;
  return {};
}

Status LocalHistOperation::paint(const Job &job, const LocalHistOutput &output) {
  LocalHistOutput painted = output;
  if (painted_) {
    painted = {nullptr, static_cast<std::uint16_t *>(painted_bins_.data()),
               static_cast<float *>(painted_shares_.data())};
    CUDAVISION_TRY(painted_->run(job.luma, painted, nullptr));
  }
  MapElements elements{.rows = shape_.rows,
                       .cols = shape_.cols,
                       .indices = painted.argmax,
                       .values = painted.value,
                       .low = 0,
                       .high = 1};
  const bool hues = painted.argmax != nullptr;
  if (params_.reduction == LocalHistReduction::entropy) {
    // No window has a greater entropy than `high`. The entropy of orientations is seldom below half of it.
    const long long pixels = static_cast<long long>(params_.window.width) * params_.window.height;
    elements.high = std::max(1.0f, std::log2(static_cast<float>(std::min<long long>(params_.bins, pixels))));
    if (params_.feature == LocalHistFeature::gradient) elements.low = elements.high / 2;
  }
  if (params_.reduction == LocalHistReduction::distance)
    elements.low = 2, elements.high = 0;  // windows that resemble the model are bright
  return paint_color_map(job.execution, job.frame, elements, place_of(job, params_),
                         hues ? palette_.hues(params_.bins, *job.info) : palette_.heat(*job.info));
}

// Adds the number of windows and, with reduce=distance, the least distance and the first window that has it.
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
