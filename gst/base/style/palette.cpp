// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour palettes in the components of a video format.
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

ColorMap hue_palette(int count, const GstVideoInfo &info) {
  ColorMap map;
  map.count = count;
  map.dark = color_of(0xff000000, info);
  for (int i = 0; i < count; ++i) {
    map.colors[i] = color_of(hue(6 * (i + 0.5) / count), info);
  }
  return map;
}

ColorMap heat_palette(const GstVideoInfo &info) {
  constexpr int kCount = 256;
  ColorMap map;
  map.count = kCount;
  map.dark = color_of(0xff000000, info);
  for (int i = 0; i < kCount; ++i) {
    const double heat = 3.0 * i / (kCount - 1);
    map.colors[i] = color_of(opaque(heat, heat - 1, heat - 2), info);
  }
  return map;
}

}  // namespace cudavision
