// SPDX-License-Identifier: LGPL-2.1-or-later
// Short texts as primitives, in a small font of the project's own.
#pragma once

#include <string_view>
#include <vector>

#include "cuda/draw/canvas.h"

namespace cudavision {

// The size of a character of the font in pixels at scale 1, and from one character to the next.
constexpr int kGlyphWidth = 5, kGlyphHeight = 7, kGlyphAdvance = 6;

constexpr int text_width(std::string_view text, int scale) {
  return text.empty() ? 0 : (static_cast<int>(text.size()) * kGlyphAdvance - 1) * scale;
}

struct TextStyle {
  int scale = 1;  // pixels for each pixel of the font
  Color color, background;
};

// Appends the text with its top left corner at (x, y) pixels, on a rectangle of the background colour that is
// one pixel of the font larger on each side. The font has digits, the capital letters B, G, R, U, V and Y,
// the period and the hyphen; other characters are spaces.
void append_text(std::vector<Primitive> *primitives, std::string_view text, int x, int y,
                 const TextStyle &style);

}  // namespace cudavision
