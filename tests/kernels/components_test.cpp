// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares connected components on every backend with their definition and with cv::connectedComponentsWithStats, and
// tests their limits.
#include "cuda/components/components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/budget.h"
#include "tests/support/memory.h"
#include "tests/support/pictures.h"
#include "tests/support/test_image.h"

namespace {

using namespace cudavision::test;
using cudavision::ComponentCount;
using cudavision::ComponentParams;
using cudavision::ConnectedComponent;
using cudavision::Connectivity;
using cudavision::Execution;
using cudavision::kMaxComponents;
using cudavision::make_components;
using cudavision::Size;

class Components : public BackendTest {};
CUDAVISION_TEST_ON_EVERY_BACKEND(Components);

constexpr Connectivity kBoth[] = {Connectivity::four, Connectivity::eight};

struct Found {
  ComponentCount count;
  std::vector<ConnectedComponent> components;
};

void put_in_order(std::vector<ConnectedComponent> *components) {
  std::sort(components->begin(), components->end(),
            [](const ConnectedComponent &a, const ConnectedComponent &b) {
              return std::tuple(-a.area, a.first_y, a.first_x) < std::tuple(-b.area, b.first_y, b.first_x);
            });
}

// --- the definition: each component is filled from its first pixel ---

std::vector<ConnectedComponent> definition(const Picture &mask, Connectivity connectivity) {
  Picture left = mask;  // what no component has taken yet
  std::vector<ConnectedComponent> all;
  for (int y = 0; y < mask.height(); ++y)
    for (int x = 0; x < mask.width(); ++x) {
      if (left.at(x, y) != 255) continue;
      ConnectedComponent c{.first_x = x, .first_y = y, .box = {}};
      int right = x, bottom = y, min_x = x;
      std::vector<std::pair<int, int>> open{{x, y}};
      left.at(x, y) = 0;
      while (!open.empty()) {
        const auto [px, py] = open.back();
        open.pop_back();
        ++c.area, c.sum_x += px, c.sum_y += py;
        min_x = std::min(min_x, px), right = std::max(right, px), bottom = std::max(bottom, py);
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            const int nx = px + dx, ny = py + dy;
            if ((dx != 0 && dy != 0 && connectivity == Connectivity::four) || nx < 0 || ny < 0 ||
                nx >= mask.width() || ny >= mask.height() || left.at(nx, ny) != 255)
              continue;
            left.at(nx, ny) = 0;
            open.emplace_back(nx, ny);
          }
      }
      c.box = {min_x, y, right - min_x + 1, bottom - y + 1};
      all.push_back(c);
    }
  put_in_order(&all);
  return all;
}

// OpenCV's areas, boxes and centroids, sorted as the list is; first pixels are found in OpenCV's picture of labels.
std::vector<ConnectedComponent> opencv(const Picture &mask, Connectivity connectivity) {
  cv::Mat labels, stats, centroids;
  const cv::Mat picture(mask.height(), mask.width(), CV_8U, const_cast<std::uint8_t *>(mask.row(0)));
  const int count = cv::connectedComponentsWithStats(picture == 255, labels, stats, centroids,
                                                     connectivity == Connectivity::four ? 4 : 8);
  std::vector<ConnectedComponent> all(static_cast<std::size_t>(count - 1));
  for (int y = mask.height() - 1; y >= 0; --y)
    for (int x = mask.width() - 1; x >= 0; --x)
      if (const int label = labels.at<int>(y, x); label != 0) {
        ConnectedComponent &c = all[static_cast<std::size_t>(label - 1)];
        c.first_x = x, c.first_y = y, c.sum_x += x, c.sum_y += y;
      }
  for (int label = 1; label < count; ++label) {
    ConnectedComponent &c = all[static_cast<std::size_t>(label - 1)];
    const auto stat = [&](int which) { return stats.at<int>(label, which); };
    c.area = stat(cv::CC_STAT_AREA);
    c.box = {stat(cv::CC_STAT_LEFT), stat(cv::CC_STAT_TOP), stat(cv::CC_STAT_WIDTH),
             stat(cv::CC_STAT_HEIGHT)};
    EXPECT_EQ(c.centre_x(), centroids.at<double>(label, 0));
    EXPECT_EQ(c.centre_y(), centroids.at<double>(label, 1));
  }
  put_in_order(&all);
  return all;
}

