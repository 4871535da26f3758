// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/hog/hog_operation.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/number_text.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"
#include "gst/base/style/label_style.h"

namespace cudavision {
namespace {

constexpr long long kMaxStarLines = 1ll << 26;
constexpr int kMostPrimitivesPerBox = 1 + label_size(LabelText::kMost, true);

HogStyle style_of(const Job &job, const HogSettings &settings) {
  return {job.region.x, job.region.y, width_for(settings.line_width, job.frame.size()),
          color_of(settings.color.argb(), *job.info)};
}

// Attaches the boxes with the type `label`, and their scores in the field "confidence" of the structure "detection".
Status attach_boxes(const Job &job, const HogBox *boxes, int count, const char *label, Look look) {
  return attach_found(job, label, look, count, [&](int i) {
    const HogBox &box = boxes[i];
    GstStructure *param =
        gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, static_cast<double>(box.score), nullptr);
    return FoundBox{{box.x, box.y, box.width, box.height}, box.score, param};
  });
}

}  // namespace

Status HogOperation::allocate(const OperationSetup &setup) {
  execution_ = setup.execution;
  context_ = setup.context;
  size_ = setup.region;
  channels_ = pixel_layout(*setup.info).model == ColorModel::rgb ? 3 : 1;
  // Memory that every frame needs is allocated here, so that the negotiation fails if there is none.
  state_.take_settings();
  if (needs_blocks(false)) CUDAVISION_TRY(prepare_blocks(params()));
  if (model() != nullptr) CUDAVISION_TRY(prepare_detector());
  return make_canvas(execution_, {GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)},
                     &canvas_);
}

Reads HogOperation::reads() const { return channels_ == 3 ? Reads::components : Reads::luma; }

Status HogOperation::prepare_blocks(const HogParams &params) {
  if (hog_ && params == block_params_) return {};
  HogShape shape;
  CUDAVISION_TRY(hog_shape(size_, params, &shape));
  const std::size_t bytes = shape.count() * sizeof(float);
  if (bytes > G_MAXUINT)
    return invalid_argument("the blocks of a frame are " + std::to_string(bytes) +
                            " bytes, more than a buffer can hold");
  std::unique_ptr<TensorPool> pool;
  std::unique_ptr<Hog> hog;
  CUDAVISION_TRY(TensorPool::make(context_, bytes, &pool));
  CUDAVISION_TRY(make_hog(execution_, size_, channels_, params, &hog));
  shape_ = shape, block_params_ = params;
  pool_ = std::move(pool), hog_ = std::move(hog);
  return {};
}

// Parameters that are not valid for the size of the frame do not end the stream: the last valid ones stay in force.
Status HogOperation::follow_params() {
  const Status status = prepare_blocks(params());
  if (status.code() != Status::Code::invalid_argument && status.code() != Status::Code::too_small)
    return status;
  state_.warn_once(
      "blocks", status.text() + (hog_ ? ": the last valid values stay in force" : ": there are no blocks"));
  return {};
}

Status HogOperation::prepare_detector() {
  HogSearch search = settings_.search(model()->min_scale);
  if (search.max_scale > 0) search.min_scale = std::min(search.min_scale, search.max_scale);
  if (detector_ && search == search_) return {};
  detector_.reset();
  if (found_.capacity() == 0) {  // found_ is allocated last: if it exists, all three do
    CUDAVISION_TRY(
        box_primitives_.allocate(execution_, kMaxHogHits * kMostPrimitivesPerBox * sizeof(Primitive)));
    CUDAVISION_TRY(box_primitive_count_.allocate(execution_, sizeof(int)));
    CUDAVISION_TRY(found_.allocate(execution_, kMaxHogHits));
  }
  CUDAVISION_TRY(make_hog_detector(execution_, size_, channels_, *model(), search, &detector_));
  search_ = search;
  windows_ = hog_window_count(size_, *model(), search);
  return {};
}

// Why this search can find nothing, whatever the frame shows: a sentence for the user; otherwise an empty string.
std::string HogOperation::futility() const {
  if (windows_ == 0)
    return "The model's window of " + to_string(model()->window) + " pixels does not fit into " +
           to_string(size_) + " pixels at any scale from min-scale (" + text_of(search_.min_scale) +
           ") on: nothing can be found. Scale the frames up, enlarge the region of interest or lower "
           "min-scale";
  if (settings_.group_threshold >= std::min<std::int64_t>(windows_, kMaxHogHits))
    return "group-threshold is " + std::to_string(settings_.group_threshold) + ", but there are only " +
           std::to_string(std::min<std::int64_t>(windows_, kMaxHogHits)) +
           " windows: nothing can be found. Lower group-threshold";
  if (const double bound = hog_score_bound(*model()); settings_.hit_threshold > bound)
    return "hit-threshold is " + text_of(settings_.hit_threshold) + ", but no score of this model exceeds " +
           text_of(std::ceil(bound)) + ": nothing can be found. Lower hit-threshold";
  return {};
}

Status HogOperation::run(const Job &job) {
  const HogPicture picture = channels_ == 3 ? hog_picture(job.frame, job.region) : hog_picture(job.luma);
  if (needs_blocks(job.draw)) CUDAVISION_TRY(run_blocks(job, picture));
  if (model() == nullptr && !needs_blocks(job.draw) && idle_.is_over(job.buffer))
    state_.warn_once("idle",
                     "descriptor and display are false, and there is no model: the element does nothing. Set "
                     "model=people, for example");
  return model() != nullptr ? detect(job, picture) : Status();
}

