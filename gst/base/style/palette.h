// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour palettes in the components of a video format.
#pragma once

#include <gst/video/video.h>

#include "cuda/draw/color_map.h"

namespace cudavision {

// A palette that is kept from frame to frame.
class Palette {
 public:
  // `count` hues around the colour circle, from red over yellow, green, cyan, blue and magenta. Colour i is the middle
  // of the i-th part of the circle. The dark end is black.
  const ColorMap &hues(int count, const GstVideoInfo &info);
  // From black over red and yellow to white.
  const ColorMap &heat(const GstVideoInfo &info);

 private:
  bool is_kept(int hues, const GstVideoInfo &info);

  ColorMap map_;
  int hues_ = -1;        // 0: heat
  GstVideoInfo info_{};  // of the format that map_ was made for
};

// The colour of a track, opaque: neighbouring ids have distant hues.
guint32 color_of_track(guint64 id);

}  // namespace cudavision
