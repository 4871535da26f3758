// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/bgsub/bgsub_operation.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/draw/draw.h"
#include "gst/base/element/timing.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/attach.h"
#include "gst/base/results/frame_notes.h"

namespace cudavision {
namespace {

BgsubPixels<std::uint8_t> pixels_of(ImageView<std::uint8_t> bytes, int channels) {
  return {.data = bytes.data,
          .pitch_bytes = bytes.pitch_bytes,
          .step_bytes = channels,
          .channels = channels,
          .width = bytes.width / channels,
          .height = bytes.height};
}

constexpr char kType[] = "motion";

// Attaches each component as a box of the type "motion". The structure "motion" of a region has the fields "area", in
// pixels, and "share", of the analysed region.
Status attach_motion(const Job &job, const ConnectedComponent *components, int count) {
  const double pixels = static_cast<double>(job.region.width) * job.region.height;
  return attach_found(job, kType, Look::whole, count, [&](int i) {
    const ConnectedComponent &part = components[i];
    GstStructure *param = gst_structure_new(kType, "area", G_TYPE_INT, part.area, "share", G_TYPE_DOUBLE,
                                            part.area / pixels, nullptr);
    return FoundBox{part.box, 1, param};
  });
}

}  // namespace

Status BgsubOperation::allocate(const OperationSetup &setup) {
  execution_ = setup.execution;
  context_ = setup.context;
  region_ = setup.region;
  channels_ = pixel_layout(*setup.info).model == ColorModel::rgb ? 3 : 1;
  state_.take_settings();
  const Size frame{GST_VIDEO_INFO_WIDTH(setup.info), GST_VIDEO_INFO_HEIGHT(setup.info)};
  if (const MaskPicture *picture = state_.files().mask.get(); picture != nullptr) {
    host_picture_ = picture->scaled_to(frame);
    CUDAVISION_TRY(picture_.allocate(execution_, host_picture_.size()));
    CUDAVISION_TRY(copy_from_host(execution_, picture_.data(), host_picture_.data(), host_picture_.size()));
  }
  if (picture_.data() != nullptr || settings_.ignore_type)
    CUDAVISION_TRY(make_removal_mask(execution_, frame, &kept_));
  CUDAVISION_TRY(mask_.allocate(execution_, region_));
  CUDAVISION_TRY(TensorPool::make(
      setup.context, static_cast<std::size_t>(region_.width) * static_cast<std::size_t>(region_.height),
      &tensors_));
  CUDAVISION_TRY(make_mask_cleaner(execution_, region_, &cleaner_));
  CUDAVISION_TRY(make_components(execution_, region_, &components_));
  CUDAVISION_TRY(fit_list());
  const int scale = settings_.scale;
  const Size size = reduced_size(region_, scale);
  if (scale > 1) {
    CUDAVISION_TRY(reduced_.allocate(execution_, {size.width * channels_, size.height}));
    CUDAVISION_TRY(reduced_mask_.allocate(execution_, size));
  }
  if (auto *last = static_cast<Model *>(setup.learnt->get()); last != nullptr && last->size == region_ &&
                                                              last->mixtures == settings_.mixtures &&
                                                              last->scale == scale) {
    model_.reset(static_cast<Model *>(setup.learnt->release()));
    return {};
  }
  model_ = std::make_unique<Model>(&state_);
  model_->context = context_, model_->location = settings_.model_location;
  model_->size = region_, model_->channels = channels_;
  model_->mixtures = settings_.mixtures, model_->scale = scale;
  CUDAVISION_TRY(make_bgsub(execution_, size, channels_, settings_.mixtures, &model_->subtractor));
  return resume();
}

SavedBackground BgsubOperation::Model::described() const {
  SavedBackground saved;
  saved.region = {region.x, region.y, size.width, size.height};
  saved.scale = scale, saved.channels = channels, saved.mixtures = mixtures;
  return saved;
}

Status BgsubOperation::resume() {
  SavedBackground *at_start = state_.files().model.get();
  const bool is_first = at_start != nullptr && !std::exchange(at_start->was_tried, true);
  const Status status = catch_bad_alloc([this] { return take_saved(); });
  if (!status.ok() && !is_first) state_.warn_once("model", status.text());
  return is_first ? status : Status();
}

// Reads the model if it is for such frames. Temporary memory, bounded by their size, is not charged to the element.
Status BgsubOperation::take_saved() {
  const MemoryBudget::Scope not_charged(nullptr);
  std::shared_ptr<SavedBackground> known;
  CUDAVISION_TRY(SavedBackground::load(model_->location, &known));
  if (known == nullptr) return {};
  if (!known->has_shape_of(model_->described())) {
    state_.warn_once("model", "The model of model-location is for ", known->words(),
                     ": it stays as it is, and the background is learnt anew");
    return {};
  }
  SavedBackground saved;
  CUDAVISION_TRY(saved.read(*model_->location, *known));
  model_->region = saved.region, model_->is_resumed = true;
  CUDAVISION_TRY(model_->subtractor->resume(saved.state));
  return context_ ? context_->synchronize() : Status();  // `saved` must outlive the copies
}

Status BgsubOperation::Model::save() const {
  if (!location || location->empty() || subtractor->is_empty() || is_resumed) return {};
  const MemoryBudget::Scope not_charged(nullptr);
  SavedBackground saved = described();
  CUDAVISION_TRY(subtractor->fetch(&saved.state));
  if (context) CUDAVISION_TRY(context->synchronize());
  return saved.save(*location, history);
}

double BgsubOperation::Model::rate(const BgsubSettings &settings, GstClockTime passed) const {
  constexpr std::int64_t kLeastLearnt = 20;
  BgsubParams own = settings;
  // A model of the first frame alone would take a dark frame, or who stands there, for the background for ever.
  if (own.learning_rate == 0 && subtractor->frames() < kLeastLearnt) own.learning_rate = -1;
  const double least = light.least_rate(settings, passed);
  return bgsub_rate(own, subtractor->frames()) < least ? least : own.learning_rate;
}

void BgsubOperation::Model::tell_of_light(bool is_blind, GstClockTime timestamp) {
  if (is_blind == std::exchange(is_told_blind, is_blind)) return;
  GstElement *element = state->element();
  const GstClockTime running_time = to_running_time(GST_BASE_TRANSFORM(element)->segment, timestamp);
  GstStructure *message = gst_structure_new("cudabgsub-light", "blind", G_TYPE_BOOLEAN,
                                            static_cast<gboolean>(is_blind), "timestamp", G_TYPE_UINT64,
                                            timestamp, "running-time", G_TYPE_UINT64, running_time, nullptr);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), message));
}

