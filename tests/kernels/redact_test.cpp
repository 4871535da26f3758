// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares hiding on every backend with its definition and with OpenCV, and tests its limits.
#include "cuda/redact/redact.h"

#include <opencv2/imgproc.hpp>

#include <memory>
#include <optional>

#include "tests/kernels/redact_definition.h"
#include "tests/support/backends.h"
#include "tests/support/budget.h"

namespace {

using namespace cudavision::test;
using namespace cudavision;

class RedactTest : public BackendTest {
 protected:
  void TearDown() override {
    redact_.reset();
    BackendTest::TearDown();
  }
  void make(Size size) { ASSERT_TRUE(succeeds(make_redact(execution(), size, &redact_))); }

  // Hides parts of the frame, and compares frame and map with the definition.
  void check(const HostFrame &pixels, const HostTargets &targets, const RedactParams &params,
             const Placement &placement = kMisalignedOddPitch) {
    const RedactDefinition definition(pixels, targets, params);
    const TestFrame frame(execution(), pixels, placement);
    const TestImage<std::uint8_t> map(execution(), pixels.size, kOddPitch);
    ASSERT_TRUE(succeeds(run(frame, targets, params, map.view())));
    EXPECT_TRUE(same(frame.download(), definition.frame()));
    EXPECT_TRUE(same(map.download(), definition.map()));
    const TestFrame again(execution(), pixels, placement);
    ASSERT_TRUE(succeeds(run(again, targets, params, {})));
    EXPECT_TRUE(same(again.download(), definition.frame())) << "without a map";
  }

  Status run(const TestFrame &frame, const HostTargets &targets, const RedactParams &params,
             ImageView<std::uint8_t> map) {
    std::vector<std::unique_ptr<TestImage<std::uint8_t>>> images;
    std::vector<RedactMask> masks;
    for (const HostMask &mask : targets.masks) {
      images.push_back(std::make_unique<TestImage<std::uint8_t>>(execution(), mask.bytes, kMisaligned));
      masks.push_back({images.back()->view(), mask.x, mask.y, mask.step});
    }
    std::optional<TestImage<std::uint8_t>> always;
    if (targets.always.width() > 0) always.emplace(execution(), targets.always, kMisaligned);
    const Status status = redact_->run(frame.frame(),
                                       {targets.boxes.data(), static_cast<int>(targets.boxes.size()),
                                        masks.data(), static_cast<int>(masks.size()), targets.limit,
                                        always ? always->view() : ImageView<std::uint8_t>(), targets.fields},
                                       params, map);
    (void)frame.download();  // waits, because the masks are freed here
    return status;
  }

  std::unique_ptr<Redact> redact_;
};
CUDAVISION_TEST_ON_EVERY_BACKEND(RedactTest);

// A mask with few set pixels.
Picture sparse(Size size, unsigned seed) {
  Picture picture = noise(size, seed);
  for (std::uint8_t &value : picture.pixels()) value = value > 240 ? value : 0;
  return picture;
}

std::vector<RedactParams> every_mode() {
  return {{.mode = RedactMode::fill, .color = {{10, 200, 90}, 0}},
          {.mode = RedactMode::fill, .shape = RedactShape::ellipse, .dilation = 2},
          {.mode = RedactMode::fill, .shape = RedactShape::ellipse, .dilation = 1, .inverse = true},
          {.mode = RedactMode::pixelate, .cells = 3},
          {.mode = RedactMode::pixelate, .shape = RedactShape::ellipse, .cells = 5, .dilation = 3},
          {.mode = RedactMode::pixelate, .cells = 4, .inverse = true},
          {.mode = RedactMode::blur, .strength = 2.5, .dilation = 1},
          {.mode = RedactMode::blur, .cells = 1},
          {.mode = RedactMode::blur, .shape = RedactShape::ellipse, .strength = 21, .inverse = true}};
}

TEST_P(RedactTest, every_mode_in_every_format_equals_the_definition) {
  unsigned seed = 1;
  for (const PixelFormat &format : pixel_formats())
    for (const RedactParams &params : every_mode()) {
      const Size size = seed % 2 == 0 ? Size{67, 41} : Size{34, 53};
      make(size);
      const HostFrame pixels(format, size, seed);
      HostTargets targets{{{5, 3, 21, 17}, {13, 11, 15, 40}, {-7, 30, 12, 9}, {29, -2, 60, 12}, {8, 8, 0, 5}},
                          {{sparse({20, 15}, seed), 11, 6, 1}, {sparse({9, 30}, seed + 7), 2, 1, 3}},
                          {}};
      if (seed % 3 == 0) targets.limit = {3, 5, 27, 31};
      targets.fields = seed % 4 == 0;
      if (seed % 5 < 2) targets.always = sparse(size, seed + 11);
      SCOPED_TRACE(testing::Message()
                   << format << " seed " << seed << " mode " << static_cast<int>(params.mode));
      check(pixels, targets, params, kPlacements[seed % 5]);
      ++seed;
    }
}

TEST_P(RedactTest, sizes_down_to_one_pixel_equal_the_definition) {
  unsigned seed = 1;
  for (const Size size : {Size{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 5}, {17, 16}, {16, 17}, {33, 65}})
    for (const std::size_t format : {0, 1, 5, 9, 11})
      for (const RedactParams &params : every_mode()) {
        make(size);
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << " " << pixel_formats()[format]);
        check(HostFrame(pixel_formats()[format], size, seed++),
              {{{0, 0, 1, 1}, {-3, -3, 5, 4}, {size.width / 2, size.height / 2, 40, 3}}, {}, {}}, params);
      }
}

