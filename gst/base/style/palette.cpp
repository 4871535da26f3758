// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/style/palette.h"

#include <algorithm>
#include <cmath>

#include "gst/base/frame/format.h"

namespace cudavision {
namespace {

guint32 opaque(double red, double green, double blue) {  // 0 to 1; clamped
  const auto channel = [](double value, int shift) {
    return static_cast<guint32>(std::lround(255 * std::clamp(value, 0.0, 1.0))) << shift;
  };
  return 0xff000000 | channel(red, 16) | channel(green, 8) | channel(blue, 0);
}

// position: on the colour circle, 0 to 6: red at 0, yellow at 1, green at 2, cyan at 3, blue at 4, magenta at 5.
guint32 hue(double position) {
  return opaque(std::fabs(position - 3) - 1, 2 - std::fabs(position - 2), 2 - std::fabs(position - 4));
}

}  // namespace

guint32 color_of_track(guint64 id) {
  constexpr guint64 kHues = 12,
                    kStep = 5;  // coprime to kHues, so that all hues are used before one repeats
  return hue(6.0 * static_cast<double>(id * kStep % kHues) / kHues);
}

const ColorMap &Palette::hues(int count, const GstVideoInfo &info) {
  if (is_kept(count, info)) return map_;
  map_.count = count;
  for (int i = 0; i < count; ++i) map_.colors[i] = color_of(hue(6 * (i + 0.5) / count), info);
  return map_;
}

const ColorMap &Palette::heat(const GstVideoInfo &info) {
  constexpr int kCount = 256;
  if (is_kept(0, info)) return map_;
  map_.count = kCount;
  for (int i = 0; i < kCount; ++i) {
    const double heat = 3.0 * i / (kCount - 1);
    map_.colors[i] = color_of(opaque(heat, heat - 1, heat - 2), info);
  }
  return map_;
}

bool Palette::is_kept(int hues, const GstVideoInfo &info) {
  if (hues == hues_ && info.finfo == info_.finfo &&
      gst_video_colorimetry_is_equal(&info.colorimetry, &info_.colorimetry))
    return true;
  hues_ = hues;
  info_ = info;
  map_.dark = color_of(0xff000000, info);
  return false;
}

}  // namespace cudavision