void BgsubOperation::Model::end() {
  tell_of_light(false, GST_CLOCK_TIME_NONE);
  if (const Status status = catch_bad_alloc([this] { return save(); }); !status.ok())
    state->warn_once("save", status.text());
}

// A model is usable even after a frame that was given up: some pixels have learnt that frame, and others have not.
std::unique_ptr<LearntState> BgsubOperation::take_learnt(bool) { return std::move(model_); }

Reads BgsubOperation::reads() const { return channels_ == 3 ? Reads::components : Reads::luma; }

// Enlarges the list to max-regions items. It is not made larger in advance, because all of it is copied to the host.
Status BgsubOperation::fit_list() {
  const int needed = std::max(1, settings_.max_regions);
  return needed <= found_.capacity() ? Status() : found_.allocate(execution_, needed);
}

ComponentList BgsubOperation::list() const {
  return {found_.count(), found_.items(), std::max(1, settings_.max_regions)};
}

Status BgsubOperation::run(const Job &job) {
  // The model belongs to one place in the frame: if the region of interest moves, it starts anew.
  if (std::exchange(model_->region, job.region) != job.region) model_->restart();
  model_->is_resumed = false, model_->history = settings_.history;
  is_first_ = model_->subtractor->is_empty();
  passed_ = clock_.next(GST_BUFFER_PTS(job.buffer), false, false).time;
  ImageView<const std::uint8_t> kept{};
  CUDAVISION_TRY(find_kept(job, &kept));
  CUDAVISION_TRY(fit_list());
  CUDAVISION_TRY(subtract(job, kept));

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

Status BgsubOperation::subtract(const Job &job, ImageView<const std::uint8_t> kept) {
  const BgsubPicture picture =
      channels_ == 3 ? BgsubPicture(bgsub_picture(job.frame, job.region)) : bgsub_picture(job.luma);
  const int scale = model_->scale;
  BgsubParams params = settings_;
  params.learning_rate = model_->rate(settings_, passed_);
  if (scale == 1) return model_->subtractor->run(picture, kept, params, mask_.view(), job.input);
  const BgsubPixels<std::uint8_t> reduced = pixels_of(reduced_.view(), channels_);
  CUDAVISION_TRY(reduce_picture(execution_, picture, scale, reduced, job.input));
  if (kept.data != nullptr) {  // a square is not learnt if one of its pixels is not
    if (reduced_kept_.view().data == nullptr)
      CUDAVISION_TRY(reduced_kept_.allocate(execution_, reduced_mask_.view().size()));
    CUDAVISION_TRY(
        reduce_picture(execution_, bgsub_picture(kept), scale, pixels_of(reduced_kept_.view(), 1)));
    kept = reduced_kept_.view();
  }
  CUDAVISION_TRY(model_->subtractor->run(reduced, kept, params, reduced_mask_.view()));
  return enlarge_picture(execution_, bgsub_picture(reduced_mask_.view()), scale, pixels_of(mask_.view(), 1));
}

Status BgsubOperation::write_background(const BgsubPixels<std::uint8_t> &background) {
  if (model_->scale == 1) return model_->subtractor->background(settings_, background);
  const BgsubPixels<std::uint8_t> reduced = pixels_of(reduced_.view(), channels_);
  CUDAVISION_TRY(model_->subtractor->background(settings_, reduced));
  return enlarge_picture(execution_, reduced, model_->scale, background);
}

Status BgsubOperation::find_kept(const Job &job, ImageView<const std::uint8_t> *kept) {
  const bool by_type = settings_.ignore_type.has_value();
  if (by_type) {
    ignored_.read(job.buffer, job.frame.size(), *execution_.stop, "ignore-type", *settings_.ignore_type);
    if (execution_.stop->requested()) return Status(Status::Code::stopped);
    state_.warn_once("ignore-type", ignored_.complaint());
  }
  const int count = by_type ? static_cast<int>(ignored_.regions().size()) : 0;
  if (picture_.data() == nullptr && count == 0) return {};
  if (!kept_) CUDAVISION_TRY(make_removal_mask(execution_, job.frame.size(), &kept_));
  ImageView<const std::uint8_t> of_frame;
  CUDAVISION_TRY(kept_->run(job.frame,
                            {.picture = static_cast<const std::uint8_t *>(picture_.data()),
                             .regions = ignored_.regions().data(),
                             .region_count = count,
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
    return write_background(bgsub_picture(job.frame, job.region));
  if (shown_.view().data == nullptr) CUDAVISION_TRY(shown_.allocate(execution_, region_));
  const ImageView<std::uint8_t> shown = shown_.view();
  if (settings_.output == BgsubOutput::background) {
    CUDAVISION_TRY(write_background(pixels_of(shown, 1)));
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

bool BgsubOperation::knows_what_moves() const { return !is_first_ && !model_->light.is_blind(); }

int BgsubOperation::region_count() const {
  return knows_what_moves() ? std::min(found_.count_on_host().listed, settings_.max_regions) : 0;
}

Status BgsubOperation::finish(const Job &job) {
  LightChange &light = model_->light;
  if (!is_first_) light.take(share(), settings_, passed_);
  model_->tell_of_light(light.is_blind(), GST_BUFFER_PTS(job.buffer));
  if (light.is_blind()) attach_warning(job.buffer, state_.element(), "light-changed", kType);
  if (light.lasts_too_long())
    state_.warn_once(
        "light",
        "More than max-motion of the picture moves for longer than blind-time: the camera moves, or "
        "something large stands before it. What moves is told nevertheless");
  return knows_what_moves() ? attach_motion(job, found_.items_on_host(), region_count()) : Status();
}

void BgsubOperation::describe(GstStructure *message) {
  gst_structure_set(message, "moving", G_TYPE_DOUBLE, share(), "global-change", G_TYPE_BOOLEAN,
                    static_cast<gboolean>(model_->light.is_blind()), "regions", G_TYPE_INT, region_count(),
                    "found", G_TYPE_INT, found_.count_on_host().found, nullptr);
}

}  // namespace cudavision