TEST_P(RedactTest, nothing_hides_nothing_and_a_box_of_the_frame_hides_all) {
  make({31, 17});
  const HostFrame pixels(pixel_formats()[5], {31, 17}, 4);
  check(pixels, {}, {});
  check(pixels, {}, {.mode = RedactMode::pixelate, .cells = 2, .inverse = true});
  const TestFrame frame(execution(), pixels, kAligned);
  ASSERT_TRUE(succeeds(run(frame, {{{0, 0, 31, 17}}, {}, {}}, {.color = {{16, 128, 128}, 255}}, {})));
  const HostFrame hidden = frame.download();
  for (int y = 0; y < 17; ++y)
    for (int x = 0; x < 31; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_EQ(hidden.at(c, x, y), c == 0 ? 16 : 128);
}

// A hidden row of 4:2:0 shares chroma with the next row but one of its field.
TEST_P(RedactTest, rows_of_both_fields_are_hidden) {
  make({16, 16});
  for (const bool fields : {false, true}) {
    const HostFrame pixels(pixel_formats()[5], {16, 16}, 4);
    const TestFrame frame(execution(), pixels, kAligned);
    ASSERT_TRUE(succeeds(run(frame, {{{0, 5, 16, 1}}, {}, {}, fields}, {.color = {{1, 2, 3}, 255}}, {})));
    const HostFrame hidden = frame.download();
    for (int y = 0; y < 16; ++y)
      EXPECT_EQ(hidden.at(0, 3, y) == 1 && hidden.at(1, 3, y) == 2,
                fields ? y >= 4 && y < 8 : y == 4 || y == 5)
          << y;
  }
}

TEST_P(RedactTest, cells_are_those_of_cv_resize_with_inter_area) {
  const Size size{96, 72};
  make(size);
  const HostFrame pixels(pixel_formats()[0], size, 5);
  const Region box{7, 5, 60, 48};  // 5x4 cells of 12 pixels
  const TestFrame frame(execution(), pixels, kOddPitch);
  ASSERT_TRUE(succeeds(run(frame, {{box}, {}, {}}, {.mode = RedactMode::pixelate, .cells = 5}, {})));
  HostFrame copy = pixels;
  cv::Mat picture(size.height, size.width, CV_8U, copy.planes[0].pixels().data()), cells;
  cv::Mat part = picture(cv::Rect(box.x, box.y, box.width, box.height));
  cv::resize(part, cells, {5, 4}, 0, 0, cv::INTER_AREA);
  cv::resize(cells, part, part.size(), 0, 0, cv::INTER_NEAREST);
  EXPECT_TRUE(same(frame.download(), copy));
}

TEST_P(RedactTest, means_of_half_round_to_even) {
  // 8x8 pixels whose sums are 64 v + 32.
  make({16, 8});
  HostFrame pixels(pixel_formats()[0], {16, 8}, 1);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 16; ++x)
      pixels.sample(0, x, y) = static_cast<std::uint8_t>((x < 8 ? 100 : 101) + y % 2);
  const TestFrame frame(execution(), pixels, kTight);
  ASSERT_TRUE(
      succeeds(run(frame, {{{0, 0, 16, 8}}, {}, {}}, {.mode = RedactMode::pixelate, .cells = 2}, {})));
  const HostFrame hidden = frame.download();
  EXPECT_EQ(hidden.at(0, 0, 0), 100);
  EXPECT_EQ(hidden.at(0, 8, 0), 102);
}

