// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of boxes and stars as primitives on every backend.
#include "cuda/hog/hog_primitives.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tests/kernels/hog_definition.h"

namespace {

using namespace cudavision::test;
using cudavision::Color;
using cudavision::HogBox;
using cudavision::HogBoxCount;
using cudavision::HogLabels;
using cudavision::HogNorm;
using cudavision::HogParams;
using cudavision::HogShape;
using cudavision::HogStyle;
using cudavision::label_size;
using cudavision::LabelPlacer;
using cudavision::LabelText;
using cudavision::Primitive;
using cudavision::Region;
using cudavision::Size;

bool same_primitive(const Primitive &a, const Primitive &b) {
  return a.kind == b.kind && a.line_width == b.line_width && a.color == b.color && a.x0 == b.x0 &&
         a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
}

std::vector<Primitive> label_of(const HogBox &box, const HogStyle &style, const HogLabels &labels,
                                LabelPlacer *placer) {
  const Size pixels =
      label_pixels(label_length(labels.text, cudavision::label_number(box.score)), labels.style);
  const Region place = placer->place({style.origin_x + box.x, style.origin_y + box.y, box.width, box.height},
                                     pixels, labels.style);
  std::vector<Primitive> label(static_cast<std::size_t>(label_size(labels.text.length, true)));
  make_label(labels.text, &box.score, place, labels.style, label.data());
  return label;
}

class HogPrimitives : public BackendTest {
 protected:
  // Returns the lines of the stars, followed by a rectangle of the colour style.shade over the whole picture.
  std::vector<Primitive> stars(const HogImage &image, const std::vector<float> &numbers,
                               const HogShape &shape, const HogParams &params, int side,
                               const HogStyle &style) const {
    const HogTestPicture picture(execution(), image, kTight);
    HostImage<float> host(Size{static_cast<int>(numbers.size()), 1});
    host.pixels() = numbers;
    const TestImage<float> blocks(execution(), host, kTight);
    const TestImage<Primitive> lines(
        execution(), Size{static_cast<int>(star_line_count(shape, params, {side})) + 1, 1}, kTight);
    EXPECT_TRUE(succeeds(make_star_primitives(execution(), picture.picture(), blocks.view().data, shape,
                                              params, {side}, style, lines.view().data)));
    finish(execution());
    return lines.download().pixels();
  }
};
CUDAVISION_TEST_ON_EVERY_BACKEND(HogPrimitives);

TEST_P(HogPrimitives, boxes_become_outlines) {
  HostImage<HogBox> host(Size{3, 1});
  host.pixels() = {{.x = 5, .y = 6, .width = 20, .height = 30, .score = 1.5f},
                   {.x = 0, .y = 0, .width = 1, .height = 1, .score = 0.5f},
                   {.x = 7, .y = 8, .width = 9, .height = 10, .score = 0.1f}};
  const TestImage<HogBox> boxes(execution(), host, kTight);
  HostImage<HogBoxCount> counted(Size{1, 1});
  counted.at(0, 0) = {2, 9};
  const TestImage<HogBoxCount> count(execution(), counted, kTight);
  const HogStyle style{100, 50, 3, {{1, 2, 3}, 200}};
  const TestImage<int> used(execution(), Size{1, 1}, kTight);
  for (const int capacity : {3, 1}) {
    const TestImage<Primitive> lines(execution(), Size{3, 1}, kTight);
    const std::vector<Primitive> before = lines.download().pixels();
    ASSERT_TRUE(succeeds(make_box_primitives(execution(), {boxes.view().data, count.view().data}, capacity,
                                             style, {}, lines.view().data, used.view().data)));
    finish(execution());
    EXPECT_EQ(used.download().at(0, 0), std::min(capacity, 2));
    const std::vector<Primitive> made = lines.download().pixels();
    EXPECT_TRUE(same_primitive(made[0],
                               make_primitive(Primitive::Kind::rectangle, 3, style.color, 105, 56, 124, 85)));
    const Primitive second = make_primitive(Primitive::Kind::rectangle, 3, style.color, 100, 50, 100, 50);
    EXPECT_EQ(same_primitive(made[1], second), capacity == 3);
    EXPECT_TRUE(same_primitive(made[2], before[2])) << "it is not listed";
  }
  // Labels come after all outlines.
  const HogLabels labels{
      .shown = true,
      .text = LabelText("dog"),
      .style = {.text = {.scale = 2, .color = {{9, 9, 9}, 255}, .background = {{7, 7, 7}, 99}},
                .line_width = 3,
                .within = {0, 0, 640, 480}}};
  const int size = label_size(3, true);
  ASSERT_EQ(primitives_per_box(labels), 1 + size);
  const TestImage<Primitive> all(execution(), Size{2 * (1 + size), 1}, kTight);
  ASSERT_TRUE(succeeds(make_box_primitives(execution(), {boxes.view().data, count.view().data}, 2, style,
                                           labels, all.view().data, used.view().data)));
  finish(execution());
  EXPECT_EQ(used.download().at(0, 0), 2 * (1 + size));
  const std::vector<Primitive> made = all.download().pixels();
  LabelPlacer placer;
  for (int i = 0; i < 2; ++i) {
    const HogBox &box = host.at(i, 0);
    EXPECT_EQ(made[static_cast<std::size_t>(i)].kind, Primitive::Kind::rectangle);
    const std::vector<Primitive> expected = label_of(box, style, labels, &placer);
    for (int k = 0; k < size; ++k)
      EXPECT_TRUE(same_primitive(made[static_cast<std::size_t>(2 + i * size + k)],
                                 expected[static_cast<std::size_t>(k)]))
          << i << " " << k;
  }
  HogStyle wrong = style;
  wrong.line_width = 256;
  EXPECT_TRUE(refused(make_box_primitives(execution(), {nullptr, nullptr}, 0, wrong, {}, nullptr, nullptr)));
  wrong.line_width = 0;
  for (const int side : {-1, 0, 65})
    EXPECT_TRUE(
        refused(make_star_primitives(execution(), {}, nullptr, {1, 1, 36}, {}, {side}, style, nullptr)));
  EXPECT_TRUE(refused(make_star_primitives(execution(), {}, nullptr, {1, 1, 36}, {}, {}, wrong, nullptr)));
}

// Tests more boxes than the number of labels of a frame that are placed clear of one another.
TEST_P(HogPrimitives, labels_are_placed_one_after_another) {
  constexpr int kBoxes = cudavision::kMostPlacedLabels + 50;
  HostImage<HogBox> host(Size{kBoxes, 1});
  unsigned random = 3;
  const auto below = [&](int end) {
    random = random * 1664525u + 1013904223u;
    return static_cast<int>((random >> 8) % static_cast<unsigned>(end));
  };
  for (HogBox &box : host.pixels())
    box = {.x = below(640),
           .y = below(480),
           .width = 1 + below(90),
           .height = 1 + below(90),
           .score = static_cast<float>(below(20000)) / 100 - 100};
  const TestImage<HogBox> boxes(execution(), host, kTight);
  for (const int listed : {0, 1, 33, 100, kBoxes}) {
    HostImage<HogBoxCount> counted(Size{1, 1});
    counted.at(0, 0) = {listed, listed};
    const TestImage<HogBoxCount> count(execution(), counted, kTight);
    const HogStyle style{3, 5, 2, {{1, 2, 3}, 200}};
    const HogLabels labels{.shown = true,
                           .text = LabelText("dog"),
                           .style = {.text = {}, .line_width = 2, .within = {3, 5, 640, 480}}};
    const int size = label_size(3, true);
    const TestImage<int> used(execution(), Size{1, 1}, kTight);
    const TestImage<Primitive> all(execution(), Size{kBoxes * (1 + size), 1}, kTight);
    ASSERT_TRUE(succeeds(make_box_primitives(execution(), {boxes.view().data, count.view().data}, kBoxes,
                                             style, labels, all.view().data, used.view().data)));
    finish(execution());
    const std::vector<Primitive> made = all.download().pixels();
    LabelPlacer placer;
    int wrong = 0;
    for (int i = 0; i < listed; ++i) {
      const std::vector<Primitive> expected = label_of(host.at(i, 0), style, labels, &placer);
      wrong +=
          !std::equal(expected.begin(), expected.end(), made.begin() + listed + i * size, same_primitive);
    }
    EXPECT_EQ(wrong, 0) << "of " << listed;
  }
}

// The contrast of a part of the picture, 0 to 1.
double defined_contrast(const HogImage &image, Region part, int distance) {
  const auto clamped = [&](int x, int y, int c) {
    return image.at(std::clamp(x, 0, image.width() - 1), std::clamp(y, 0, image.height() - 1), c);
  };
  const int step_x = std::max(1, part.width / 8), step_y = std::max(1, part.height / 8);
  double sum = 0, count = 0;
  for (int y = part.y + step_y / 2; y < std::min(part.y + part.height, image.height()); y += step_y)
    for (int x = part.x + step_x / 2; x < std::min(part.x + part.width, image.width());
         x += step_x, ++count) {
      int most = 0;
      for (int c = 0; c < image.channels; ++c)
        most = std::max(most, std::abs(clamped(x + distance, y, c) - clamped(x - distance, y, c)) +
                                  std::abs(clamped(x, y + distance, c) - clamped(x, y - distance, c)));
      sum += most;
    }
  return count == 0 ? 0 : std::clamp((sum / count - 6) / 34, 0.0, 1.0);
}

// The visible lines of all stars, computed by loops over the cells of the blocks. Those of a cell are sorted,
// the weakest first.
std::vector<Primitive> defined_stars(const HogImage &image, const std::vector<float> &numbers,
                                     const HogShape &shape, const HogParams &p, int side,
                                     const HogStyle &style) {
  const int cells_x = p.block.width / p.cell.width, cells_y = p.block.height / p.cell.height;
  // For each row and column of cells: the sum of each bin, and the number of blocks that contain the cell.
  std::map<std::pair<int, int>, std::pair<std::vector<double>, int>> cells;
  std::size_t at = 0;
  for (int row = 0; row < shape.rows; ++row)
    for (int col = 0; col < shape.cols; ++col)
      for (int cx = 0; cx < cells_x; ++cx)
        for (int cy = 0; cy < cells_y; ++cy) {
          const int x = col * p.stride.width, y = row * p.stride.height;
          const bool aligned = x % p.cell.width == 0 && y % p.cell.height == 0;
          auto *cell = aligned ? &cells[{y / p.cell.height + cy, x / p.cell.width + cx}] : nullptr;
          if (cell != nullptr) cell->first.resize(static_cast<std::size_t>(p.bins)), ++cell->second;
          for (std::size_t bin = 0; bin < static_cast<std::size_t>(p.bins); ++bin, ++at)
            if (cell != nullptr) cell->first[bin] += numbers[at];
        }
  // For each group of side x side cells: the sum of the means of its cells, and the number of its cells.
  const int columns = std::max(1, ((shape.cols - 1) * p.stride.width + p.block.width) / p.cell.width / side),
            rows = std::max(1, ((shape.rows - 1) * p.stride.height + p.block.height) / p.cell.height / side);
  std::map<std::pair<int, int>, std::pair<std::vector<double>, int>> groups;
  for (const auto &[place, cell] : cells) {
    const std::pair group{place.first / side, place.second / side};
    if (group.first >= rows || group.second >= columns) continue;
    auto &[sums, count] = groups[group];
    sums.resize(static_cast<std::size_t>(p.bins)), ++count;
    for (std::size_t bin = 0; bin < sums.size(); ++bin) sums[bin] += cell.first[bin] / cell.second;
  }
  std::vector<Primitive> all;
  for (const auto &[place, cell] : groups) {
    const double contrast =
        defined_contrast(image,
                         {place.second * side * p.cell.width, place.first * side * p.cell.height,
                          side * p.cell.width, side * p.cell.height},
                         side);
    std::vector<Primitive> star;
    for (int bin = 0; bin < p.bins; ++bin) {
      const double mean = cell.first[static_cast<std::size_t>(bin)] / cell.second;
      const double unit = 3 / (p.norm == HogNorm::l1 ? shape.length : std::sqrt(shape.length));
      Color color = style.color;
      color.alpha =
          static_cast<std::uint8_t>(std::min(1.0, mean / unit) * contrast * style.color.alpha + 0.5);
      if (color.alpha == 0) continue;
      const double angle =
          ((bin + 0.5) / p.bins * (p.signed_gradient ? 2 : 1) + 0.5) * std::numbers::pi;  // of the edge
      const int reach = (side * std::min(p.cell.width, p.cell.height) - 1) / 2;
      const int dx = static_cast<int>(std::lround(reach * std::cos(angle))),
                dy = static_cast<int>(std::lround(reach * std::sin(angle)));
      const int x = style.origin_x + place.second * side * p.cell.width + side * p.cell.width / 2,
                y = style.origin_y + place.first * side * p.cell.height + side * p.cell.height / 2;
      star.push_back(make_primitive(Primitive::Kind::line, style.line_width, color,
                                    p.signed_gradient ? x : x - dx, p.signed_gradient ? y : y - dy, x + dx,
                                    y + dy));
    }
    std::stable_sort(star.begin(), star.end(),
                     [](const Primitive &a, const Primitive &b) { return a.color.alpha < b.color.alpha; });
    all.insert(all.end(), star.begin(), star.end());
  }
  return all;
}

TEST_P(HogPrimitives, stars_show_the_means_of_each_cell) {
  std::vector<HogParams> all(6);
  all[1].signed_gradient = true, all[1].bins = 18;
  all[2].norm = HogNorm::l1, all[2].stride = {16, 16};
  all[3].cell = {6, 8}, all[3].block = {18, 8}, all[3].stride = {6, 4};
  all[4].stride = {5, 8};  // few blocks begin at the border of a cell
  unsigned seed = 1;
  for (const HogParams &params : all) {
    const int side = seed < 6 ? 1 : 2, channels = seed == 2 ? 3 : 1;
    SCOPED_TRACE(testing::Message() << params << " side " << side);
    // Contrast grows from left to right.
    HogImage image = noise_image({53, 45}, channels, seed++);
    for (int y = 0; y < 45; ++y)
      for (int x = 0; x < 53 * channels; ++x)
        image.bytes.at(x, y) =
            static_cast<std::uint8_t>(128 + (image.bytes.at(x, y) - 128) * x / channels / 53);
    HogShape shape;
    ASSERT_TRUE(succeeds(hog_shape(image.size(), params, &shape)));
    // Multiples of 1/256: sums are exact, so that rounding errors do not change an opacity.
    std::vector<float> numbers = run_hog(execution(), image, params);
    for (float &number : numbers) number = std::round(number * 256) / 256;
    const HogStyle style{3, 4, 2, {{9, 8, 7}, 250}, {{1, 2, 3}, 99}};
    std::vector<Primitive> seen, made = stars(image, numbers, shape, params, side, style);
    EXPECT_TRUE(same_primitive(
        made.back(), make_primitive(Primitive::Kind::filled_rectangle, 1, style.shade, 3, 4, 55, 48)));
    made.pop_back();
    for (const Primitive &line : made) {
      if (line.color.alpha > 0)
        seen.push_back(line);
      else
        EXPECT_TRUE(same_primitive(line, hidden_primitive(line.color)));
    }
    const std::vector<Primitive> expected = defined_stars(image, numbers, shape, params, side, style);
    ASSERT_EQ(seen.size(), expected.size());
    EXPECT_GT(seen.size(), 20u);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_NEAR(seen[i].color.alpha, expected[i].color.alpha, 1) << i;
      Primitive line = seen[i];
      line.color.alpha = expected[i].color.alpha;
      EXPECT_TRUE(same_primitive(line, expected[i])) << i;
    }
  }
}

TEST_P(HogPrimitives, flat_pictures_have_no_stars) {
  HogImage image{constant({40, 32}, 90), 1};
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 40; ++x)
      image.bytes.at(x, y) = static_cast<std::uint8_t>(90 + (x + y) % 2 * 3);  // noise of a sensor
  const HogParams params;
  HogShape shape;
  ASSERT_TRUE(succeeds(hog_shape(image.size(), params, &shape)));
  std::vector<Primitive> made =
      stars(image, run_hog(execution(), image, params), shape, params, 1, {0, 0, 1, {{9, 8, 7}, 255}});
  made.pop_back();
  for (const Primitive &line : made) EXPECT_TRUE(same_primitive(line, hidden_primitive(line.color)));
}

}  // namespace
