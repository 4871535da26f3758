// SPDX-License-Identifier: LGPL-2.1-or-later
// Detections with an angle: the box around the turned box counts.
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "gst/base/results/attached_boxes.h"
#include "gst/base/results/turned_box.h"
#include "tests/elements/support.h"
#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace {

using namespace cudavision::test;
using cudavision::around_turned;
using cudavision::Region;

class FilterTurnedBox : public ElementTest {};

// The box around the four corners, each turned about the centre, grown to whole pixels.
Region around_corners(const Region &box, double angle) {
  double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  for (const double x : {-box.width / 2.0, box.width / 2.0})
    for (const double y : {-box.height / 2.0, box.height / 2.0}) {
      const double u = box.x + box.width / 2.0 + x * std::cos(angle) - y * std::sin(angle),
                   v = box.y + box.height / 2.0 + x * std::sin(angle) + y * std::cos(angle);
      left = std::min(left, u), right = std::max(right, u), top = std::min(top, v),
      bottom = std::max(bottom, v);
    }
  const int x = static_cast<int>(std::floor(left + 1e-3)), y = static_cast<int>(std::floor(top + 1e-3));
  return {x, y, static_cast<int>(std::ceil(right - 1e-3)) - x,
          static_cast<int>(std::ceil(bottom - 1e-3)) - y};
}

TEST_F(FilterTurnedBox, the_box_around_a_turned_box_covers_its_corners) {
  for (const Region &box : {Region{100, 50, 40, 20}, {-7, 3, 5, 31}, {0, 0, 1, 1}, {8, 9, 640, 3}})
    for (double angle = -7; angle < 7; angle += 0.01)
      ASSERT_EQ(around_turned(box, angle), around_corners(box, angle)) << angle;
}

TEST_F(FilterTurnedBox, whole_turns_change_nothing_and_a_quarter_exchanges_the_sides) {
  const Region box{100, 50, 40, 20};
  for (const int half : {-2, -1, 0, 1, 2, 4})
    EXPECT_EQ(around_turned(box, static_cast<float>(half * std::numbers::pi)), box) << half;
  for (const int odd : {-3, -1, 1, 3, 5})
    EXPECT_EQ(around_turned(box, static_cast<float>(odd * std::numbers::pi / 2)), (Region{110, 40, 20, 40}))
        << odd;
}

TEST_F(FilterTurnedBox, an_angle_that_cannot_be_read_may_be_any) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInfinity = std::numeric_limits<double>::infinity();
  for (const double angle : {kNan, kInfinity, -kInfinity})
    EXPECT_EQ(around_turned({100, 50, 40, 30}, angle), (Region{95, 40, 50, 50}));
  constexpr int kMost = std::numeric_limits<int>::max();
  for (const Region &box : {Region{0, 0, kMost, kMost}, {kMost, -kMost, kMost, 1}})
    EXPECT_EQ(around_turned(box, 0.8).width > 0, true);
  EXPECT_EQ(around_turned({5, 6, 0, 9}, 0.8), (Region{5, 6, 0, 9}));
}

#if CUDAVISION_HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
TEST_F(FilterTurnedBox, the_boxes_of_a_frame_are_those_around_its_turned_detections) {
  const Owned<GstBuffer> buffer(gst_buffer_new());
  GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  const std::vector<float> angles = {0, 0.3f, 1.5707964f, std::numeric_limits<float>::quiet_NaN()};
  for (const float angle : angles) {
    GstAnalyticsODMtd added;
    ASSERT_TRUE(gst_analytics_relation_meta_add_oriented_od_mtd(relations, g_quark_from_string("person"), 100,
                                                                50, 40, 20, angle, 0.5f, &added));
  }
  std::vector<cudavision::AttachedBox> boxes;
  cudavision::collect_boxes(buffer.get(), cudavision::StopFlag(), &boxes);
  ASSERT_EQ(boxes.size(), angles.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Region around = around_turned({100, 50, 40, 20}, static_cast<double>(angles[i]));
    EXPECT_EQ(boxes[i].x, around.x) << angles[i];
    EXPECT_EQ(boxes[i].y, around.y) << angles[i];
    EXPECT_EQ(boxes[i].width, around.width) << angles[i];
    EXPECT_EQ(boxes[i].height, around.height) << angles[i];
    EXPECT_EQ(boxes[i].score, 0.5);
  }
}
#endif

}  // namespace
