// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour palettes in the components of a video format.
#pragma once

#include <gst/video/video.h>

#include "cuda/draw/color_map.h"

namespace cudavision {

// `count` hues around the colour circle, from red over yellow, green, cyan, blue and magenta. Colour i is the
// middle of the i-th part of the circle. The dark end is black.
ColorMap hue_palette(int count, const GstVideoInfo &info);
// The colour of a track, opaque: neighbouring ids have distant hues.
guint32 color_of_track(guint64 id);
// From black over red and yellow to white.
ColorMap heat_palette(const GstVideoInfo &info);

}  // namespace cudavision
