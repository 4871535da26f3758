// SPDX-License-Identifier: LGPL-2.1-or-later
// What was seen of a still camera's background, and how it follows the light, for both backends.
//
// Where a pixel is not removed, it is the background from now on. Where it is removed, its background of
// earlier frames is brought to this frame's light, by the change of the pixels that are not removed and were
// seen before. For each component the change is a line over the brightness, so that a factor is followed as
// well as an offset. Moving things that are not removed do not count as light, as long as they are the lesser
// part: in each of kLevels stretches of brightness the change is the mean of the changes within kTrim of
// their median, and the line is that of Theil and Sen through the stretches (its slope the median of the
// slopes between two of them, weighted by their pixels; at most 1 either way, for light that is three times
// or a third as much). Brightness is the mean of before and now throughout:
// noise, which both have alike, does not bias what is sorted by it.
#pragma once

#include "cuda/inpaint/inpaint_rules.h"

namespace cudavision::inpaint {

constexpr int kLevels = 8, kLevelWidth = 256 / kLevels;
constexpr int kChanges = 256, kNoChange = 128;  // changes of a component, clipped to [-128, 127]
constexpr int kTrim = 8;
constexpr int kLeastSamples = 64;  // of a stretch that is looked at
constexpr int kLightBins = 3 * kLevels * kChanges;

// What is counted, of each component and stretch.
struct LightCounts {
  std::uint32_t changes[kLightBins];
  unsigned long long brightness[3 * kLevels];  // sums
};

// h x w elements each: the components in 256ths, and the number of the frame in which they were seen; 0:
// never.
struct Background {
  std::uint16_t *component[3] = {};
  std::uint32_t *seen = nullptr;
};

// The number of this frame, from 1 on.
struct Moment {
  std::uint32_t frame = 1;
  int history = 0;

  CUDAVISION_HOST_DEVICE bool remembers(std::uint32_t seen) const {
    return seen != 0 && (history == 0 || frame - seen <= static_cast<std::uint32_t>(history));
  }
};

CUDAVISION_HOST_DEVICE constexpr int to_level(int value) { return (value + 128) >> 8; }

CUDAVISION_HOST_DEVICE constexpr int stretch_of(int component, int before, int now) {
  return component * kLevels + (before + now) / 2 / kLevelWidth;
}
// Its place among the changes of a stretch.
CUDAVISION_HOST_DEVICE constexpr int place_of_change(int before, int now) {
  const int change = now - before;
  return (change < -128 ? -128 : change > 127 ? 127 : change) + kNoChange;
}

CUDAVISION_HOST_DEVICE constexpr long long divide_to_nearest(long long n, long long d) {
  const long long twice = 2 * n + d;  // floor(n / d + 1/2), d > 0
  return twice >= 0 ? twice / (2 * d) : -((-twice + 2 * d - 1) / (2 * d));
}

// The change of a stretch.
struct Stretch {
  long long count;  // pixels; 0: too few
  int brightness;   // their mean, in 256ths
  int change;       // in 256ths
};

// changes: kChanges counters.
CUDAVISION_HOST_DEVICE inline Stretch stretch_from(const std::uint32_t *changes,
                                                   unsigned long long brightness) {
  std::uint32_t total = 0;
  for (int i = 0; i < kChanges; ++i) total += changes[i];
  if (total < kLeastSamples) return {0, 0, 0};
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

// The change at brightness b, both in 256ths: base + slope b / 2^16; slope: -kMaxSlope to kMaxSlope.
struct LightLine {
  int base = 0, slope = 0;

  CUDAVISION_HOST_DEVICE int at(int brightness) const {
    return base + static_cast<int>((static_cast<long long>(slope) * brightness + (1 << 15)) >> 16);
  }
};
struct LightChange {
  LightLine line[3];
};

// The least value that, with those below it, has half of the weight. value(i), weight(i): of item i.
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

// stretches: kLevels of one component.
CUDAVISION_HOST_DEVICE inline LightLine line_through(const Stretch *stretches) {
  LightLine line;
  // Weights in 2^-12 of all pixels: their products are no trouble.
  long long total = 1;
  for (int i = 0; i < kLevels; ++i) total += stretches[i].count;
  const auto weight = [&](int i) { return (stretches[i].count * 4096 + total - 1) / total; };
  line.slope = weighted_median(
      kLevels * kLevels,
      [&](int pair) {
        const Stretch &a = stretches[pair / kLevels], &b = stretches[pair % kLevels];
        const int distance = b.brightness - a.brightness;
        return distance <= 0 ? 0
                             : static_cast<int>(divide_to_nearest((b.change - a.change) * 65536ll, distance));
      },
      [&](int pair) {
        const int a = pair / kLevels, b = pair % kLevels;
        return a < b ? weight(a) * weight(b) : 0;
      });
  line.slope = line.slope < -kMaxSlope ? -kMaxSlope : line.slope > kMaxSlope ? kMaxSlope : line.slope;
  line.base = weighted_median(
      kLevels, [&](int i) { return stretches[i].change - (line.at(stretches[i].brightness) - line.base); },
      weight);
  return line;
}

// A component's background, in 256ths, in the light of this frame. The change d is known over the mean of
// before and now: d = base + slope (value + d / 2) / 2^16, which is solved for d.
CUDAVISION_HOST_DEVICE inline int in_this_light(const LightLine &line, int value) {
  const long long at_value = line.base * 65536ll + static_cast<long long>(line.slope) * value;
  const int now = value + static_cast<int>(divide_to_nearest(2 * at_value, 2 * 65536ll - line.slope));
  return now < 0 ? 0 : now > 255 * 256 ? 255 * 256 : now;
}

// A pixel of this frame: becomes the background, or has its own brought to this light. True when it is
// removed and known: then *word is the background.
CUDAVISION_HOST_DEVICE inline bool follow_background(const Background &background, std::ptrdiff_t i,
                                                     const LightChange &light, Moment moment, bool removed,
                                                     ColorModel model, std::uint32_t *word) {
  if (!removed) {
    for (int c = 0; c < 3; ++c)
      background.component[c][i] = static_cast<std::uint16_t>(byte_of(*word, c) << 8);
    background.seen[i] = moment.frame;
    return false;
  }
  if (!moment.remembers(background.seen[i])) {
    background.seen[i] = 0;  // for good, whatever history may become
    return false;
  }
  int value[3];
  for (int c = 0; c < 3; ++c) {
    const int now = in_this_light(light.line[c], background.component[c][i]);
    background.component[c][i] = static_cast<std::uint16_t>(now);
    value[c] = to_level(now);
  }
  *word = pack(value[0], value[1], value[2],
               model == ColorModel::rgb ? luma_of_rgb(value[0], value[1], value[2]) : value[0]);
  return true;
}

}  // namespace cudavision::inpaint