TEST_P(RedactTest, blur_of_all_strengths_equals_cv_gaussian_blur_of_means) {
  const Size size{80, 60};
  make(size);
  for (const double strength : {1.0, 4.2, 16.0, 16.5, 64.0}) {
    SCOPED_TRACE(strength);
    check(HostFrame(pixel_formats()[5], size, 6), {{{10, 10, 50, 40}}, {}, {}},
          {.mode = RedactMode::blur, .strength = strength});
  }
}

// The standard deviation is that of the largest box, of which 60x40 pixels lie in the frame, or of the whole frame.
TEST_P(RedactTest, blur_without_a_strength_follows_the_largest_box) {
  const Size size{80, 60};
  make(size);
  const HostFrame pixels(pixel_formats()[0], size, 6);
  const HostTargets boxes{{{-10, 10, 70, 40}, {70, 50, 9, 9}, {90, 0, 9, 60}}, {}, {}},
      none{{}, {{sparse(size, 3)}}, {}};
  const auto hidden = [&](const HostTargets &targets, const RedactParams &params) {
    const TestFrame frame(execution(), pixels, kAligned);
    EXPECT_TRUE(succeeds(run(frame, targets, params, {})));
    return frame.download();
  };
  constexpr RedactMode kBlur = RedactMode::blur;
  EXPECT_TRUE(
      same(hidden(boxes, {.mode = kBlur, .cells = 12}), hidden(boxes, {.mode = kBlur, .strength = 10})));
  EXPECT_TRUE(
      same(hidden(none, {.mode = kBlur, .cells = 10}), hidden(none, {.mode = kBlur, .strength = 16})));
  EXPECT_TRUE(same(hidden(boxes, {.mode = kBlur, .cells = 10, .inverse = true}),
                   hidden(boxes, {.mode = kBlur, .strength = 16, .inverse = true})));
  EXPECT_TRUE(same(hidden({{{3, 3, 9, 9}}, {}, {}}, {.mode = kBlur, .cells = 32}),
                   hidden({{{3, 3, 9, 9}}, {}, {}}, {.mode = kBlur, .strength = 1})));
}

TEST_P(RedactTest, a_frame_may_have_as_many_boxes_as_the_limit) {
  const Size size = kEmulated ? Size{30, 22} : Size{64, 48};
  make(size);
  HostTargets targets;
  for (int i = 0; i < kMostRedactBoxes; ++i)
    targets.boxes.push_back({i % 71 - 4, i % 53 - 3, 3 + i % 5, 3 + i % 7});
  for (const RedactParams &params : every_mode())
    check(HostFrame(pixel_formats()[5], size, 7), targets, params, kAligned);
  targets.boxes.push_back({});
  const TestFrame frame(execution(), HostFrame(pixel_formats()[5], size, 7), kAligned);
  EXPECT_TRUE(refused(run(frame, targets, {}, {})));
}

TEST_P(RedactTest, ellipses_of_all_sizes_equal_the_definition) {
  const Size size{90, 40};
  make(size);
  unsigned random = 5;
  const auto below = [&random](int end) {
    random = random * 1664525u + 1013904223u;
    return static_cast<int>((random >> 8) % static_cast<unsigned>(end));
  };
  for (const int most : {5, 60, 900, 16000})
    for (int i = 0; i < 6; ++i) {
      HostTargets targets;
      for (int k = 0; k < 3; ++k) {
        const int width = 1 + below(most), height = 1 + below(most);
        // A box with a corner in the frame, so that the edge of its ellipse can cross the frame.
        targets.boxes.push_back({below(size.width) - (k == 0 ? 0 : width),
                                 below(size.height) - (k == 2 ? 0 : height), width, height});
      }
      SCOPED_TRACE(testing::Message() << most << " " << i);
      check(HostFrame(pixel_formats()[i % 2 == 0 ? 0 : 5], size, 9), targets,
            {.mode = RedactMode::fill,
             .shape = RedactShape::ellipse,
             .dilation = i % 3,
             .inverse = i % 4 == 3});
    }
}

