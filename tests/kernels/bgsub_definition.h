// SPDX-License-Identifier: LGPL-2.1-or-later
// The definition of background subtraction, one pixel and one mode at a time, and a wrapper that runs the algorithm.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <memory>
#include <vector>

#include "cuda/bgsub/bgsub.h"
#include "tests/support/backends.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace cudavision::test {

// The pictures of a stream. A row holds `channels` bytes per pixel.
struct Scene {
  int channels = 1;
  Size size;
  std::vector<Picture> pictures;
};

class DefinedBackground {
 public:
  DefinedBackground(Size size, int channels, int mixtures)
      : channels_(channels), mixtures_(mixtures), pixels_(size) {}

  // Learns a picture and returns its mask. kept: as in BackgroundSubtractor::run(), or empty.
  Picture learn(const Picture &picture, const Picture &kept, const BgsubParams &p) {
    if (p.learning_rate >= 1) frames_ = 0;
    if (frames_++ == 0) pixels_ = HostImage<Modes>(pixels_.size());
    const double automatic = 1.0 / std::min(2 * frames_, p.history);
    const double rate = p.learning_rate >= 0 && frames_ > 1 ? p.learning_rate : automatic;
    Picture mask(pixels_.size());
    for (int y = 0; y < mask.height(); ++y)
      for (int x = 0; x < mask.width(); ++x) {
        const bool is_kept = kept.width() != 0 && kept.at(x, y) != 0;
        mask.at(x, y) = value_of(picture.row(y) + x * channels_, is_kept, rate, p, &pixels_.at(x, y));
      }
    return mask;
  }

  Picture background(const BgsubParams &p) const {
    Picture background({pixels_.width() * channels_, pixels_.height()});
    for (int y = 0; y < pixels_.height(); ++y)
      for (int x = 0; x < pixels_.width(); ++x)
        for (int c = 0; c < channels_; ++c) {
          float sum = 0, weight = 0;
          for (const Mode &mode : pixels_.at(x, y)) {
            sum += mode.weight * mode.mean[static_cast<std::size_t>(c)];
            weight += mode.weight;
            if (weight > static_cast<float>(p.background_ratio)) break;
          }
          const float mean = weight > FLT_EPSILON ? sum * (1 / weight) : 0;
          background.at(x * channels_ + c, y) = static_cast<std::uint8_t>(std::nearbyint(mean));
        }
    return background;
  }

 private:
  struct Mode {
    float weight, variance;
    std::array<float, 3> mean;
  };
  using Modes = std::vector<Mode>;

  float distance(const Mode &mode, const std::uint8_t *pixel) const {
    float sum = 0;
    for (int c = 0; c < channels_; ++c) {
      const float difference = mode.mean[static_cast<std::size_t>(c)] - static_cast<float>(pixel[c]);
      sum += difference * difference;
    }
    return sum;
  }

  bool is_background(const Modes &modes, const std::uint8_t *pixel, const BgsubParams &p, float kept_part,
                     float pruning) const {
    float total = 0;
    std::size_t count = modes.size();
    for (std::size_t i = 0; i < count; ++i) {
      const float d = distance(modes[i], pixel);
      if (total < static_cast<float>(p.background_ratio) &&
          d < static_cast<float>(p.var_threshold) * modes[i].variance)
        return true;
      if (d < static_cast<float>(p.var_threshold_gen) * modes[i].variance) return false;
      const float weight = kept_part * modes[i].weight + pruning;
      if (weight < -pruning)
        --count;  // learn_pixel() removes the last mode
      else
        total += weight;
    }
    return false;
  }

