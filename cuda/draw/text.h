// SPDX-License-Identifier: LGPL-2.1-or-later
// Appends short texts to lists of primitives (canvas.h).
#pragma once

#include <string_view>
#include <vector>

#include "cuda/draw/canvas.h"
#include "cuda/draw/font_rules.h"

namespace cudavision {

// The height of a text, and the distance from one character to the next, in pixels at scale 1.
constexpr int kTextHeight = draw::kFontHeight, kTextAdvance = draw::kFontWidth + 1;

constexpr int text_width(std::string_view text, int scale) {
  return text.empty() ? 0 : (static_cast<int>(text.size()) * kTextAdvance - 1) * scale;
}

struct TextStyle {
  int scale = 1;  // pixels for each pixel of the font, 1 to 255
  Color color, background;
};

// Appends the text with its top left corner at (x, y) pixels, on a rectangle of the background colour that is one pixel
// of the font larger on each side. Characters that the font lacks are blank.
void append_text(std::vector<Primitive> *primitives, std::string_view text, int x, int y,
                 const TextStyle &style);

}  // namespace cudavision