class Runner {
 public:
  Runner(const Execution &execution, Size size, int capacity = kMaxComponents,
         const Placement &placement = kOddPitch)
      : mask_(execution, size, placement),
        count_(execution, sizeof(ComponentCount)),
        list_(execution, static_cast<std::size_t>(capacity) * sizeof(ConnectedComponent)),
        capacity_(capacity) {
    EXPECT_TRUE(succeeds(make_components(execution, size, &components_)));
  }
  Found run(const Picture &mask, const ComponentParams &params = {}) {
    mask_.upload(mask);
    EXPECT_TRUE(succeeds(components_->run(mask_.view(), params, list())));
    (void)mask_.download();  // checks its guard bytes, and waits
    Found found;
    std::memcpy(&found.count, count_.read().data(), sizeof(found.count));
    found.components.resize(static_cast<std::size_t>(found.count.listed));
    if (const std::size_t bytes = found.components.size() * sizeof(ConnectedComponent); bytes != 0)
      std::memcpy(found.components.data(), list_.read().data(), bytes);
    return found;
  }
  cudavision::ComponentList list() const {
    return {reinterpret_cast<ComponentCount *>(count_.data()),
            reinterpret_cast<ConnectedComponent *>(list_.data()), capacity_};
  }
  cudavision::Components &components() { return *components_; }
  const TestImage<std::uint8_t> &mask() const { return mask_; }

 private:
  TestImage<std::uint8_t> mask_;
  Memory count_, list_;
  int capacity_;
  std::unique_ptr<cudavision::Components> components_;
};

// Expects that run() counts all components of a mask and lists the first of them, up to `capacity`.
void expect_components(Runner &runner, const Picture &mask, const ComponentParams &params,
                       std::vector<ConnectedComponent> expected, int capacity = kMaxComponents) {
  const Found found = runner.run(mask, params);
  EXPECT_EQ(found.count.pixels, count_of<std::uint8_t>(mask, 255));
  std::erase_if(expected, [&](const ConnectedComponent &c) { return c.area < params.min_area; });
  ASSERT_EQ(found.count.found, static_cast<int>(expected.size()));
  expected.resize(std::min<std::size_t>(expected.size(), static_cast<std::size_t>(capacity)));
  ASSERT_EQ(found.count.listed, static_cast<int>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ConnectedComponent &a = found.components[i], &b = expected[i];
    ASSERT_EQ(a, b) << "component " << i << ": " << a.area << " pixels from (" << a.first_x << ", "
                    << a.first_y << ") instead of " << b.area << " from (" << b.first_x << ", " << b.first_y
                    << ")";
  }
}

Picture thresholded(const Picture &picture, int least) {
  Picture mask(picture.size());
  for (std::size_t i = 0; i < mask.pixels().size(); ++i)
    mask.pixels()[i] = picture.pixels()[i] >= least ? 255 : picture.pixels()[i] / 2;
  return mask;
}

// Curves through all tiles: two bands beside each other that wind inwards.
Picture wound(Size size) { return thresholded(spiral(size, Seed::none), 128); }

std::vector<Picture> masks(Size size) {
  return {thresholded(smooth_noise(size, 2, 1), 128),
          thresholded(noise(size, 2), 128),
          thresholded(noise(size, 3), 240),
          thresholded(noise(size, 4), 30),
          checkerboard(size, 1, 0, 255),
          constant(size, 255),
          constant(size, 127),
          wound(size)};
}

// --- the definition and the peer ---

TEST_P(Components, masks_of_all_kinds_equal_the_definition_and_opencv) {
  const Size size = kEmulated ? Size{130, 70} : Size{333, 200};
  Runner runner(execution(), size);
  int i = 0;
  for (const Picture &mask : masks(size))
    for (const Connectivity connectivity : kBoth)
      for (const int min_area : {1, 7}) {
        SCOPED_TRACE("mask " + std::to_string(i++ / 4) +
                     (connectivity == Connectivity::four ? ", 4 neighbours" : ", 8"));
        const ComponentParams params{connectivity, min_area};
        ASSERT_NO_FATAL_FAILURE(expect_components(runner, mask, params, definition(mask, connectivity)));
        ASSERT_NO_FATAL_FAILURE(expect_components(runner, mask, params, opencv(mask, connectivity)));
      }
}

TEST_P(Components, every_size_and_placement_equals_the_definition) {
  unsigned seed = 1;
  for (const Size size :
       {Size{1, 1}, {1, 130}, {130, 1}, {7, 9}, {8, 8}, {63, 65}, {64, 64}, {65, 3}, {129, 66}})
    for (const Placement &placement : kPlacements)
      for (const Connectivity connectivity : kBoth) {
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << " " << placement << " seed " << seed);
        Runner runner(execution(), size, kMaxComponents, placement);
        const Picture mask = thresholded(noise(size, seed), seed % 2 == 0 ? 110 : 200);
        ++seed;
        ASSERT_NO_FATAL_FAILURE(
            expect_components(runner, mask, {connectivity, 1}, definition(mask, connectivity)));
      }
}

