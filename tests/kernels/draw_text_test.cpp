// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts as primitives, drawn on a picture.
#include "cuda/draw/text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/test_frame.h"

namespace {

using namespace cudavision::test;
using cudavision::append_text;
using cudavision::Primitive;
using cudavision::Size;
using cudavision::text_width;

// The text on a picture of grey pixels, one character of the result for each pixel: '#' has the colour of the
// text, '.' that of the background.
std::vector<std::string> drawn(const std::string &text, int scale, int x, int y, Size size) {
  std::vector<Primitive> primitives;
  append_text(&primitives, text, x, y,
              {.scale = scale, .color = {{250, 0, 0}, 255}, .background = {{20, 0, 0}, 255}});
  const ExecutionOwner cpu({"cpu", cudavision::Backend::cpu, 1});
  HostFrame picture(pixel_formats()[1], size, 3);
  for (int row = 0; row < size.height; ++row)
    for (int column = 0; column < size.width; ++column) picture.sample(0, column, row) = 99;
  const TestFrame frame(cpu.execution(), picture, kTight);
  std::unique_ptr<cudavision::Canvas> canvas;
  EXPECT_TRUE(succeeds(make_canvas(cpu.execution(), size, &canvas)));
  EXPECT_TRUE(
      succeeds(canvas->draw(frame.frame(), primitives.data(), static_cast<int>(primitives.size()), nullptr)));
  const HostFrame result = frame.download();
  std::vector<std::string> rows;
  for (int row = 0; row < size.height; ++row) {
    rows.emplace_back();
    for (int column = 0; column < size.width; ++column)
      rows.back() += result.at(0, column, row) == 250 ? '#' : result.at(0, column, row) == 20 ? '.' : ' ';
  }
  return rows;
}

TEST(Text, is_drawn_on_its_background) {
  EXPECT_EQ(drawn("1R", 1, 2, 1, {15, 10}), (std::vector<std::string>{
                                                " ............. ",
                                                " ...#...####.. ",
                                                " ..##...#...#. ",
                                                " ...#...#...#. ",
                                                " ...#...####.. ",
                                                " ...#...#.#... ",
                                                " ...#...#..#.. ",
                                                " ..###..#...#. ",
                                                " ............. ",
                                                "               ",
                                            }));
}

TEST(Text, grows_by_its_scale) {
  const std::vector<std::string> small = drawn("08", 1, 1, 1, {13, 9}),
                                 large = drawn("08", 3, 3, 3, {39, 27});
  // Compares the middles of enlarged pixels, which the triangles that join pixels do not reach.
  for (int y = 1; y < 27; y += 3)
    for (int x = 1; x < 39; x += 3)
      EXPECT_EQ(large[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)],
                small[static_cast<std::size_t>(y / 3)][static_cast<std::size_t>(x / 3)])
          << x << ", " << y;
}

TEST(Text, characters_that_the_font_lacks_are_spaces) {
  for (const char *unknown : {"1\t1",
                              "1\x7f"
                              "1",
                              "1\xe9"
                              "1"})
    EXPECT_EQ(drawn(unknown, 1, 1, 1, {19, 9}), drawn("1 1", 1, 1, 1, {19, 9}));
  std::vector<Primitive> primitives;
  append_text(&primitives, "", 1, 1, {});
  EXPECT_TRUE(primitives.empty());
}

TEST(Text, width_is_that_of_the_pixels) {
  EXPECT_EQ(text_width("", 3), 0);
  EXPECT_EQ(text_width("5", 1), 5);
  EXPECT_EQ(text_width("255", 2), 34);
}

}  // namespace
