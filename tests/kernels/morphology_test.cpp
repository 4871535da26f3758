// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares morphology on every backend with its definition and with cv::morphologyEx, and tests its limits.
#include "cuda/morphology/morphology.h"

#include <gtest/gtest.h>

#include <memory>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::Execution;
using cudavision::make_mask_cleaner;
using cudavision::MaskCleaner;
using cudavision::MorphologyKind;
using cudavision::MorphologyParams;
using cudavision::MorphologyShape;
using cudavision::Size;

class Morphology : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Morphology);

constexpr MorphologyShape kShapes[] = {MorphologyShape::rectangle, MorphologyShape::ellipse};
constexpr MorphologyKind kKinds[] = {MorphologyKind::erode, MorphologyKind::dilate, MorphologyKind::open,
                                     MorphologyKind::close};

MorphologyParams one_step(MorphologyShape shape, MorphologyKind kind, int radius) {
  return {shape, 1, {{kind, radius}, {}}, false};
}

std::string to_string(const MorphologyParams &p) {
  std::string text = p.shape == MorphologyShape::ellipse ? "ellipse" : "rectangle";
  for (int i = 0; i < p.count; ++i)
    text += ", kind " + std::to_string(static_cast<int>(p.steps[i].kind)) + " radius " +
            std::to_string(p.steps[i].radius);
  return text;
}

// Blobs, single pixels and single holes; also values between 0 and 255, which are not set.
Picture blobs(Size size, unsigned seed) {
  const Picture smooth = smooth_noise(size, 3, seed);
  Random random(seed + 1);
  Picture mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool set = (smooth.at(x, y) > 130) != (random.below(12) == 0);
      mask.at(x, y) = set ? 255 : random.below(4) == 0 ? static_cast<std::uint8_t>(random.below(255)) : 0;
    }
  return mask;
}

// --- the definition ---

cv::Mat element_of(MorphologyShape shape, int radius) {
  return cv::getStructuringElement(shape == MorphologyShape::ellipse ? cv::MORPH_ELLIPSE : cv::MORPH_RECT,
                                   {2 * radius + 1, 2 * radius + 1});
}

Picture pass(const Picture &mask, const cv::Mat &element, bool erodes) {
  const int radius = element.rows / 2;
  Picture result(mask.size());
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) {
      bool all = true, any = false;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) {
          const bool inside = x + dx >= 0 && x + dx < mask.width() && y + dy >= 0 && y + dy < mask.height();
          if (!inside || element.at<std::uint8_t>(dy + radius, dx + radius) == 0) continue;
          const bool set = mask.at(x + dx, y + dy) == 255;
          all = all && set, any = any || set;
        }
      result.at(x, y) = (erodes ? all : any) ? 255 : 0;
    }
  return result;
}

Picture definition(Picture mask, const MorphologyParams &params) {
  for (std::uint8_t &pixel : mask.pixels()) pixel = pixel == 255 ? 255 : 0;
  for (int i = 0; i < params.count; ++i) {
    const auto [kind, radius] = params.steps[i];
    const cv::Mat element = element_of(params.shape, radius);
    const bool erodes = kind == MorphologyKind::erode || kind == MorphologyKind::open;
    mask = pass(mask, element, erodes);
    if (kind == MorphologyKind::open || kind == MorphologyKind::close) mask = pass(mask, element, !erodes);
  }
  return mask;
}

Picture opencv(Picture mask, const MorphologyParams &params) {
  for (std::uint8_t &pixel : mask.pixels()) pixel = pixel == 255 ? 255 : 0;
  cv::Mat picture(mask.height(), mask.width(), CV_8U, mask.row(0));
  for (int i = 0; i < params.count; ++i) {
    static constexpr cv::MorphTypes kTypes[] = {cv::MORPH_ERODE, cv::MORPH_DILATE, cv::MORPH_OPEN,
                                                cv::MORPH_CLOSE};
    cv::Mat next;
    cv::morphologyEx(picture, next, kTypes[static_cast<int>(params.steps[i].kind)],
                     element_of(params.shape, params.steps[i].radius));
    next.copyTo(picture);
  }
  return mask;
}

class Runner {
 public:
  Runner(const Execution &execution, Size size, const Placement &placement = kOddPitch)
      : mask_(execution, size, placement), cleaned_(execution, size, placement) {
    EXPECT_TRUE(succeeds(make_mask_cleaner(execution, size, &cleaner_)));
  }
  Picture run(const Picture &mask, const MorphologyParams &params) {
    mask_.upload(mask);
    EXPECT_TRUE(succeeds(cleaner_->run(mask_.view(), params, cleaned_.view())));
    (void)mask_.download();  // checks its guard bytes
    return cleaned_.download();
  }
  MaskCleaner &cleaner() { return *cleaner_; }
  const TestImage<std::uint8_t> &mask() const { return mask_; }
  const TestImage<std::uint8_t> &cleaned() const { return cleaned_; }

 private:
  TestImage<std::uint8_t> mask_, cleaned_;
  std::unique_ptr<MaskCleaner> cleaner_;
};

TEST_P(Morphology, every_shape_kind_and_radius_equals_the_definition_and_opencv) {
  const Size size = kEmulated ? Size{150, 40} : Size{300, 131};
  Runner runner(execution(), size);
  const Picture mask = blobs(size, 4);
  for (const MorphologyShape shape : kShapes)
    for (const MorphologyKind kind : kKinds)
      for (int radius = 0; radius <= cudavision::kMaxMorphologyRadius;
           radius += kEmulated && radius > 2 ? 7 : 1) {
        const MorphologyParams params = one_step(shape, kind, radius);
        const Picture cleaned = runner.run(mask, params);
        ASSERT_TRUE(same(cleaned, opencv(mask, params))) << to_string(params);
        if (radius > 5) continue;  // the loops of the definition take long
        ASSERT_TRUE(same(cleaned, definition(mask, params))) << to_string(params);
      }
}

