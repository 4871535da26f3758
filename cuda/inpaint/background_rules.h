// SPDX-License-Identifier: LGPL-2.1-or-later
// The background model of a still camera and its adaptation to changes of light, shared by both backends.
//
// The background of a pixel is the value that it has shown in most frames in which it was outside of the hole. A value
// that differs from it becomes a candidate, and replaces it once the candidate has been shown in more frames than the
// background; of the background's frames, at most InpaintParams::learn_frames - 1 count. A frame that shows neither of
// the two begins a new candidate. So a moving object is never learned, and an object that has come to rest is learned
// late. A pixel in the hole is restored from its background, adapted to the light of this frame. If more than half of
// the pixels outside of the hole differ from their adapted background, either the light has changed in a way that is
// not modelled, or the camera has moved: the next frame forgets the background of all pixels, and learns it anew.
//
// The change of light is estimated from the pixels outside of the hole whose background is known. For each component,
// it is a linear function of the brightness, so that it describes a factor as well as an offset. Here, the brightness
// of a pixel is the mean of its old value (in the background) and its new value: noise affects both alike, so that
// sorting pixels by this mean introduces no bias.
//
// The estimate is robust to moving objects as long as they cover less than half of the area outside of the hole. In
// each of kBrightnessBins bins of brightness, the change is the mean of the changes within kTrim of their median. The
// line through the bins is a Theil-Sen estimate: its slope is the median of the slopes between all pairs of bins,
// weighted by the product of their pixels, and limited to -1 to 1, which is light a third or three times as strong.
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
// The largest difference of a component between two values of a pixel that count as alike.
constexpr int kAlike = 20;
// The background of a pixel is a running mean of the values that are like it, over at most this many frames.
constexpr int kMeanFrames = 16;

// Counts how a frame differs from the background, for each component and brightness bin.
struct LightCounts {
  // For each bin, kChanges counters: counter change_index(before, now) is the number of pixels in the bin of which the
  // component changed from `before` in the background to `now` in the frame.
  std::uint32_t changes[kChangeCounters];
  // For each bin, the sum of the brightness of its pixels.
  unsigned long long brightness[kLightBins];
};

// Arrays of height x width elements in row-major order. component: the background's colour, in 1/256. seen: the number
// of the frame in which the pixel was last outside of the hole, or 0 if its background is unknown.
struct Background {
  std::uint16_t *component[3] = {};
  std::uint32_t *seen = nullptr;
  // The candidate as a pixel word (inpaint_rules.h).
  std::uint32_t *candidate = nullptr;
  // In how many frames the pixel has shown its background, and its candidate (0: there is no candidate).
  std::uint16_t *shown = nullptr, *candidate_shown = nullptr;
};

// How long the background of a pixel in the hole is remembered.
struct HistoryWindow {
  // The number of this frame, counted from 1.
  std::uint32_t frame = 1;
  // InpaintParams::history and InpaintParams::learn_frames.
  int history = 0, learn_frames = 1;

  // True if the background of a pixel that was last outside of the hole in frame number `seen` is remembered.
  CUDAVISION_HOST_DEVICE bool remembers(std::uint32_t seen) const {
    return seen != 0 && (history == 0 || frame - seen <= static_cast<std::uint32_t>(history));
  }
};

// Rounds a component in 1/256 to a byte.
CUDAVISION_HOST_DEVICE constexpr int round_to_byte(int value) { return (value + 128) >> 8; }

// The index in LightCounts of the bin of a pixel whose component is `before` in the background and `now` in this frame.
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
  // The number of pixels in the bin.
  std::uint32_t pixels;
  // Equals `pixels`, but is 0 if there are fewer than kMinSamples.
  long long count;
  // The mean brightness of the pixels, in 1/256.
  int brightness;
  // The mean of the changes within kTrim of their median, in 1/256.
  int change;
};

