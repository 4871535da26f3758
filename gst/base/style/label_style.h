// SPDX-License-Identifier: LGPL-2.1-or-later
// How the labels of boxes look: they can be read on any picture and grow with the frame.
#pragma once

#include <gst/video/video.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/draw/label.h"
#include "gst/base/frame/format.h"

namespace cudavision {

// Pixels for each pixel of the font: 1 at 320x240, 2 at 1280x720, 4 at 1920x1080, 7 at 3840x2160.
constexpr int automatic_text_scale(Size frame) {
  return std::max(1, (std::min(frame.width, frame.height) + 150) / 300);
}

// The scale of letters that are `height` pixels high; 0: the automatic scale.
constexpr int text_scale_for(int height, Size frame) {
  return height == 0 ? automatic_text_scale(frame) : std::max(1, height / kTextHeight);
}
constexpr int kMostTextSize = 64 * kTextHeight;

// Black or white, whichever stands out from the colour 0xAARRGGBB.
constexpr guint32 contrast_to(guint32 argb) {
  const guint32 luma = (299 * (argb >> 16 & 255) + 587 * (argb >> 8 & 255) + 114 * (argb & 255)) / 1000;
  return luma > 140 ? 0xff000000 : 0xffffffff;
}

// The style of labels of boxes with outlines of this colour and width in pixels. within: where labels should be placed.
inline LabelStyle label_style(guint32 argb, int line_width, Size frame, Region within,
                              const GstVideoInfo &info) {
  return {.text = {.scale = automatic_text_scale(frame),
                   .color = color_of(contrast_to(argb), info),
                   .background = color_of(argb, info)},
          .line_width = line_width,
          .within = within};
}

// The beginning of a text, as long as a label can be, in the characters of the font (ASCII). In every locale, letters
// outside ASCII become similar ones (ö o, ß ss), and all other characters become question marks.
inline std::string drawable(const char *text) {
  constexpr std::size_t kMostBytes = 4 * LabelText::kMost;  // of kMost characters in UTF-8
  g_autofree char *valid = g_utf8_make_valid(text, static_cast<gssize>(strnlen(text, kMostBytes)));
  g_autofree char *ascii = g_str_to_ascii(valid, "C");
  return std::string(ascii, strnlen(ascii, LabelText::kMost));
}

}  // namespace cudavision
