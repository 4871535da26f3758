// SPDX-License-Identifier: LGPL-2.1-or-later
// The label of a box, a text and a number, as primitives. Both backends call these functions, so that boxes in the memory
// of a GPU get their labels without a copy to the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cuda/common/image.h"
#include "cuda/draw/text.h"

namespace cudavision {

// The beginning of a text, in a form that can be an argument of a kernel.
struct LabelText {
  static constexpr int kMost = 40;
  char characters[kMost] = {};
  int length = 0;

  LabelText() = default;
  explicit LabelText(std::string_view text)
      : length(static_cast<int>(std::min(text.size(), std::size_t{kMost}))) {
    std::copy_n(text.begin(), length, characters);
  }
};

struct LabelStyle {
  TextStyle text;
  int line_width = 1;  // of the box's outline, in pixels
  Region within;       // where labels should lie, in pixels of the frame
};

// A number with two decimals: "-9999.99" at most. Its characters are the bytes of a word, the first one the lowest, because
// a thread of a GPU keeps words in registers.
struct LabelNumber {
  static constexpr int kMost = 8;
  std::uint64_t characters = 0;
  int length = 0;

  CUDAVISION_HOST_DEVICE constexpr void prepend(char character) {
    characters = characters << 8 | static_cast<unsigned char>(character);
    ++length;
  }
  CUDAVISION_HOST_DEVICE constexpr char at(int i) const { return static_cast<char>(characters >> (8 * i)); }
};
CUDAVISION_HOST_DEVICE constexpr LabelNumber label_number(float value) {
  const float size = value < 0 ? -value : value;
  const int hundredths = size < 9999.99f ? static_cast<int>(size * 100 + 0.5f) : 999999;  // also of NaN
  LabelNumber number;
  // A digit at least comes before the point.
  for (int left = hundredths; number.length < 4 || left > 0; left /= 10) {
    if (number.length == 2) number.prepend('.');
    number.prepend(static_cast<char>('0' + left % 10));
  }
  if (value < 0 && hundredths > 0) number.prepend('-');
  return number;
}

// The number of primitives of a label with a text of this length, with a number or without one.
CUDAVISION_HOST_DEVICE constexpr int label_size(int length, bool with_number) {
  return 1 + length + (with_number ? 1 + LabelNumber::kMost : 0);
}

// Writes label_size() primitives: a rectangle, and the characters on it. It lies above the upper left corner of the box,
// or inside of the box where there is no room above, and is moved to the left if it would leave the region. number: null
// for none.
CUDAVISION_HOST_DEVICE constexpr void make_label(const LabelText &text, const float *number,
                                                 const Region &box, const LabelStyle &style,
                                                 Primitive *primitives) {
  const int scale = style.text.scale, before = (style.line_width - 1) / 2, after = style.line_width / 2;
  const LabelNumber digits = number != nullptr ? label_number(*number) : LabelNumber();
  const int space = text.length > 0 && digits.length > 0 ? 1 : 0,
            length = text.length + space + digits.length;
  const int width = (length * kTextAdvance + 1) * scale, height = (kTextHeight + 2) * scale;
  const Region &within = style.within;
  int x = box.x - before, y = box.y - before - height;
  if (x + width > within.x + within.width) x = within.x + within.width - width;
  if (x < within.x) x = within.x;
  if (y < within.y) y = box.y + after + 1;
  int count = 0;
  primitives[count++] = make_primitive(Primitive::Kind::filled_rectangle, 1, style.text.background, x, y,
                                       x + width - 1, y + height - 1);
  const auto append = [&](char character, int i) {
    primitives[count++] = make_primitive(Primitive::Kind::character, scale, style.text.color,
                                         x + scale + i * kTextAdvance * scale, y + scale, character, 0);
  };
  for (int i = 0; i < text.length; ++i) append(text.characters[i], i);
  for (int i = 0; i < digits.length; ++i) append(digits.at(i), text.length + space + i);
  for (const int all = label_size(text.length, number != nullptr); count < all;)
    primitives[count++] = hidden_primitive(style.text.color);
}

}  // namespace cudavision