TEST_P(RedactTest, boxes_may_reach_to_the_ends_of_their_range) {
  make({40, 30});
  constexpr Range<int> kEdge = RedactRanges::edge;
  const Region largest{kEdge.least, kEdge.least, kEdge.most - kEdge.least, kEdge.most - kEdge.least};
  const HostFrame pixels(pixel_formats()[1], {40, 30}, 8);
  for (const RedactParams &params : every_mode())
    check(pixels, {{largest, {kEdge.most, 0, 0, 0}}, {}, {}}, params);
  const TestFrame frame(execution(), pixels, kAligned);
  for (const Region &box : {Region{kEdge.least - 1, 0, 5, 5},
                            {0, kEdge.least - 1, 5, 5},
                            {0, 0, kEdge.most + 1, 5},
                            {0, 0, 5, kEdge.most + 1},
                            {0, 0, -1, 5},
                            {0, 0, 5, -1},
                            {1, 0, kEdge.most, 1}})
    EXPECT_TRUE(refused(run(frame, {{box}, {}, {}}, {}, {}))) << box.x << " " << box.y;
  EXPECT_TRUE(same(frame.download(), pixels));
}

TEST_P(RedactTest, parameters_and_sizes_have_limits) {
  make({40, 30});
  const HostFrame pixels(pixel_formats()[5], {40, 30}, 9);
  const TestFrame frame(execution(), pixels, kAligned);
  const HostTargets targets{{{1, 2, 9, 9}}, {}, {}};
  for (const RedactParams &params :
       {RedactParams{.cells = 0}, RedactParams{.cells = 33}, RedactParams{.strength = 0.5},
        RedactParams{.strength = 64.5}, RedactParams{.strength = NAN}, RedactParams{.dilation = -1},
        RedactParams{.dilation = 256}})
    EXPECT_TRUE(refused(run(frame, targets, params, {})));
  const TestImage<std::uint8_t> map(execution(), Size{41, 30}, kAligned);
  EXPECT_TRUE(refused(run(frame, targets, {}, map.view())));
  EXPECT_TRUE(refused(run(frame, {{}, {{Picture(Size{2, 2}), 0, 0, 0}}, {}}, {}, {})));
  EXPECT_TRUE(refused(run(frame, {{}, std::vector<HostMask>(9, {Picture(Size{2, 2})}), {}}, {}, {})));
  const TestFrame other(execution(), HostFrame(pixel_formats()[5], {41, 30}, 9), kAligned);
  EXPECT_TRUE(refused(run(other, targets, {}, {})));
  EXPECT_TRUE(same(frame.download(), pixels));
  for (const Size size : {Size{0, 4}, {4, 16385}})
    EXPECT_TRUE(refused(make_redact(execution(), size, &redact_)));
}

TEST_P(RedactTest, later_frames_allocate_nothing) {
  CUDAVISION_NEEDS_EMULATION();
  make({64, 48});
  const HostFrame pixels(pixel_formats()[5], {64, 48}, 10);
  const TestFrame frame(execution(), pixels, kAligned);
  const TestImage<std::uint8_t> bytes(execution(), sparse({64, 48}, 1), kAligned);
  const Region box{3, 4, 20, 20};
  const RedactMask mask{bytes.view()};
  const struct {
    RedactParams params;
    int masks;
    unsigned launches;
  } cases[] = {{{}, 0, 1},
               {{}, 1, 2},
               {{.dilation = 3}, 1, 5},
               {{.mode = RedactMode::pixelate}, 0, 2},
               {{.mode = RedactMode::blur, .strength = 4}, 0, 6}};  // two components share a plane
  for (const auto &c : cases) {
    const auto hide = [&] { return redact_->run(frame.frame(), {&box, 1, &mask, c.masks, {}}, c.params); };
    ASSERT_TRUE(succeeds(hide()));
    (void)frame.download();
    const Budget budget;
    ASSERT_TRUE(succeeds(hide()));
    const auto spent = budget.spent();
    EXPECT_EQ(spent.launches, c.launches) << static_cast<int>(c.params.mode);
    EXPECT_EQ(spent.host_to_device_copies, 1u);
    EXPECT_EQ(spent.allocations + spent.host_allocations + spent.synchronisations + spent.memsets, 0u);
    (void)frame.download();
  }
}

}  // namespace
