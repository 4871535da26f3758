// SPDX-License-Identifier: LGPL-2.1-or-later
// The font, and its rows of pixels as primitives.
#include "cuda/draw/text.h"

#include <algorithm>
#include <iterator>

namespace cudavision {
namespace {

struct Glyph {
  char character;
  unsigned char rows[kGlyphHeight];  // bit 4 is the left pixel
};

constexpr Glyph kFont[] = {
    {'-', {0b00000, 0b00000, 0b00000, 0b01110, 0b00000, 0b00000, 0b00000}},
    {'.', {0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100}},
    {'0', {0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110}},
    {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
    {'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110}},
    {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
    {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
    {'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b00100, 0b01000, 0b01000}},
    {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
    {'B', {0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110}},
    {'G', {0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110}},
    {'R', {0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001}},
    {'U', {0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110}},
    {'V', {0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100}},
    {'Y', {0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100}},
};

Primitive filled(int x, int y, int width, int height, Color color) {
  return make_primitive(Primitive::Kind::filled_rectangle, 1, color, x, y, x + width - 1, y + height - 1);
}

// One rectangle for each run of pixels in a row.
void append_glyph(std::vector<Primitive> *primitives, const Glyph &glyph, int x, int y,
                  const TextStyle &style) {
  const auto is_set = [&](int row, int column) {
    return column < kGlyphWidth && (glyph.rows[row] >> (kGlyphWidth - 1 - column) & 1) != 0;
  };
  for (int row = 0; row < kGlyphHeight; ++row)
    for (int first = 0, end; first < kGlyphWidth; first = end + 1) {
      for (end = first; is_set(row, end); ++end) {
      }
      if (end > first)
        primitives->push_back(filled(x + first * style.scale, y + row * style.scale,
                                     (end - first) * style.scale, style.scale, style.color));
    }
}

}  // namespace

void append_text(std::vector<Primitive> *primitives, std::string_view text, int x, int y,
                 const TextStyle &style) {
  if (text.empty()) return;
  primitives->push_back(filled(x - style.scale, y - style.scale,
                               text_width(text, style.scale) + 2 * style.scale,
                               (kGlyphHeight + 2) * style.scale, style.background));
  for (const char character : text) {
    const auto *glyph = std::find_if(std::begin(kFont), std::end(kFont),
                                     [=](const Glyph &g) { return g.character == character; });
    if (glyph != std::end(kFont)) append_glyph(primitives, *glyph, x, y, style);
    x += kGlyphAdvance * style.scale;
  }
}

}  // namespace cudavision
