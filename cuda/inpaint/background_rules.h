// SPDX-License-Identifier: LGPL-2.1-or-later
// The background model of a still camera and its adaptation to changes of light, shared by both backends.
//
// A pixel that is not in the hole is learned as background. A pixel in the hole is restored from the
// background that an earlier frame has shown, adapted to the light of this frame. The change of light is
// estimated from the pixels outside of the hole whose background is known. For each component it is a line
// over the brightness, so that it follows a factor as well as an offset. Brightness is the mean of the old
// and the new value throughout: noise affects both alike, so that sorting by it introduces no bias.
//
// The estimate is robust to moving objects outside of the hole, as long as they cover less than half of it.
// In each of kBrightnessBins bins of brightness, the change is the mean of the changes within kTrim of their
// median. The line through the bins is a Theil-Sen estimate: its slope is the median of the slopes between
// all pairs of bins, weighted by their numbers of pixels, and limited to 1 either way, which is light three
// times or a third as strong.
#pragma once

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr int kBrightnessBins = 8, kBrightnessBinWidth = 256 / kBrightnessBins;
// The brightness bins of all components.
constexpr int kLightBins = 3 * kBrightnessBins;
// A change of a component is clipped to [-128, 127] and counted at index change + kNoChange.
constexpr int kChanges = 256, kNoChange = 128;
constexpr int kChangeCounters = kLightBins * kChanges;
constexpr int kTrim = 8;
// Brightness bins with fewer pixels are ignored.
constexpr int kMinSamples = 64;

// The counters of a frame, for each component and brightness bin.
struct LightCounts {
  // kChanges counters for each bin.
  std::uint32_t changes[kChangeCounters];
  // The sum of brightness over the pixels of each bin.
  unsigned long long brightness[kLightBins];
};

// Arrays of height x width elements in row-major order: the components in 1/256, and the number of the frame
// in which the pixel was last seen, or 0 if its background is unknown.
struct Background {
  std::uint16_t *component[3] = {};
  std::uint32_t *seen = nullptr;
};

// The frames whose background counts.
struct HistoryWindow {
  // The number of this frame, counted from 1.
  std::uint32_t frame = 1;
  // InpaintParams::history.
  int history = 0;

  // True if a pixel that was last seen in this frame number is still remembered.
  CUDAVISION_HOST_DEVICE bool remembers(std::uint32_t seen) const {
    return seen != 0 && (history == 0 || frame - seen <= static_cast<std::uint32_t>(history));
  }
};

// Rounds a component in 1/256 to a byte.
CUDAVISION_HOST_DEVICE constexpr int round_to_byte(int value) { return (value + 128) >> 8; }

// The index of a brightness bin in LightCounts.
CUDAVISION_HOST_DEVICE constexpr int light_bin(int component, int before, int now) {
  return component * kBrightnessBins + (before + now) / 2 / kBrightnessBinWidth;
}
// The index of a change among the counters of its brightness bin.
CUDAVISION_HOST_DEVICE constexpr int change_index(int before, int now) {
  const int change = now - before;
  return (change < -128 ? -128 : change > 127 ? 127 : change) + kNoChange;
}

// floor(n / d + 1/2). d must be positive.
CUDAVISION_HOST_DEVICE constexpr long long divide_to_nearest(long long n, long long d) {
  const long long twice = 2 * n + d;
  return twice >= 0 ? twice / (2 * d) : -((-twice + 2 * d - 1) / (2 * d));
}

// The change of light in one brightness bin.
struct BinChange {
  // The number of pixels, or 0 if there are fewer than kMinSamples.
  long long count;
  // The mean brightness of the pixels, in 1/256.
  int brightness;
  // In 1/256.
  int change;
};

// changes: the kChanges counters of the bin. brightness: the sum over its pixels.
CUDAVISION_HOST_DEVICE inline BinChange bin_change(const std::uint32_t *changes,
                                                   unsigned long long brightness) {
  std::uint32_t total = 0;
  for (int i = 0; i < kChanges; ++i) total += changes[i];
  if (total < kMinSamples) return {0, 0, 0};
  int median = 0;
  for (std::uint32_t sum = changes[0]; 2ll * sum < total; sum += changes[median]) ++median;
  long long sum = 0, count = 0;
  for (int i = median - kTrim < 0 ? 0 : median - kTrim; i <= median + kTrim && i < kChanges; ++i) {
    sum += static_cast<long long>(changes[i]) * (i - median);
    count += changes[i];
  }
  return {total, static_cast<int>(divide_to_nearest(static_cast<long long>(brightness) * 256, total)),
          static_cast<int>(divide_to_nearest(sum * 256, count)) + 256 * (median - kNoChange)};
}

