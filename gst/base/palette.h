// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes in the components of a video format.
#pragma once

#include <gst/video/video.h>

#include "cuda/draw/color_map.h"

namespace cudavision {

// Hues around the circle, `count` of them, from red over yellow, green, cyan, blue and magenta: colour i is
// the middle of its part of the circle. Dark is black.
ColorMap hue_palette(int count, const GstVideoInfo &info);
// From black over red and yellow to white.
ColorMap heat_palette(const GstVideoInfo &info);

}  // namespace cudavision
