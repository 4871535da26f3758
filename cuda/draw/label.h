// SPDX-License-Identifier: LGPL-2.1-or-later
// The label of a box: a text and a number, made of primitives (canvas.h). Kernels call these functions too, so that
// boxes in the memory of a GPU get their labels without a copy to the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cuda/common/image.h"
#include "cuda/draw/text.h"

namespace cudavision {

// The first kMost bytes of a text, held by value so that it can be an argument of a kernel.
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

// The characters of a number with two decimals, "-9999.99" at most. They are the bytes of a word, the first one the
// lowest, because a thread of a GPU keeps words in registers.
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
  const int hundredths = size < 9999.99f ? static_cast<int>(size * 100 + 0.5f) : 999999;  // NaN: 999999 too
  LabelNumber number;
  // At least one digit comes before the point.
  for (int left = hundredths; number.length < 4 || left > 0; left /= 10) {
    if (number.length == 2) number.prepend('.');
    number.prepend(static_cast<char>('0' + left % 10));
  }
  if (value < 0 && hundredths > 0) number.prepend('-');
  return number;
}

// The number of primitives of a label whose text has this length, with or without a number.
CUDAVISION_HOST_DEVICE constexpr int label_size(int length, bool with_number) {
  return 1 + length + (with_number ? 1 + LabelNumber::kMost : 0);
}

// The number of characters of a label, with the space between its text and its number.
CUDAVISION_HOST_DEVICE constexpr int label_length(const LabelText &text, const LabelNumber &number) {
  return text.length + (text.length > 0 && number.length > 0 ? 1 : 0) + number.length;
}
// The size in pixels of a label with this many characters.
CUDAVISION_HOST_DEVICE constexpr Size label_pixels(int length, const LabelStyle &style) {
  return {(length * kTextAdvance + 1) * style.text.scale, (kTextHeight + 2) * style.text.scale};
}

// Place i of a label. The places are tried in this order: above the box (at its left, at its right), inside it, below
// it (at its left, at its right), to the right of it, to the left of it; then ever further above and below it.
constexpr int kMostLabelRows = 8, kLabelPlaces = 7 + 2 * kMostLabelRows;
CUDAVISION_HOST_DEVICE constexpr Region label_place(int i, const Region &box, Size label,
                                                    const LabelStyle &style) {
  const int before = (style.line_width - 1) / 2, after = style.line_width / 2;
  const int left = box.x - before, right = box.x + box.width + after - label.width;
  const int top = box.y - before, above = top - label.height, below = box.y + box.height + after;
  const Region &within = style.within;
  int x = left, y = above;
  switch (i) {
    case 0:
      break;
    case 1:
      x = right;
      break;
    case 2:  // inside the box, moved up or down to lie within the region if possible
      y = box.y + after + 1;
      if (y + label.height > within.y + within.height) y = within.y + within.height - label.height;
      if (y < within.y) y = within.y;
      break;
    case 3:
      y = below;
      break;
    case 4:
      x = right, y = below;
      break;
    case 5:
      x = right + label.width, y = top;
      break;
    case 6:
      x = left - label.width, y = top;
      break;
    default: {
      const int rows = (i - 7) / 2 + 1;
      y = (i - 7) % 2 == 0 ? above - rows * label.height : below + rows * label.height;
    }
  }
  if (x + label.width > within.x + within.width) x = within.x + within.width - label.width;
  if (x < within.x) x = within.x;
  return {x, y, label.width, label.height};
}

// Lists those places of a label that lie between the top and the bottom of style.within.
class LabelPlaces {
 public:
  CUDAVISION_HOST_DEVICE constexpr LabelPlaces(const Region &box, Size label, const LabelStyle &style)
      : box_(box), label_(label), style_(style) {}

  // Stores the next place and returns true. If there is none, stores the place above the box, or, if that does not fit,
  // the one inside it, and returns false.
  CUDAVISION_HOST_DEVICE constexpr bool next(Region *place) {
    while (next_ < kLabelPlaces) {
      *place = label_place(next_++, box_, label_, style_);
      if (fits(*place)) return true;
    }
    *place = label_place(0, box_, label_, style_);
    if (!fits(*place)) *place = label_place(2, box_, label_, style_);
    return false;
  }

 private:
  CUDAVISION_HOST_DEVICE constexpr bool fits(const Region &place) const {
    return place.y >= style_.within.y && place.y + place.height <= style_.within.y + style_.within.height;
  }

  Region box_;
  Size label_;
  const LabelStyle &style_;
  int next_ = 0;
};

// Only so many labels of a frame avoid one another, which bounds the time. The others may cover any label.
constexpr int kMostPlacedLabels = 256;

// Places the labels of a frame one after another. A label covers no earlier one if there is room elsewhere.
class LabelPlacer {
 public:
  void clear() { count_ = 0; }
  Region place(const Region &box, Size label, const LabelStyle &style) {
    LabelPlaces places(box, label, style);
    Region place;
    if (count_ == kMostPlacedLabels) {
      places.next(&place);
      return place;
    }
    while (places.next(&place) && is_covered(place)) {
    }
    return places_[count_++] = place;
  }

 private:
  bool is_covered(const Region &place) const {
    return std::any_of(places_, places_ + count_, [&](const Region &other) { return overlap(place, other); });
  }

  Region places_[kMostPlacedLabels];
  int count_ = 0;
};

// Writes label_size() primitives: a filled rectangle at `place`, the characters on it, and hidden primitives for the
// rest. number: null for a label without a number.
CUDAVISION_HOST_DEVICE constexpr void make_label(const LabelText &text, const float *number,
                                                 const Region &place, const LabelStyle &style,
                                                 Primitive *primitives) {
  const int scale = style.text.scale;
  const LabelNumber digits = number != nullptr ? label_number(*number) : LabelNumber();
  const int first_digit = label_length(text, digits) - digits.length;
  int count = 0;
  primitives[count++] = make_primitive(Primitive::Kind::filled_rectangle, 1, style.text.background, place.x,
                                       place.y, place.x + place.width - 1, place.y + place.height - 1);
  const auto append = [&](char character, int i) {
    primitives[count++] =
        make_primitive(Primitive::Kind::character, scale, style.text.color,
                       place.x + scale + i * kTextAdvance * scale, place.y + scale, character, 0);
  };
  for (int i = 0; i < text.length; ++i) append(text.characters[i], i);
  for (int i = 0; i < digits.length; ++i) append(digits.at(i), first_digit + i);
  for (const int all = label_size(text.length, number != nullptr); count < all;)
    primitives[count++] = hidden_primitive(style.text.color);
}

}  // namespace cudavision
