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
  const int length = label_length(label, number != nullptr ? label_number(*number) : LabelNumber());
  make_label(label, number, LabelPlacer().place(box, label_pixels(length, style), style), style,
             primitives.data());
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
  EXPECT_EQ(drawn("person", &score, box, style_of(1)).text, "person1.50");  // a space has no primitive
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
    // Where there is no room above the box, the label lies in it, below the outline.
    const Primitive inside = drawn("dog", nullptr, {100, 10, 50, 80}, style_of(2, line_width)).background;
    EXPECT_EQ(inside.y0, 10 + line_width / 2 + 1);
    const Primitive right = drawn("dog", nullptr, {630, 100, 9, 80}, style_of(2, line_width)).background;
    EXPECT_EQ(right.x1, 639);
  }
  LabelStyle narrow = style_of(4);
  narrow.within = {50, 40, 30, 100};
  const Primitive wide = drawn("a long text", nullptr, {60, 90, 5, 5}, narrow).background;
  EXPECT_EQ(wide.x0, 50) << "its beginning can be read";
  // The upper left corner of the box, or all of the box, may lie outside.
  EXPECT_EQ(drawn("dog", nullptr, {100, -50, 50, 80}, style_of(2)).background.y0, 0);
  EXPECT_EQ(drawn("dog", nullptr, {100, 5, 50, 3}, style_of(2)).background.y0, 6);
  EXPECT_EQ(drawn("dog", nullptr, {-30, -900, 50, 80}, style_of(2)).background.y0, 0);
}

bool lies_in(const Region &place, const Region &within) {
  return place.x >= within.x && place.y >= within.y && place.x + place.width <= within.x + within.width &&
         place.y + place.height <= within.y + within.height;
}

int covered_pairs(const std::vector<Region> &places) {
  int pairs = 0;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) pairs += overlap(places[i], places[k]);
  return pairs;
}

TEST(Label, places_are_tried_in_a_fixed_order) {
  const LabelStyle style = style_of(1);  // 9 rows high
  const Size label{20, 9};
  const Region expected[] = {{100, 91, 20, 9},  {130, 91, 20, 9},  {100, 101, 20, 9}, {100, 180, 20, 9},
                             {130, 180, 20, 9}, {150, 100, 20, 9}, {80, 100, 20, 9},  {100, 82, 20, 9},
                             {100, 189, 20, 9}, {100, 73, 20, 9},  {100, 198, 20, 9}};
  LabelPlacer placer;
  for (const Region &place : expected)
    EXPECT_EQ(placer.place({100, 100, 50, 80}, label, style), place) << place.x << "," << place.y;
  for (std::size_t i = std::size(expected); i < kLabelPlaces; ++i)
    placer.place({100, 100, 50, 80}, label, style);
  EXPECT_EQ(placer.place({100, 100, 50, 80}, label, style), expected[0]) << "no room is left";
  placer.clear();
  EXPECT_EQ(placer.place({100, 100, 50, 80}, label, style), expected[0]);
}

TEST(Label, no_label_covers_another_where_there_is_room) {
  const LabelStyle style = style_of(1);
  unsigned random = 7;
  const auto below = [&](int end) {
    random = random * 1664525u + 1013904223u;
    return static_cast<int>((random >> 8) % static_cast<unsigned>(end));
  };
  LabelPlacer placer;
  std::vector<Region> places;
  for (int i = 0; i < 60; ++i) {
    const Region box{below(600), below(440), 20 + below(40), 20 + below(80)};
    places.push_back(placer.place(box, {30 + below(20), 9}, style));
    EXPECT_TRUE(lies_in(places.back(), style.within)) << i;
  }
  EXPECT_EQ(covered_pairs(places), 0);
}

TEST(Label, only_the_first_labels_of_a_frame_keep_clear) {
  LabelPlacer placer;
  LabelStyle style = style_of(1);
  style.within = {0, 0, 16000, 16000};
  for (int i = 0; i < kMostPlacedLabels; ++i) placer.place({50 * i, 100, 40, 40}, {20, 9}, style);
  EXPECT_EQ(placer.place({0, 100, 40, 40}, {20, 9}, style), (Region{0, 91, 20, 9}));
}

}  // namespace