  bool is_shadow(const Modes &modes, const std::uint8_t *pixel, const BgsubParams &p) const {
    float total = 0;
    for (const Mode &mode : modes) {
      float product = 0, square = 0, distance = 0;
      for (int c = 0; c < channels_; ++c) {
        const float mean = mode.mean[static_cast<std::size_t>(c)];
        product += static_cast<float>(pixel[c]) * mean;
        square += mean * mean;
      }
      if (square == 0) return false;
      const float dimming = product / square;
      for (int c = 0; c < channels_; ++c) {
        const float difference =
            dimming * mode.mean[static_cast<std::size_t>(c)] - static_cast<float>(pixel[c]);
        distance += difference * difference;
      }
      if (product <= square && product >= static_cast<float>(p.shadow_threshold) * square &&
          distance < static_cast<float>(p.var_threshold) * mode.variance * dimming * dimming)
        return true;
      total += mode.weight;
      if (total > static_cast<float>(p.background_ratio)) return false;
    }
    return false;
  }

  // Moves mode i forward past all modes whose weight is at most `weight`.
  static void move_up(Modes *modes, std::size_t i, float weight) {
    for (; i > 0 && weight >= (*modes)[i - 1].weight; --i) std::swap((*modes)[i], (*modes)[i - 1]);
  }

  void learn_pixel(Modes *modes, const std::uint8_t *pixel, float rate, float pruning,
                   const BgsubParams &p) const {
    const auto low = static_cast<float>(std::min(p.var_min, p.var_max)),
               high = static_cast<float>(std::max(p.var_min, p.var_max));
    const float kept_part = 1 - rate;
    bool known = false;
    float total = 0;
    for (std::size_t i = 0; i < modes->size(); ++i) {
      Mode mode = (*modes)[i];
      mode.weight = kept_part * mode.weight + pruning;
      std::size_t place = i;
      const float d = distance(mode, pixel);
      if (!known && d < static_cast<float>(p.var_threshold_gen) * mode.variance) {
        known = true;
        mode.weight += rate;
        const float step = rate / mode.weight;
        for (int c = 0; c < channels_; ++c) {
          float &mean = mode.mean[static_cast<std::size_t>(c)];
          mean -= step * (mean - static_cast<float>(pixel[c]));
        }
        mode.variance = std::clamp(mode.variance + step * (d - mode.variance), low, high);
        while (place > 0 && mode.weight >= (*modes)[place - 1].weight) --place;
      }
      const bool pruned = mode.weight < -pruning;
      if (pruned) mode.weight = 0;
      total += mode.weight;
      modes->erase(modes->begin() + static_cast<std::ptrdiff_t>(i));
      modes->insert(modes->begin() + static_cast<std::ptrdiff_t>(place), mode);
      if (pruned) modes->pop_back();  // removes the last mode: this one, if the modes are sorted by weight
    }
    for (Mode &mode : *modes) mode.weight *= std::abs(total) > FLT_EPSILON ? 1 / total : 0;
    if (known || rate <= 0) return;
    if (static_cast<int>(modes->size()) == mixtures_) modes->pop_back();
    for (Mode &mode : *modes) mode.weight *= kept_part;
    Mode added{modes->empty() ? 1 : rate, static_cast<float>(p.var_init), {}};
    for (int c = 0; c < channels_; ++c) added.mean[static_cast<std::size_t>(c)] = pixel[c];
    modes->push_back(added);
    move_up(modes, modes->size() - 1, rate);
  }

  std::uint8_t value_of(const std::uint8_t *pixel, bool is_kept, double rate, const BgsubParams &p,
                        Modes *modes) const {
    const float rounded = static_cast<float>(rate);
    const float pruning = static_cast<float>(-rate * static_cast<float>(p.complexity_reduction));
    bool background = false;
    if (is_kept) {
      background = modes->empty() || is_background(*modes, pixel, p, 1, 0);
    } else {
      background = is_background(*modes, pixel, p, 1 - rounded, pruning);
      learn_pixel(modes, pixel, rounded, pruning, p);
    }
    if (background) return 0;
    return p.detect_shadows && is_shadow(*modes, pixel, p) ? static_cast<std::uint8_t>(p.shadow_value)
                                                           : kForeground;
  }

  int channels_, mixtures_;
  HostImage<Modes> pixels_;
  int frames_ = 0;
};

