// SPDX-License-Identifier: LGPL-2.1-or-later
// roi-type: which regions of a frame are analysed.
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gst/base/results/roi_gate.h"
#include "tests/elements/harness.h"

namespace {

using namespace cudavision::test;
using cudavision::Region;
using cudavision::RoiGate;

class FilterRoiGate : public ElementTest {
 protected:
  struct Box {
    const char *type;
    Region region;
  };
  static Region intersection(const Region &a, const Region &b) {
    const int x = std::max(a.x, b.x), y = std::max(a.y, b.y);
    return {x, y, std::min(a.x + a.width, b.x + b.width) - x, std::min(a.y + a.height, b.y + b.height) - y};
  }
  // The regions of a frame of 100x80 pixels with these boxes.
  std::vector<Region> regions(const std::vector<Box> &boxes, const std::string &type, int margin = 0,
                              const Region &roi = {0, 0, 100, 80}) {
    const Owned<GstBuffer> buffer(gst_buffer_new());
    for (const Box &box : boxes)
      gst_buffer_add_video_region_of_interest_meta(
          buffer.get(), box.type, static_cast<guint>(box.region.x), static_cast<guint>(box.region.y),
          static_cast<guint>(box.region.width), static_cast<guint>(box.region.height));
    cudavision::Job job{};
    job.execution.stop = &stop_;
    job.frame.width = 100, job.frame.height = 80;
    job.region = roi;
    job.buffer = buffer.get();
    EXPECT_TRUE(gate_.find(job, type, margin).ok());
    EXPECT_FALSE(gate_.is_open());
    std::vector<Region> found;
    for (const cudavision::GatedRegion &gated : gate_.regions()) {
      found.push_back(gated.with_margin);
      const Region &inner = gated.region;
      EXPECT_EQ(gated.with_margin, intersection({inner.x - margin, inner.y - margin, inner.width + 2 * margin,
                                                 inner.height + 2 * margin},
                                                {0, 0, roi.width, roi.height}));
    }
    std::sort(found.begin(), found.end(),
              [](const Region &a, const Region &b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); });
    return found;
  }

  cudavision::StopFlag stop_;
  RoiGate gate_;
};

TEST_F(FilterRoiGate, only_the_type_counts_and_without_one_the_gate_is_open) {
  const std::vector<Box> boxes = {{"car", {1, 2, 3, 4}}, {"motion", {10, 10, 5, 6}}};
  EXPECT_EQ(regions(boxes, "motion"), (std::vector<Region>{{10, 10, 5, 6}}));
  EXPECT_EQ(regions(boxes, "*"), (std::vector<Region>{{1, 2, 3, 4}, {10, 10, 5, 6}}));
  EXPECT_EQ(regions(boxes, "bus"), (std::vector<Region>{}));
  EXPECT_EQ(regions(boxes, ""), (std::vector<Region>{}));
  cudavision::Job job{};
  EXPECT_TRUE(gate_.find(job, std::nullopt).ok());
  EXPECT_TRUE(gate_.is_open());
  EXPECT_TRUE(gate_.regions().empty());
}

TEST_F(FilterRoiGate, regions_are_those_of_the_region_of_interest_with_their_margins) {
  const Region roi{20, 10, 50, 40};
  const auto with_margin = [&](const Region &box, int margin) {
    return regions({{"motion", box}}, "motion", margin, roi);
  };
  EXPECT_EQ(with_margin({30, 20, 5, 6}, 0), (std::vector<Region>{{10, 10, 5, 6}}));
  EXPECT_EQ(with_margin({30, 20, 5, 6}, 4), (std::vector<Region>{{6, 6, 13, 14}}));
  EXPECT_EQ(with_margin({0, 0, 100, 80}, 4), (std::vector<Region>{{0, 0, 50, 40}}));
  EXPECT_EQ(with_margin({22, 12, 5, 6}, 4), (std::vector<Region>{{0, 0, 11, 12}}));
  EXPECT_EQ(with_margin({65, 45, 5, 5}, 3), (std::vector<Region>{{42, 32, 8, 8}}));
  EXPECT_EQ(with_margin({15, 20, 5, 5}, 3), (std::vector<Region>{})) << "beside the region of interest";
  EXPECT_EQ(with_margin({95, 75, 50, 50}, 0), (std::vector<Region>{}));
}

TEST_F(FilterRoiGate, overlapping_regions_become_one) {
  const Box a{"motion", {10, 10, 10, 10}}, b{"motion", {19, 19, 5, 5}}, c{"motion", {40, 10, 10, 10}},
      beside{"motion", {20, 10, 5, 5}};
  EXPECT_EQ(regions({a, b, c}, "motion"), (std::vector<Region>{{10, 10, 14, 14}, {40, 10, 10, 10}}));
  EXPECT_EQ(regions({a, beside}, "motion").size(), 2u) << "they only touch";
  EXPECT_EQ(regions({a, beside}, "motion", 1), (std::vector<Region>{{9, 9, 17, 12}}));
  // One that reaches both of two others joins all three.
  EXPECT_EQ(regions({a, c, {"motion", {15, 15, 30, 30}}}, "motion"), (std::vector<Region>{{10, 10, 40, 35}}));
}

TEST_F(FilterRoiGate, the_number_of_regions_is_bounded_and_none_is_lost) {
  std::vector<Box> boxes;
  for (int y = 0; y < 80; y += 4)
    for (int x = 0; x < 100; x += 4) boxes.push_back({"motion", {x, y, 2, 2}});
  const std::vector<Region> found = regions(boxes, "motion");
  EXPECT_LE(found.size(), static_cast<std::size_t>(RoiGate::kMostRegions));
  for (const Box &box : boxes) {
    const Region &b = box.region;
    EXPECT_EQ(std::count_if(found.begin(), found.end(),
                            [&](const Region &r) {
                              return b.x >= r.x && b.y >= r.y && b.x + b.width <= r.x + r.width &&
                                     b.y + b.height <= r.y + r.height;
                            }),
              1)
        << b.x << ", " << b.y;
  }
}

TEST_F(FilterRoiGate, a_stop_ends_the_search_for_regions) {
  stop_.request(cudavision::StopReason::flush);
  const Owned<GstBuffer> buffer(gst_buffer_new());
  cudavision::Job job{};
  job.execution.stop = &stop_;
  job.buffer = buffer.get();
  EXPECT_EQ(gate_.find(job, "motion").code(), cudavision::Status::Code::stopped);
}

}  // namespace
