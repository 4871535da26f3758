// SPDX-License-Identifier: LGPL-2.1-or-later
// Appends texts to lists of primitives.
#include "cuda/draw/text.h"

namespace cudavision {

void append_text(std::vector<Primitive> *primitives, std::string_view text, int x, int y,
                 const TextStyle &style) {
  if (text.empty()) return;
  const int margin = style.scale;
  primitives->push_back(make_primitive(Primitive::Kind::filled_rectangle, 1, style.background, x - margin,
                                       y - margin, x + text_width(text, style.scale) - 1 + margin,
                                       y + kTextHeight * style.scale - 1 + margin));
  for (const char character : text) {
    if (character != ' ')
      primitives->push_back(
          make_primitive(Primitive::Kind::character, style.scale, style.color, x, y, character, 0));
    x += kTextAdvance * style.scale;
  }
}

}  // namespace cudavision