TEST_P(Morphology, steps_follow_one_another) {
  const Size size = kEmulated ? Size{140, 37} : Size{400, 150};
  Runner runner(execution(), size);
  const Picture mask = blobs(size, 8);
  for (const MorphologyShape shape : kShapes)
    for (const auto &[first, second] : {std::pair{1, 2}, {2, 1}, {3, 0}, {0, 4}, {16, 16}}) {
      const MorphologyParams open_close{
          shape, 2, {{MorphologyKind::open, first}, {MorphologyKind::close, second}}, false};
      const MorphologyParams close_open{
          shape, 2, {{MorphologyKind::close, first}, {MorphologyKind::open, second}}, false};
      ASSERT_TRUE(same(runner.run(mask, open_close), opencv(mask, open_close))) << to_string(open_close);
      ASSERT_TRUE(same(runner.run(mask, close_open), opencv(mask, close_open))) << to_string(close_open);
    }
}

TEST_P(Morphology, every_size_and_placement_equals_the_definition) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, {1, 40}, {40, 1}, {7, 3}, {31, 5}, {32, 33}, {33, 32}, {129, 6}})
    for (const Placement &placement : kPlacements) {
      Runner runner(execution(), size, placement);
      const Picture mask = blobs(size, seed++);
      for (const MorphologyKind kind : kKinds) {
        const MorphologyParams params = one_step(MorphologyShape::ellipse, kind, 2);
        ASSERT_TRUE(same(runner.run(mask, params), definition(mask, params)))
            << size.width << "x" << size.height << " " << placement << " " << to_string(params);
      }
    }
}

TEST_P(Morphology, a_pixel_grows_to_the_shape_and_a_hole_shrinks_to_nothing) {
  const Size size{45, 45};
  Runner runner(execution(), size);
  for (const MorphologyShape shape : kShapes)
    for (const int radius : {1, 2, 5, 16}) {
      Picture dot(size), hole = constant(size, 255);
      dot.at(22, 22) = 255, hole.at(22, 22) = 0;
      const Picture grown = runner.run(dot, one_step(shape, MorphologyKind::dilate, radius));
      const cv::Mat element = element_of(shape, radius);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const int row = y - 22 + radius, column = x - 22 + radius;
          const bool in_shape = row >= 0 && row <= 2 * radius && column >= 0 && column <= 2 * radius &&
                                element.at<std::uint8_t>(row, column) != 0;
          ASSERT_EQ(grown.at(x, y), in_shape ? 255 : 0) << x << ", " << y;
        }
      EXPECT_EQ(runner.run(dot, one_step(shape, MorphologyKind::open, radius)), Picture(size));
      EXPECT_EQ(runner.run(hole, one_step(shape, MorphologyKind::close, radius)), constant(size, 255));
    }
}

TEST_P(Morphology, the_complement_is_the_rest_of_the_picture) {
  const Size size{70, 30};
  Runner runner(execution(), size);
  const Picture mask = blobs(size, 3);
  for (const MorphologyKind kind : kKinds)
    for (const int radius : {0, 2}) {
      MorphologyParams params = one_step(MorphologyShape::ellipse, kind, radius);
      Picture rest = runner.run(mask, params);
      for (std::uint8_t &pixel : rest.pixels()) pixel = static_cast<std::uint8_t>(255 - pixel);
      params.complement = true;
      EXPECT_TRUE(same(runner.run(mask, params), rest)) << to_string(params);
    }
}

TEST_P(Morphology, shadows_are_not_set) {
  Runner runner(execution(), {40, 9});
  EXPECT_EQ(runner.run(constant({40, 9}, 127), {}), Picture({40, 9}));
  EXPECT_EQ(runner.run(constant({40, 9}, 254), {}), Picture({40, 9}));
  EXPECT_EQ(runner.run(constant({40, 9}, 255), {}), constant({40, 9}, 255));
}

TEST_P(Morphology, refuses_what_it_cannot_do) {
  Runner runner(execution(), {8, 8});
  const auto mask = runner.mask().view(), cleaned = runner.cleaned().view();
  EXPECT_TRUE(refused(runner.cleaner().run(mask.crop({0, 0, 7, 8}), {}, cleaned)));
  EXPECT_TRUE(refused(runner.cleaner().run(mask, {}, cleaned.crop({0, 0, 8, 7}))));
  EXPECT_TRUE(refused(runner.cleaner().run(mask, {MorphologyShape::ellipse, 3, {}, false}, cleaned)));
  EXPECT_TRUE(refused(
      runner.cleaner().run(mask, one_step(MorphologyShape::ellipse, MorphologyKind::open, 17), cleaned)));
  std::unique_ptr<MaskCleaner> made;
  EXPECT_TRUE(refused(make_mask_cleaner(execution(), {16385, 1}, &made)));
}

TEST_P(Morphology, all_steps_are_one_launch) {
  CUDAVISION_NEEDS_EMULATION();
  Runner runner(execution(), {64, 40});
  const Budget budget;
  const MorphologyParams params{
      MorphologyShape::ellipse, 2, {{MorphologyKind::open, 2}, {MorphologyKind::close, 3}}, false};
  EXPECT_TRUE(succeeds(runner.cleaner().run(runner.mask().view(), params, runner.cleaned().view())));
  budget.expect_launches_alone(1);
}

}  // namespace