// Runs the algorithm on images with guard bytes. step_bytes: bytes per pixel; 0 means as many as channels.
class SubtractorRunner {
 public:
  SubtractorRunner(const Execution &execution, Size size, int channels, int mixtures = 5, int step_bytes = 0,
                   const Placement &placement = kOddPitch)
      : channels_(channels),
        step_(step_bytes != 0 ? step_bytes : channels),
        size_(size),
        picture_(execution, {(size.width - 1) * step_ + channels, size.height}, placement),
        kept_(execution, size, placement),
        mask_(execution, size, placement),
        background_(execution, picture_.view().size(), placement) {
    EXPECT_TRUE(succeeds(make_bgsub(execution, size, channels, mixtures, &subtractor_)));
  }

  Picture mask(const Picture &picture, const BgsubParams &params = {}, const Picture &kept = {}) {
    upload(picture);
    ImageView<const std::uint8_t> where{};
    if (kept.width() != 0) kept_.upload(kept), where = kept_.view();
    EXPECT_TRUE(succeeds(subtractor_->run(view(), where, params, mask_.view())));
    (void)picture_.download();  // checks its guard bytes
    return mask_.download();
  }
  Picture background(const BgsubParams &params = {}) {
    EXPECT_TRUE(succeeds(subtractor_->background(params, pixels(background_))));
    const Picture spread = background_.download();
    Picture background({size_.width * channels_, size_.height});
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x)
        for (int c = 0; c < channels_; ++c) background.at(x * channels_ + c, y) = spread.at(x * step_ + c, y);
    return background;
  }
  BackgroundSubtractor &subtractor() { return *subtractor_; }
  BgsubPixels<std::uint8_t> view() const { return pixels(picture_); }
  ImageView<std::uint8_t> mask_view() const { return mask_.view(); }
  ImageView<std::uint8_t> kept_view() const { return kept_.view(); }

 private:
  BgsubPixels<std::uint8_t> pixels(const TestImage<std::uint8_t> &image) const {
    const ImageView<std::uint8_t> bytes = image.view();
    return {bytes.data, bytes.pitch_bytes, step_, channels_, size_.width, size_.height};
  }
  void upload(const Picture &picture) {
    Picture spread(picture_.view().size());
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x)
        for (int c = 0; c < channels_; ++c) spread.at(x * step_ + c, y) = picture.at(x * channels_ + c, y);
    picture_.upload(spread);
  }

  int channels_, step_;
  Size size_;
  TestImage<std::uint8_t> picture_, kept_, mask_, background_;
  std::unique_ptr<BackgroundSubtractor> subtractor_;
};

// A still scene with the noise of a camera, in which a square walks, a lamp flickers, the light changes in steps, and
// the right half lies in shadow at times. The last quarter of the pictures is noise alone.
inline Scene busy_scene(Size size, int channels, int frames, unsigned seed) {
  Scene scene{channels, size, {}};
  const Size bytes{size.width * channels, size.height};
  const Picture still = smooth_noise(bytes, 3, seed);
  Random random(seed + 1);
  for (int i = 0; i < frames; ++i) {
    Picture picture = still;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const bool square = std::abs(x - 3 * i % size.width) < 4 && std::abs(y - size.height / 2) < 4;
        const bool lamp = x < size.width / 5 && y < size.height / 3 && i % 3 == 0;
        const bool shadow = x > size.width / 2 && i % 11 > 6;
        const int light = i / 9 % 2 * 25;
        for (int c = 0; c < channels; ++c) {
          std::uint8_t &value = picture.at(x * channels + c, y);
          int v = value + light + random.below(7) - 3;
          if (shadow) v = v * 7 / 10;
          if (square) v = 255 - v;
          if (lamp) v += 90;
          value = static_cast<std::uint8_t>(std::clamp(v, 0, 255));
        }
      }
    scene.pictures.push_back(4 * i < 3 * frames ? std::move(picture)
                                                : noise(bytes, seed + 2 + static_cast<unsigned>(i)));
  }
  return scene;
}

}  // namespace cudavision::test
