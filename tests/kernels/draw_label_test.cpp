// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels of boxes: the digits of their numbers, what they say, and where they lie.
#include "cuda/draw/label.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace cudavision;

std::string written(float value) {
  const LabelNumber number = label_number(value);
  std::string text;
  for (int i = 0; i < number.length; ++i) text += number.at(i);
  return text;
}

TEST(Label, numbers_have_two_decimals) {
  for (const float value :
       {0.0f, 0.004f, 0.25f, 0.5f, 0.999f, 1.0f, 1.37f, 9.994f, 10.0f, 123.456f, 9999.98f}) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", static_cast<double>(value));
    EXPECT_EQ(written(value), text);
    if (value >= 0.25f) {
      EXPECT_EQ(written(-value), std::string("-") + text);
    }
  }
  EXPECT_EQ(written(-0.001f), "0.00");
  EXPECT_EQ(written(1e30f), "9999.99");
  EXPECT_EQ(written(-1e30f), "-9999.99");
  EXPECT_EQ(written(std::numeric_limits<float>::infinity()), "9999.99");
  EXPECT_EQ(written(std::nanf("")), "9999.99");
}

struct Drawn {
  Primitive background;
  std::string text;
  std::vector<Primitive> characters;
};

Drawn drawn(const char *text, const float *number, Region box, const LabelStyle &style) {
  const LabelText label(text);
  std::vector<Primitive> primitives(static_cast<std::size_t>(label_size(label.length, number != nullptr)));
  make_label(label, number, box, style, primitives.data());
  Drawn result{primitives[0], {}, {}};
  for (std::size_t i = 1; i < primitives.size(); ++i)
    if (primitives[i].kind == Primitive::Kind::character) {
      result.characters.push_back(primitives[i]);
      result.text += static_cast<char>(primitives[i].x1);
    }
  return result;
}

LabelStyle style_of(int scale, int line_width = 1) {
  return {.text = {.scale = scale, .color = {}, .background = {}},
          .line_width = line_width,
          .within = {0, 0, 640, 480}};
}

TEST(Label, says_the_text_and_the_number) {
  const float score = 1.5f;
  const Region box{100, 100, 50, 80};
  EXPECT_EQ(drawn("person", &score, box, style_of(1)).text, "person1.50");  // the space is no character
  EXPECT_EQ(drawn("person", nullptr, box, style_of(1)).text, "person");
  EXPECT_EQ(drawn("", &score, box, style_of(1)).text, "1.50");
  const std::string longest(LabelText::kMost, 'x');
  EXPECT_EQ(drawn((longest + "y").c_str(), nullptr, box, style_of(1)).text, longest);
  const Drawn label = drawn("ab", &score, box, style_of(3));
  ASSERT_EQ(label.characters.size(), 6u);
  for (const std::size_t i : {0u, 1u, 2u, 5u}) {
    const int place = static_cast<int>(i) + (i > 1 ? 1 : 0);
    EXPECT_EQ(label.characters[i].x0, label.background.x0 + 3 + place * 6 * 3);
    EXPECT_EQ(label.characters[i].y0, label.background.y0 + 3);
    EXPECT_EQ(label.characters[i].line_width, 3);
  }
  EXPECT_EQ(label.background.x1 - label.background.x0 + 1, (7 * 6 + 1) * 3);
  EXPECT_EQ(label.background.y1 - label.background.y0 + 1, 9 * 3);
}

TEST(Label, lies_above_the_box_and_within_the_region) {
  for (const int line_width : {1, 2, 5}) {
    const int outside = (line_width - 1) / 2;
    const Primitive above = drawn("dog", nullptr, {100, 100, 50, 80}, style_of(2, line_width)).background;
    EXPECT_EQ(above.x0, 100 - outside);
    EXPECT_EQ(above.y1, 100 - outside - 1);
    // Where there is no room above, it lies in the box, below the outline.
    const Primitive inside = drawn("dog", nullptr, {100, 10, 50, 80}, style_of(2, line_width)).background;
    EXPECT_EQ(inside.y0, 10 + line_width / 2 + 1);
    const Primitive right = drawn("dog", nullptr, {630, 100, 9, 80}, style_of(2, line_width)).background;
    EXPECT_EQ(right.x1, 639);
  }
  LabelStyle narrow = style_of(4);
  narrow.within = {50, 40, 30, 100};
  const Primitive wide = drawn("a long text", nullptr, {60, 90, 5, 5}, narrow).background;
  EXPECT_EQ(wide.x0, 50) << "its beginning can be read";
}

}  // namespace