// The list holds the largest ones, whatever the order in which they are found.
TEST_P(Components, a_short_list_holds_the_largest) {
  const Size size = kEmulated ? Size{140, 100} : Size{400, 300};
  const Picture mask = thresholded(noise(size, 5), 200);
  for (const int capacity : {1, 2, 16, 500, kMaxComponents}) {
    Runner runner(execution(), size, capacity);
    ASSERT_NO_FATAL_FAILURE(expect_components(runner, mask, {Connectivity::four, 1},
                                              definition(mask, Connectivity::four), capacity));
  }
}

// --- cases that can be computed by hand ---

TEST_P(Components, diagonal_neighbours_touch_only_with_eight) {
  Picture mask({4, 3});
  mask.at(1, 0) = mask.at(2, 1) = mask.at(1, 2) = 255;
  Runner runner(execution(), {4, 3});
  const Found eight = runner.run(mask, {Connectivity::eight, 1});
  ASSERT_EQ(eight.components.size(), 1u);
  EXPECT_EQ(eight.components[0], (ConnectedComponent{1, 0, 3, {1, 0, 2, 3}, 4, 3}));
  const Found four = runner.run(mask, {Connectivity::four, 1});
  ASSERT_EQ(four.components.size(), 3u);
  EXPECT_EQ(four.components[0], (ConnectedComponent{1, 0, 1, {1, 0, 1, 1}, 1, 0}));
  EXPECT_EQ(four.components[1], (ConnectedComponent{2, 1, 1, {2, 1, 1, 1}, 2, 1}));
}

TEST(ComponentParams, areas_out_of_range_are_refused_and_named) {
  for (const int area : {0, (1 << 28) + 1}) {
    const cudavision::Status status = validate(ComponentParams{Connectivity::four, area});
    EXPECT_TRUE(refused(status)) << area;
    EXPECT_NE(status.text().find("min-area"), std::string::npos) << status.text();
  }
  EXPECT_TRUE(succeeds(validate(ComponentParams{Connectivity::four, 1 << 28})));
}

TEST_P(Components, a_mask_without_set_pixels_has_none) {
  Runner runner(execution(), {100, 70});
  const Found found = runner.run(constant({100, 70}, 254));
  EXPECT_EQ(found.count.found + found.count.listed + found.count.pixels, 0);
}

// A diagonal line across the corner where four tiles meet is one component with eight neighbours.
TEST_P(Components, corners_of_tiles_are_joined) {
  const Size size{128, 128};
  Runner runner(execution(), size);
  Picture falling(size), rising(size);
  for (int i = 60; i < 68; ++i) falling.at(i, i) = rising.at(127 - i, i) = 255;
  for (const Picture &mask : {falling, rising}) {
    const Found found = runner.run(mask);
    ASSERT_EQ(found.components.size(), 1u);
    EXPECT_EQ(found.components[0].area, 8);
    EXPECT_EQ(found.components[0].box, (cudavision::Region{60, 60, 8, 8}));
  }
}

// In the numbering of tiles, the first tile of a row follows the last tile of the row above, which it does not touch.
TEST_P(Components, opposite_edges_of_a_frame_do_not_touch) {
  const Size size{128, 192};
  Picture mask(size);
  for (int i = 0; i < 2; ++i) mask.at(127, 63 + i) = mask.at(0, 127 + i) = 255;
  Runner runner(execution(), size);
  const Found found = runner.run(mask);
  ASSERT_EQ(found.components.size(), 2u);
  EXPECT_EQ(found.components[0].box, (cudavision::Region{127, 63, 1, 2}));
  EXPECT_EQ(found.components[1].box, (cudavision::Region{0, 127, 1, 2}));
}

// --- limits and errors ---

TEST_P(Components, refuses_what_it_cannot_do) {
  Runner runner(execution(), {8, 8});
  cudavision::ComponentList list = runner.list();
  EXPECT_TRUE(refused(runner.components().run(runner.mask().view().crop({0, 0, 7, 8}), {}, list)));
  EXPECT_TRUE(refused(runner.components().run(runner.mask().view(), {Connectivity::four, 0}, list)));
  list.capacity = 0;
  EXPECT_TRUE(refused(runner.components().run(runner.mask().view(), {}, list)));
  list.capacity = kMaxComponents + 1;
  EXPECT_TRUE(refused(runner.components().run(runner.mask().view(), {}, list)));
  std::unique_ptr<cudavision::Components> made;
  EXPECT_TRUE(refused(make_components(execution(), {0, 1}, &made)));
}

TEST_P(Components, a_frame_is_four_launches_whatever_it_shows) {
  CUDAVISION_NEEDS_EMULATION();
  const Size size{130, 130};
  Runner runner(execution(), size);
  for (const Picture &mask : masks(size)) {
    (void)runner.run(mask);
    const Budget budget;
    EXPECT_TRUE(succeeds(runner.components().run(runner.mask().view(), {}, runner.list())));
    budget.expect_launches_alone(4);
  }
}

}  // namespace
