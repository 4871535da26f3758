// SPDX-License-Identifier: LGPL-2.1-or-later
// Background subtraction: validation, the rules of each frame, the memory of the model, and choice of a backend.
#include "cuda/bgsub/bgsub.h"

#include <algorithm>

#include "cuda/bgsub/bgsub_backends.h"
#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/backends.h"
#include "cuda/common/check_range.h"

namespace cudavision {

Status validate(const BgsubParams &p) {
  CUDAVISION_TRY(check_range("history", p.history, BgsubRanges::history));
  CUDAVISION_TRY(check_range("learning-rate", p.learning_rate, BgsubRanges::learning_rate));
  CUDAVISION_TRY(check_range("var-threshold", p.var_threshold, BgsubRanges::var_threshold));
  CUDAVISION_TRY(check_range("var-threshold-gen", p.var_threshold_gen, BgsubRanges::var_threshold_gen));
  CUDAVISION_TRY(check_range("background-ratio", p.background_ratio, BgsubRanges::background_ratio));
  CUDAVISION_TRY(check_range("var-init", p.var_init, BgsubRanges::variance));
  CUDAVISION_TRY(check_range("var-min", p.var_min, BgsubRanges::variance));
  CUDAVISION_TRY(check_range("var-max", p.var_max, BgsubRanges::variance));
  CUDAVISION_TRY(
      check_range("complexity-reduction", p.complexity_reduction, BgsubRanges::complexity_reduction));
  CUDAVISION_TRY(check_range("shadow-value", p.shadow_value, BgsubRanges::shadow_value));
  return check_range("shadow-threshold", p.shadow_threshold, BgsubRanges::shadow_threshold);
}

double bgsub_rate(const BgsubParams &params, std::int64_t frames) {
  if (params.learning_rate >= 0 && frames > 0) return params.learning_rate;
  return 1.0 / static_cast<double>(std::min<std::int64_t>(2 * (frames + 1), params.history));
}

BgsubPicture bgsub_picture(ImageView<const std::uint8_t> luma) {
  return {.data = luma.data, .pitch_bytes = luma.pitch_bytes, .width = luma.width, .height = luma.height};
}

BgsubPixels<std::uint8_t> bgsub_picture(const Frame &frame, Region region) {
  const auto pixel = [&](int c) { return &frame.component[c].at(region.x, region.y); };
  return {.data = std::min({pixel(0), pixel(1), pixel(2)}),
          .pitch_bytes = frame.component[0].pitch_bytes,
          .step_bytes = frame.component[0].step_bytes,
          .channels = 3,
          .width = region.width,
          .height = region.height};
}

namespace bgsub {
namespace {

// Converts the parameters to float as OpenCV does. rate: the learning rate of this frame.
Rules rules_of(const BgsubParams &p, double rate, bool is_first) {
  const auto var_min = static_cast<float>(p.var_min), var_max = static_cast<float>(p.var_max);
  return {.rate = static_cast<float>(rate),
          .kept_part = 1.0f - static_cast<float>(rate),
          .pruning = static_cast<float>(-rate * static_cast<float>(p.complexity_reduction)),
          .background_distance = static_cast<float>(p.var_threshold),
          .learning_distance = static_cast<float>(p.var_threshold_gen),
          .background_ratio = static_cast<float>(p.background_ratio),
          .var_init = static_cast<float>(p.var_init),
          .var_min = std::min(var_min, var_max),
          .var_max = std::max(var_min, var_max),
          .shadow_threshold = static_cast<float>(p.shadow_threshold),
          .shadow_value = static_cast<std::uint8_t>(p.shadow_value),
          .detect_shadows = p.detect_shadows,
          .is_first = is_first};
}

}  // namespace

Status Subtractor::allocate() {
  CUDAVISION_TRY(modes_.allocate(execution_, shape().mode_count() * sizeof(float)));
  return counts_.allocate(execution_, shape().pixel_count());
}

Status Subtractor::fetch(BgsubState *state) const {
  state->frames = frames_;
  state->counts.resize(shape().pixel_count()), state->modes.resize(shape().mode_count());
  CUDAVISION_TRY(copy_to_host(execution_, state->counts.data(), counts_.data(), counts_.size()));
  return copy_to_host(execution_, state->modes.data(), modes_.data(), modes_.size());
}

Status Subtractor::resume(const BgsubState &state) {
  bool fits = state.frames > 0 && state.counts.size() == shape().pixel_count() &&
              state.modes.size() == shape().mode_count();
  for (int y = 0; fits && y < size_.height; ++y)
    for (int x = 0; x < size_.width; ++x) fits &= state.counts[shape().count_at(x, y)] <= mixtures_;
  if (!fits) return invalid_argument("the state is not that of such a model");
  CUDAVISION_TRY(copy_from_host(execution_, counts_.data(), state.counts.data(), counts_.size()));
  CUDAVISION_TRY(copy_from_host(execution_, modes_.data(), state.modes.data(), modes_.size()));
  frames_ = state.frames;
  return {};
}

Model Subtractor::model() const {
  return {.modes = static_cast<float *>(modes_.data()),
          .counts = static_cast<std::uint8_t *>(counts_.data()),
          .pitch = static_cast<int>(shape().pitch()),
          .channels = channels_,
          .mixtures = mixtures_};
}

Status Subtractor::check(const BgsubParams &params, const BgsubPicture &picture) const {
  CUDAVISION_TRY(validate(params));
  CUDAVISION_TRY(check_size("the picture", picture.size(), size_));
  if (picture.channels == channels_) return {};
  return invalid_argument("the picture has " + std::to_string(picture.channels) + " channels instead of " +
                          std::to_string(channels_));
}

Status Subtractor::begin_frame(const BgsubPicture &picture, ImageView<const std::uint8_t> kept,
                               const BgsubParams &params, Size mask, Rules *rules) {
  CUDAVISION_TRY(check(params, picture));
  CUDAVISION_TRY(check_size("the mask", mask, size_));
  if (kept.data != nullptr) CUDAVISION_TRY(check_size("the picture of what is kept", kept.size(), size_));
  if (params.learning_rate >= 1) restart();
  *rules = rules_of(params, bgsub_rate(params, frames_), is_empty());
  return {};
}

Status Subtractor::end_frame(const Status &learnt) {
  if (learnt.ok()) ++frames_;
  return learnt;
}

}  // namespace bgsub

Status make_bgsub(const Execution &execution, Size size, int channels, int mixtures,
                  std::unique_ptr<BackgroundSubtractor> *subtractor) {
  CUDAVISION_TRY(check_range("mixtures", mixtures, BgsubRanges::mixtures));
  if (channels != 1 && channels != 3)
    return invalid_argument("a picture of " + std::to_string(channels) +
                            " channels: only 1 and 3 are possible");
  CUDAVISION_TRY(check_sides(size));
  return run_on_backend(execution, CUDAVISION_BACKENDS(bgsub::make_bgsub), size, channels, mixtures,
                        subtractor);
}

namespace {

constexpr int kMostScale = 16;

Status check(const BgsubPicture &picture, int scale, const BgsubPicture &reduced) {
  CUDAVISION_TRY(check_range("the scale", scale, 1, kMostScale));
  CUDAVISION_TRY(check_size("the reduced picture", reduced.size(), reduced_size(picture.size(), scale)));
  if (picture.channels == reduced.channels) return {};
  return invalid_argument("one picture has " + std::to_string(picture.channels) +
                          " channels, and the other " + std::to_string(reduced.channels));
}

}  // namespace

Status reduce_picture(const Execution &execution, const BgsubPicture &picture, int scale,
                      const BgsubPixels<std::uint8_t> &reduced, Input input) {
  CUDAVISION_TRY(check(picture, scale, reduced));
  return run_on_backend(execution, CUDAVISION_BACKENDS(bgsub::reduce), picture, scale, reduced, input);
}

Status enlarge_picture(const Execution &execution, const BgsubPicture &reduced, int scale,
                       const BgsubPixels<std::uint8_t> &picture) {
  CUDAVISION_TRY(check(picture, scale, reduced));
  return run_on_backend(execution, CUDAVISION_BACKENDS(bgsub::enlarge), reduced, scale, picture);
}

}  // namespace cudavision
