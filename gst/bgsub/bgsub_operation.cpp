// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation of cudabgsub.
#include "gst/bgsub/bgsub_operation.h"

#include <algorithm>
#include <utility>

#include "cuda/draw/draw.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"
#include "gst/bgsub/motion_regions.h"

namespace cudavision {

Status BgsubOperation::allocate(const Site &site) {
  execution_ = site.execution;
  region_ = site.region;
  channels_ = pixel_layout(*site.info).model == ColorModel::rgb ? 3 : 1;
  settings_ = state_.take_settings();
  const Size frame{GST_VIDEO_INFO_WIDTH(site.info), GST_VIDEO_INFO_HEIGHT(site.info)};
  if (const MaskPicture *picture = state_.files().mask.get(); picture != nullptr) {
    host_picture_ = picture->scaled_to(frame);
    CUDAVISION_TRY(picture_.allocate(execution_, host_picture_.size()));
    CUDAVISION_TRY(copy_from_host(execution_, picture_.data(), host_picture_.data(), host_picture_.size()));
  }
  if (picture_.data() != nullptr || settings_.ignore_type)
    CUDAVISION_TRY(make_removal_mask(execution_, frame, &kept_));
  CUDAVISION_TRY(mask_.allocate(execution_, region_));
  CUDAVISION_TRY(TensorPool::make(
      site.context, static_cast<std::size_t>(region_.width) * static_cast<std::size_t>(region_.height),
      &tensors_));
  CUDAVISION_TRY(make_mask_cleaner(execution_, region_, &cleaner_));
  CUDAVISION_TRY(make_components(execution_, region_, &components_));
  CUDAVISION_TRY(fit_list());
  if (auto *last = static_cast<Model *>(site.learnt->get());
      last != nullptr && last->size == region_ && last->mixtures == settings_.mixtures) {
    model_.reset(static_cast<Model *>(site.learnt->release()));
    return {};
  }
  model_ = std::make_unique<Model>();
  model_->size = region_, model_->mixtures = settings_.mixtures;
  return make_bgsub(execution_, region_, channels_, settings_.mixtures, &model_->subtractor);
}

std::unique_ptr<Learnt> BgsubOperation::take_learnt(bool given_up) {
  if (given_up) return nullptr;
  return std::move(model_);
}

Reads BgsubOperation::reads() const { return channels_ == 3 ? Reads::components : Reads::luma; }

// The list is as long as max-regions asks for, because all of it is copied to the host.
Status BgsubOperation::fit_list() {
  const int needed = std::max(1, settings_.max_regions);
  return needed <= found_.capacity() ? Status() : found_.allocate(execution_, needed);
}

ComponentList BgsubOperation::list() const {
  return {found_.count(), found_.items(), std::max(1, settings_.max_regions)};
}

Status BgsubOperation::run(const Job &job) {
  // The model is that of one place.
  if (std::exchange(model_->region, job.region) != job.region) model_->subtractor->restart();
  is_first_ = model_->subtractor->is_empty();
  ImageView<const std::uint8_t> kept{};
  CUDAVISION_TRY(find_kept(job, &kept));
  CUDAVISION_TRY(fit_list());
  const BgsubPicture picture =
      channels_ == 3 ? bgsub_picture(job.frame, job.region) : bgsub_picture(job.luma);
  CUDAVISION_TRY(model_->subtractor->run(picture, kept, settings_, mask_.view(), job.input));

  TensorPool::Lease lease;
  CUDAVISION_TRY(tensors_->acquire(&lease));
  const ImageView<std::uint8_t> moving{static_cast<std::uint8_t *>(lease.data), region_.width, region_.width,
                                       region_.height};
  CUDAVISION_TRY(attach_map(job, "foreground-mask", "motion", std::move(lease.buffer)));
  CUDAVISION_TRY(cleaner_->run(mask_.view(), settings_.cleaning(), moving));
  CUDAVISION_TRY(components_->run(
      moving, {.connectivity = Connectivity::eight, .min_area = settings_.min_area}, list()));
  CUDAVISION_TRY(found_.fetch(execution_));
  return job.draw ? draw(job, moving) : Status();
}

Status BgsubOperation::find_kept(const Job &job, ImageView<const std::uint8_t> *kept) {
  regions_.clear();
  if (settings_.ignore_type) {
    collect_boxes(job.buffer, *execution_.stop, &boxes_);
    if (execution_.stop->requested()) return Status(Status::Code::stopped);
    const std::string &type = *settings_.ignore_type;
    if (type != "*") state_.warn_once("ignore-type", awaited_.take(job.buffer, boxes_, "ignore-type", type));
    add_regions(boxes_, type, job.frame.size(), *execution_.stop, &regions_);
  }
  if (picture_.data() == nullptr && regions_.empty()) return {};
  if (!kept_) CUDAVISION_TRY(make_removal_mask(execution_, job.frame.size(), &kept_));
  ImageView<const std::uint8_t> of_frame;
  CUDAVISION_TRY(kept_->run(job.frame,
                            {.picture = static_cast<const std::uint8_t *>(picture_.data()),
                             .regions = regions_.data(),
                             .region_count = static_cast<int>(regions_.size()),
                             .color = {},
                             .alpha = {},
                             .limit = {}},
                            &of_frame));
  *kept = of_frame.crop(job.region);
  return {};
}

Status BgsubOperation::draw(const Job &job, ImageView<const std::uint8_t> moving) {
  if (settings_.output == BgsubOutput::overlay)
    return overlay_mask(execution_, job.frame, job.region, moving,
                        color_of(settings_.color.argb(), *job.info));
  if (settings_.output == BgsubOutput::mask) {
    // Without cleaning, shadows are shown, too.
    const bool is_cleaned = settings_.open > 0 || settings_.close > 0;
    return replace_with_mask(execution_, job.frame, job.region, is_cleaned ? moving : mask_.view());
  }
  if (settings_.output == BgsubOutput::background && channels_ == 3)
    return model_->subtractor->background(settings_, bgsub_picture(job.frame, job.region));
  if (shown_.view().data == nullptr) CUDAVISION_TRY(shown_.allocate(execution_, region_));
  const ImageView<std::uint8_t> shown = shown_.view();
  if (settings_.output == BgsubOutput::background) {
    CUDAVISION_TRY(model_->subtractor->background(settings_, {.data = shown.data,
                                                              .pitch_bytes = shown.pitch_bytes,
                                                              .width = shown.width,
                                                              .height = shown.height}));
    return replace_with_mask(execution_, job.frame, job.region, shown);
  }
  MorphologyParams rest;
  rest.complement = true;
  CUDAVISION_TRY(cleaner_->run(moving, rest, shown));
  return overlay_mask(execution_, job.frame, job.region, shown, color_of(0xff000000, *job.info));
}

double BgsubOperation::share() const {
  return found_.count_on_host().pixels / (static_cast<double>(region_.width) * region_.height);
}

int BgsubOperation::region_count() const {
  return is_first_ || is_global_change() ? 0 : std::min(found_.count_on_host().listed, settings_.max_regions);
}

Status BgsubOperation::finish(const Job &job) {
  return attach_motion(job, found_.items_on_host(), region_count());
}

void BgsubOperation::describe(GstStructure *message) {
  gst_structure_set(message, "moving", G_TYPE_DOUBLE, share(), "global-change", G_TYPE_BOOLEAN,
                    static_cast<gboolean>(is_global_change()), "regions", G_TYPE_INT, region_count(), "found",
                    G_TYPE_INT, found_.count_on_host().found, nullptr);
}

}  // namespace cudavision