Status HogOperation::run_blocks(const Job &job, const HogPicture &picture) {
  CUDAVISION_TRY(follow_params());
  if (!hog_) return {};
  TensorPool::Lease lease;
  CUDAVISION_TRY(pool_->acquire(&lease));
  auto *blocks = static_cast<float *>(lease.data);
  const BufferRef kept(gst_buffer_ref(lease.buffer.get()));  // keeps the blocks until the stars are drawn
  Status status;
  if (wants_descriptor())
    status =
        attach_tensor(job, "hog", GST_CUDA_VISION_ELEMENT_TYPE_F32, {shape_.rows, shape_.cols, shape_.length},
                      std::move(lease.buffer), block_params_.stride.width, block_params_.stride.height);
  if (status.ok()) status = hog_->run(picture, blocks, job.input);
  if (status.ok() && job.draw && model() == nullptr) status = draw_stars(job, picture, blocks);
  return status;
}

Status HogOperation::draw_stars(const Job &job, const HogPicture &picture, const float *blocks) {
  state_.inform_once("stars",
                     "There is no model: gradients are drawn as stars. Set model=people to find people");
  // The side of a group of cells is the automatic line width, as a number of cells: in a large frame, the star of one
  // cell would be too small to see.
  const StarGroups groups{automatic_width(job.frame.size())};
  const long long count = star_line_count(shape_, block_params_, groups);
  if (count > kMaxStarLines) {
    state_.warn_once("lines", "display would draw ", count, " lines, which is more than ", kMaxStarLines,
                     ", and draws none: increase cell-size");
    return {};
  }
  const auto capacity = static_cast<std::size_t>(count) + 1;
  if (capacity > star_capacity_) {
    star_capacity_ = 0;
    CUDAVISION_TRY(star_lines_.allocate(execution_, capacity * sizeof(Primitive)));
    star_capacity_ = capacity;
  }
  auto *lines = static_cast<Primitive *>(star_lines_.data());
  HogStyle style = style_of(job, settings_);
  style.line_width = automatic_width(job.frame.size());
  style.shade = color_of(0x90000000, *job.info);
  CUDAVISION_TRY(
      make_star_primitives(execution_, picture, blocks, shape_, block_params_, groups, style, lines));
  CUDAVISION_TRY(canvas_->draw(job.frame, lines + count, 1, nullptr, job.region));
  return canvas_->draw(job.frame, lines, static_cast<int>(count), nullptr, job.region);
}

Status HogOperation::detect(const Job &job, const HogPicture &picture) {
  CUDAVISION_TRY(prepare_detector());
  CUDAVISION_TRY(gate_.find(job, settings_.roi_type));
  state_.warn_once("roi-type", gate_.complaint());
  if (!job.is_cut && settings_ != judged_) {
    state_.warn_once("futile", futility());
    judged_ = settings_;
  }
  CUDAVISION_TRY(detector_->run(picture, settings_.thresholds(model()->object), list(), gate_.places()));
  if (job.draw) CUDAVISION_TRY(draw_boxes(job));
  return found_.fetch(execution_);
}

HogLabels HogOperation::labels(const Job &job) const {
  if (!settings_.labels) return {};
  const Size frame = job.frame.size();
  return {.shown = true,
          .text = LabelText(drawable(label())),
          .style = label_style(settings_.color.argb(), width_for(settings_.line_width, frame), frame,
                               job.region, *job.info)};
}

Status HogOperation::draw_boxes(const Job &job) {
  const HogLabels labels = this->labels(job);
  auto *primitives = static_cast<Primitive *>(box_primitives_.data());
  auto *count = static_cast<int *>(box_primitive_count_.data());
  CUDAVISION_TRY(make_box_primitives(execution_, list(), kMaxHogHits, style_of(job, settings_), labels,
                                     primitives, count));
  return canvas_->draw(job.frame, primitives, kMaxHogHits * primitives_per_box(labels), count, job.region);
}

Status HogOperation::finish(const Job &job) {
  if (model() == nullptr) return {};
  const HogBoxCount &count = found_.count_on_host();
  if (count.hits > kMaxHogHits)
    state_.warn_once("hits", count.hits, " windows reach hit-threshold (", text_of(settings_.hit_threshold),
                     "), but only the first ", kMaxHogHits, " of them are used: raise hit-threshold");
  return attach_boxes(job, found_.items_on_host(), count.listed, label(), gate_.look());
}

void HogOperation::describe(GstStructure *message) {
  if (model() != nullptr) {
    const HogBoxCount &count = found_.count_on_host();
    gst_structure_set(message, "boxes", G_TYPE_INT, count.listed, "hits", G_TYPE_INT, count.hits, nullptr);
  }
  if (needs_blocks(false) && hog_)
    gst_structure_set(message, "block-rows", G_TYPE_INT, shape_.rows, "block-cols", G_TYPE_INT, shape_.cols,
                      "block-length", G_TYPE_INT, shape_.length, nullptr);
}

}  // namespace cudavision
