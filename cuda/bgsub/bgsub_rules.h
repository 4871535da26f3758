// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by both backends: the rules of a frame, the memory of the model, and the mean of the background.
#pragma once

#include <cmath>

#include "cuda/bgsub/bgsub.h"
#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/host_device.h"

namespace cudavision::bgsub {

// The parameters of a frame, converted to the form in which each pixel uses them.
struct Rules {
  // A weight becomes kept_part * weight + pruning, plus rate for the mode that learns the pixel.
  float rate, kept_part;
  float pruning;                                 // -rate * complexity_reduction
  float background_distance, learning_distance;  // in variances
  float background_ratio;
  float var_init, var_min, var_max;
  float shadow_threshold;
  std::uint8_t shadow_value;
  bool detect_shadows;
  bool is_first;  // the model is empty, whatever its memory holds
};

// A total weight up to this one counts as 0: FLT_EPSILON.
constexpr float kNoWeight = 0x1p-23f;

// The model in the backend's memory. Each row has `mixtures` modes of the fields weight, variance and mean of each
// channel; a field is `pitch` floats, one for each pixel. Thus modes that no pixel of a row has cost no memory traffic.
struct Model {
  static constexpr int kWeight = 0, kVariance = 1, kMean = 2;

  float *modes;
  std::uint8_t *counts;  // the number of modes of each pixel, `pitch` bytes per row
  int pitch, channels, mixtures;

  CUDAVISION_HOST_DEVICE int fields() const { return kMean + channels; }
  CUDAVISION_HOST_DEVICE float *row(int y) const {
    return modes + static_cast<std::ptrdiff_t>(y) * mixtures * fields() * pitch;
  }
  CUDAVISION_HOST_DEVICE std::uint8_t *counts_of(int y) const {
    return counts + static_cast<std::ptrdiff_t>(y) * pitch;
  }
};

// Rounds to the nearest byte, and halves to even. The sum rounds to a whole number, because floats between 2^23 and
// 2^24 have no fraction.
CUDAVISION_HOST_DEVICE inline std::uint8_t nearest_byte(float value) {
  if (!(value > 0)) return 0;
  return value >= 255 ? 255 : static_cast<std::uint8_t>((value + 0x1p23f) - 0x1p23f);
}

// Writes the background of a pixel (BackgroundSubtractor::background()). modes: the pixel's weight in its first mode.
CUDAVISION_HOST_DEVICE inline void write_background(const Model &model, const float *modes, int count,
                                                    float background_ratio, std::uint8_t *background) {
  float sum[3] = {}, total = 0;
  for (int mode = 0; mode < count; ++mode, modes += model.fields() * model.pitch) {
    const float weight = modes[Model::kWeight * model.pitch];
    for (int c = 0; c < model.channels; ++c) sum[c] += weight * modes[(Model::kMean + c) * model.pitch];
    total += weight;
    if (total > background_ratio) break;
  }
  const float scale = std::abs(total) > kNoWeight ? 1 / total : 0.0f;
  for (int c = 0; c < model.channels; ++c) background[c] = nearest_byte(sum[c] * scale);
}

// The mean of channel c over the square of the reduced pixel (x, y).
CUDAVISION_HOST_DEVICE inline std::uint8_t mean_of_square(const BgsubPicture &picture, int scale, int x,
                                                          int y, int c) {
  int sum = 0, count = 0;
  for (int py = y * scale; py < (y + 1) * scale && py < picture.height; ++py)
    for (int px = x * scale; px < (x + 1) * scale && px < picture.width; ++px) {
      sum += picture.data[py * picture.pitch_bytes + px * picture.step_bytes + c];
      ++count;
    }
  return static_cast<std::uint8_t>((sum + count / 2) / count);
}

}  // namespace cudavision::bgsub