constexpr int kMaxSlope = 1 << 16;

// The change of a component at brightness b is base + slope * b / 2^16; change and b are in 1/256, and slope
// is between -kMaxSlope and kMaxSlope.
struct LightLine {
  int base = 0, slope = 0;

  CUDAVISION_HOST_DEVICE int at(int brightness) const {
    return base + static_cast<int>((static_cast<long long>(slope) * brightness + (1 << 15)) >> 16);
  }
};
// The change of light of each component.
struct LightChange {
  LightLine line[3];
};

// The weighted median: the smallest value(i) such that the items with values up to it have at least half of
// the total weight(i).
template <typename Value, typename Weight>
CUDAVISION_HOST_DEVICE int weighted_median(int count, const Value &value, const Weight &weight) {
  long long total = 0;
  for (int i = 0; i < count; ++i) total += weight(i);
  int median = 0;
  bool found = false;
  for (int i = 0; i < count; ++i) {
    if (weight(i) == 0 || (found && value(i) >= median)) continue;
    long long below = 0;
    for (int k = 0; k < count; ++k)
      if (value(k) <= value(i)) below += weight(k);
    if (2 * below >= total) median = value(i), found = true;
  }
  return median;
}

// The Theil-Sen line through the kBrightnessBins bins of one component.
CUDAVISION_HOST_DEVICE inline LightLine line_through(const BinChange *bins) {
  LightLine line;
  // The weight of a bin is its share of all pixels in 2^-12, rounded up, so that products of weights do not
  // overflow.
  long long total = 1;
  for (int i = 0; i < kBrightnessBins; ++i) total += bins[i].count;
  const auto weight = [&](int i) { return (bins[i].count * 4096 + total - 1) / total; };
  line.slope = weighted_median(
      kBrightnessBins * kBrightnessBins,
      [&](int pair) {
        const BinChange &a = bins[pair / kBrightnessBins], &b = bins[pair % kBrightnessBins];
        const int distance = b.brightness - a.brightness;
        return distance <= 0 ? 0
                             : static_cast<int>(divide_to_nearest((b.change - a.change) * 65536ll, distance));
      },
      [&](int pair) {
        const int a = pair / kBrightnessBins, b = pair % kBrightnessBins;
        return a < b ? weight(a) * weight(b) : 0;
      });
  line.slope = line.slope < -kMaxSlope ? -kMaxSlope : line.slope > kMaxSlope ? kMaxSlope : line.slope;
  line.base = weighted_median(
      kBrightnessBins, [&](int i) { return bins[i].change - (line.at(bins[i].brightness) - line.base); },
      weight);
  return line;
}

// Adapts a background value to the light of this frame, both in 1/256. The line gives the change d as a
// function of the mean of the old and the new value: d = base + slope (value + d / 2) / 2^16, which is solved
// for d.
CUDAVISION_HOST_DEVICE inline int in_this_light(const LightLine &line, int value) {
  const long long at_value = line.base * 65536ll + static_cast<long long>(line.slope) * value;
  const int now = value + static_cast<int>(divide_to_nearest(2 * at_value, 2 * 65536ll - line.slope));
  return now < 0 ? 0 : now > 255 * 256 ? 255 * 256 : now;
}

// Updates the background of pixel i with this frame. A pixel that is not removed is learned. A removed pixel
// whose background is remembered gets it adapted to this frame's light; then *word becomes that background
// and the function returns true.
CUDAVISION_HOST_DEVICE inline bool follow_background(const Background &background, std::ptrdiff_t i,
                                                     const LightChange &light, HistoryWindow window,
                                                     bool removed, ColorModel model, std::uint32_t *word) {
  if (!removed) {
    for (int c = 0; c < 3; ++c)
      background.component[c][i] = static_cast<std::uint16_t>(byte_of(*word, c) << 8);
    background.seen[i] = window.frame;
    return false;
  }
  if (!window.remembers(background.seen[i])) {
    // Forgotten for good, even if the parameter `history` is raised later.
    background.seen[i] = 0;
    return false;
  }
  int value[3];
  for (int c = 0; c < 3; ++c) {
    const int now = in_this_light(light.line[c], background.component[c][i]);
    background.component[c][i] = static_cast<std::uint16_t>(now);
    value[c] = round_to_byte(now);
  }
  *word = pack(value[0], value[1], value[2],
               model == ColorModel::rgb ? luma_of_rgb(value[0], value[1], value[2]) : value[0]);
  return true;
}

}  // namespace cudavision::inpaint