// Evaluates a bin. changes: its kChanges counters. brightness: the sum of the brightness of its pixels.
CUDAVISION_HOST_DEVICE inline BinChange bin_change(const std::uint32_t *changes,
                                                   unsigned long long brightness) {
  std::uint32_t total = 0;
  for (int i = 0; i < kChanges; ++i) total += changes[i];
  if (total < kMinSamples) return {total, 0, 0, 0};
  int median = 0;
  for (std::uint32_t sum = changes[0]; 2ll * sum < total; sum += changes[median]) ++median;
  long long sum = 0, count = 0;
  for (int i = median - kTrim < 0 ? 0 : median - kTrim; i <= median + kTrim && i < kChanges; ++i) {
    sum += static_cast<long long>(changes[i]) * (i - median);
    count += changes[i];
  }
  return {total, total, static_cast<int>(divide_to_nearest(static_cast<long long>(brightness) * 256, total)),
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
// How the light of this frame differs from that of the background.
struct LightChange {
  // The change of light of each component.
  LightLine line[3];
  // The number of pixels that were compared with their background.
  std::uint32_t compared;
  // The background of all pixels is to be forgotten, because the last frame did not show it.
  bool forgets;

  // Forgets all backgrounds if more than half of the pixels that the last frame compared differed from theirs
  // (differing: how many), and counts the pixels to compare in this frame. bins: of the first colour component.
  CUDAVISION_HOST_DEVICE void compare(const BinChange *bins, std::uint32_t differing) {
    forgets = differing > compared / 2;
    compared = 0;
    for (int i = 0; i < kBrightnessBins; ++i) compared += bins[i].pixels;
  }
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
  // The weight of a bin is its share of all pixels in 2^-12, rounded up, so that products of weights do not overflow.
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

// Adapts a background value to the light of this frame. Value and result are in 1/256. The line gives the change d as a
// function of the mean of the old and the new value: d = base + slope (value + d / 2) / 2^16, which is solved for d.
CUDAVISION_HOST_DEVICE inline int in_this_light(const LightLine &line, int value) {
  const long long at_value = line.base * 65536ll + static_cast<long long>(line.slope) * value;
  const int now = value + static_cast<int>(divide_to_nearest(2 * at_value, 2 * 65536ll - line.slope));
  return now < 0 ? 0 : now > 255 * 256 ? 255 * 256 : now;
}

// The result of follow_background() for a pixel. `Removed` pixels are those in the hole.
enum class Followed {
  // Not removed, and like its background; or its background was unknown, and this value became the background.
  learned,
  // Not removed, and unlike its background.
  differs,
  // Removed. Its background is unknown.
  unknown,
  // Removed. Its background is known.
  restored,
};

// Updates the background and the candidate of pixel i, which is not removed. now: its background in this frame's light.
CUDAVISION_HOST_DEVICE inline Followed learn(const Background &background, std::ptrdiff_t i,
                                             const int (&now)[3], int learn_frames, std::uint32_t word) {
  const int most = learn_frames - 1, shown = background.shown[i] < most ? background.shown[i] : most;
  bool is_background = true, is_candidate = background.candidate_shown[i] > 0;
  for (int c = 0; c < 3; ++c) {
    const int value = byte_of(word, c), other = byte_of(background.candidate[i], c);
    is_background &= value * 256 - now[c] <= kAlike * 256 && now[c] - value * 256 <= kAlike * 256;
    is_candidate &= value - other <= kAlike && other - value <= kAlike;
  }
  if (is_background) {
    const int count = shown < most ? shown + 1 : most;
    const int frames = count < 1 ? 1 : count > kMeanFrames ? kMeanFrames : count;
    for (int c = 0; c < 3; ++c)
      background.component[c][i] = static_cast<std::uint16_t>(
          now[c] + static_cast<int>(divide_to_nearest(byte_of(word, c) * 256 - now[c], frames)));
    background.shown[i] = static_cast<std::uint16_t>(count);
    return Followed::learned;
  }
  const int candidate_shown = is_candidate ? background.candidate_shown[i] + 1 : 1;
  const bool exchange = candidate_shown > shown;
  for (int c = 0; c < 3; ++c)
    background.component[c][i] = static_cast<std::uint16_t>(exchange ? byte_of(word, c) * 256 : now[c]);
  background.candidate[i] =
      exchange ? pack(round_to_byte(now[0]), round_to_byte(now[1]), round_to_byte(now[2]), 0) : word;
  background.shown[i] = static_cast<std::uint16_t>(!exchange                ? shown
                                                   : candidate_shown < most ? candidate_shown
                                                                            : most);
  background.candidate_shown[i] = static_cast<std::uint16_t>(exchange ? shown : candidate_shown);
  return Followed::differs;
}

// Updates the background of pixel i with this frame. If the pixel is to be removed and its background is known, *word
// becomes this background, in the light of this frame.
CUDAVISION_HOST_DEVICE inline Followed follow_background(const Background &background, std::ptrdiff_t i,
                                                         const LightChange &light, HistoryWindow window,
                                                         bool removed, ColorModel model,
                                                         std::uint32_t *word) {
  const bool known = !light.forgets && window.remembers(background.seen[i]);
  if (!known && removed) {
    // Forgotten for good, even if the parameter `history` is raised later.
    background.seen[i] = 0;
    return Followed::unknown;
  }
  if (!removed) background.seen[i] = window.frame;
  if (!known) {
    for (int c = 0; c < 3; ++c)
      background.component[c][i] = static_cast<std::uint16_t>(byte_of(*word, c) * 256);
    background.shown[i] = window.learn_frames > 1 ? 1 : 0;
    background.candidate[i] = *word, background.candidate_shown[i] = 0;
    return Followed::learned;
  }
  int now[3];
  for (int c = 0; c < 3; ++c) now[c] = in_this_light(light.line[c], background.component[c][i]);
  if (!removed) return learn(background, i, now, window.learn_frames, *word);
  int value[3];
  for (int c = 0; c < 3; ++c) {
    background.component[c][i] = static_cast<std::uint16_t>(now[c]);
    value[c] = round_to_byte(now[c]);
  }
  *word = pack(value[0], value[1], value[2],
               model == ColorModel::rgb ? luma_of_rgb(value[0], value[1], value[2]) : value[0]);
  return Followed::restored;
}

}  // namespace cudavision::inpaint
