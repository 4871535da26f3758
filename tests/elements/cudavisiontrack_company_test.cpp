// SPDX-License-Identifier: LGPL-2.1-or-later
// cudavisiontrack beside detectors that skip frames, and beside other trackers.
#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/track_harness.h"

#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace {

using namespace cudavision::test;

class CudaVisionTrackCompany : public TrackMethodTest {};
INSTANTIATE_TEST_SUITE_P(, CudaVisionTrackCompany, testing::Values("buffered", "sort"),
                         [](const auto &method) { return method.param; });

// A frame at which a detector has looked for the type; null: for all types.
Owned<GstBuffer> looked(const std::vector<Box> &boxes, const char *type = "person") {
  Owned<GstBuffer> frame = frame_with(boxes);
  EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(frame.get(), type, 0, nullptr));
  return frame;
}
Owned<GstBuffer> skipped() { return frame_with({}); }

bool is_predicted(GstVideoRegionOfInterestMeta *region) {
  gboolean predicted = FALSE;
  const GstStructure *tracking = gst_video_region_of_interest_meta_get_param(region, "tracking");
  return tracking != nullptr && gst_structure_get_boolean(tracking, "predicted", &predicted) && predicted;
}

// --- detectors that skip frames ---

TEST_P(CudaVisionTrackCompany, boxes_are_predicted_where_nobody_looked) {
  TrackHarness track(with_method("min-hits=0"));
  for (int n = 0; n < 12; ++n) {
    const Box box{10.0 + n, 12, 20, 24};
    const Owned<GstBuffer> out = track.exchange(n % 3 == 0 ? looked({box}) : skipped());
    ASSERT_EQ(ids_of(out), std::vector<guint64>{1}) << n;
    GstVideoRegionOfInterestMeta *region = regions_of(out)[0];
    EXPECT_EQ(is_predicted(region), n % 3 != 0) << n;
    EXPECT_STREQ(g_quark_to_string(region->roi_type), "person");
    EXPECT_EQ(region->id, n % 3 != 0 ? 1 : 0) << n;
    if (n < 6) continue;  // the speed is known
    EXPECT_NEAR(region->x, box.x, 2) << n;
    EXPECT_NEAR(region->y, 12, 1) << n;
    EXPECT_NEAR(region->w, 20, 1) << n;
    EXPECT_NEAR(region->h, 24, 1) << n;
  }
}

TEST_P(CudaVisionTrackCompany, nothing_is_predicted_after_nothing_was_found) {
  TrackHarness track(with_method("min-hits=0"));
  EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))).size(), 1u);
  EXPECT_EQ(ids_of(track.exchange(skipped())).size(), 1u);
  EXPECT_EQ(regions_of(track.exchange(looked({}))).size(), 0u);
  EXPECT_EQ(regions_of(track.exchange(skipped())).size(), 0u);
  EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))), std::vector<guint64>{1});
  EXPECT_EQ(ids_of(track.exchange(skipped())), std::vector<guint64>{1});
}

// A detector with a region of interest and every-nth: the frames that it skips are not frames without objects.
TEST_P(CudaVisionTrackCompany, a_look_at_a_part_of_the_frame_is_a_look) {
  TrackHarness track(with_method("min-hits=0 max-age=3"));
  const auto in_part = [](const std::vector<Box> &boxes) {
    Owned<GstBuffer> frame = frame_with(boxes);
    add_partial_look(frame.get());
    return frame;
  };
  EXPECT_EQ(ids_of(track.exchange(in_part({{10, 10, 20, 20}}))), std::vector<guint64>{1});
  for (int n = 0; n < 3; ++n) EXPECT_EQ(ids_of(track.exchange(skipped())), std::vector<guint64>{1}) << n;
  for (int n = 0; n < 3; ++n) track.exchange(skipped());
  EXPECT_EQ(ids_of(track.exchange(in_part({{10, 10, 20, 20}}))), std::vector<guint64>{1});
  for (int n = 0; n < 4; ++n) EXPECT_EQ(regions_of(track.exchange(in_part({}))).size(), 0u) << n;
  EXPECT_EQ(ids_of(track.exchange(in_part({{10, 10, 20, 20}}))), std::vector<guint64>{2})
      << "not found 4 times";
}

TEST_P(CudaVisionTrackCompany, nothing_is_predicted_without_marks) {
  TrackHarness track(with_method("min-hits=0 max-age=3"));
  const std::vector<Box> box{{10, 10, 20, 20}};
  for (int n = 0; n < 9; ++n)
    EXPECT_EQ(regions_of(track.exchange(frame_with(n % 3 == 0 ? box : std::vector<Box>()))).size(),
              n % 3 == 0 ? 1u : 0u);
  for (int n = 0; n < 2; ++n) track.exchange(frame_with({}));
  EXPECT_EQ(track.track(box)[0]->id, 2u) << "frames without boxes and marks are frames without objects";
}

TEST_P(CudaVisionTrackCompany, predictions_end_at_max_age_and_the_id_stays) {
  for (const char *age : {"max-age=4", "max-age-time=160000000"}) {
    TrackHarness track(with_method(std::string("min-hits=0 ") + age));
    track.exchange(looked({{10, 10, 20, 20}}));
    for (int n = 1; n < 9; ++n)
      EXPECT_EQ(regions_of(track.exchange(skipped())).size(), n <= 4 ? 1u : 0u) << age << ' ' << n;
    EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))), std::vector<guint64>{1}) << age;
    for (int n = 0; n < 4; ++n) track.exchange(skipped());
    track.exchange(looked({}));
    EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))), std::vector<guint64>{2}) << age;
  }
}

TEST_P(CudaVisionTrackCompany, nobody_waits_forever_for_a_detector) {
  TrackHarness track(with_method("min-hits=0 max-age=4"));
  track.exchange(looked({{10, 10, 20, 20}}));
  for (int n = 0; n < 1001; ++n) track.exchange(skipped());
  EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))), std::vector<guint64>{2});
}

TEST_P(CudaVisionTrackCompany, marks_are_for_their_type) {
  TrackHarness track(with_method("min-hits=0"));
  const auto both = [](Owned<GstBuffer> frame) {
    add_region(frame.get(), {40, 10, 10, 10}, "car");
    EXPECT_TRUE(gst_cuda_vision_buffer_mark_analysed(frame.get(), "car", 1, nullptr));
    return frame;
  };
  EXPECT_EQ(ids_of(track.exchange(both(looked({{5, 10, 20, 20}})))), (std::vector<guint64>{1, 2}));
  EXPECT_EQ(ids_of(track.exchange(looked({}, "car"))), (std::vector<guint64>{1})) << "the car was not found";
  EXPECT_EQ(ids_of(track.exchange(skipped())), (std::vector<guint64>{1}));
  EXPECT_EQ(ids_of(track.exchange(both(skipped()))), (std::vector<guint64>{2, 1}))
      << "a found car, a predicted person";
  EXPECT_EQ(ids_of(track.exchange(looked({}, nullptr))), (std::vector<guint64>{}))
      << "nothing at all was found";
  EXPECT_EQ(ids_of(track.exchange(skipped())), (std::vector<guint64>{}));
}

// With min-hits=3 a track needs four boxes in succession, of the frames at which the detector looked.
TEST_P(CudaVisionTrackCompany, skipped_frames_do_not_interrupt_a_succession) {
  TrackHarness track(with_method(""));
  for (int n = 0; n < 12; ++n) track.exchange(n % 3 == 0 ? looked({}) : skipped());
  for (int n = 0; n < 18; ++n)
    EXPECT_EQ(ids_of(track.exchange(n % 3 == 0 ? looked({{10, 10, 20, 20}}) : skipped())).size(),
              n < 9 ? 0u : 1u)
        << n;
}

TEST_P(CudaVisionTrackCompany, predictions_outside_of_the_frame_are_not_attached) {
  TrackHarness track(with_method("min-hits=0 iou-threshold=0"));
  for (int n = 0; n < 4; ++n) track.exchange(looked({{10.0 + 10 * n, 10, 20, 20}}));
  EXPECT_EQ(regions_of(track.exchange(skipped())).size(), 1u);
  for (int n = 0; n < 20; ++n) track.exchange(skipped());
  EXPECT_EQ(regions_of(track.exchange(skipped())).size(), 0u);
}

TEST_P(CudaVisionTrackCompany, gaps_with_boxes_or_marks_are_frames) {
  TrackHarness track(with_method("min-hits=0 max-age=1"));
  const auto gap = [](Owned<GstBuffer> frame) {
    GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_GAP);
    return frame;
  };
  EXPECT_EQ(ids_of(track.exchange(gap(looked({{10, 10, 20, 20}})))), std::vector<guint64>{1});
  EXPECT_EQ(ids_of(track.exchange(gap(frame_with({{10, 10, 20, 20}})))), std::vector<guint64>{1});
  for (int n = 0; n < 2; ++n) track.exchange(gap(looked({})));
  EXPECT_EQ(ids_of(track.exchange(looked({{10, 10, 20, 20}}))), std::vector<guint64>{2});
}

TEST_P(CudaVisionTrackCompany, cudahog_marks_the_frames_at_which_it_looks) {
  GstHarness *harness = gst_harness_new_parse("cudahog model=people backend=cpu display=false every-nth=3");
  const VideoFrame gray("GRAY8", {64, 128});
  gst_harness_set_src_caps(harness, gray.caps().release());
  for (int n = 0; n < 6; ++n) {
    ASSERT_EQ(gst_harness_push(harness, gray.buffer().release()), GST_FLOW_OK);
    const Owned<GstBuffer> out(gst_harness_pull(harness));
    EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(out.get(), "person"), n % 3 == 0 ? 0 : -1) << n;
    EXPECT_EQ(gst_cuda_vision_buffer_get_n_results(out.get(), "car"), -1) << n;
  }
  gst_harness_teardown(harness);
}

#if CUDAVISION_HAVE_ANALYTICS
TEST_P(CudaVisionTrackCompany, predictions_have_the_form_of_the_boxes) {
  TrackHarness track(with_method("min-hits=0"));
  Owned<GstBuffer> buffer = track_picture().buffer();
  GstAnalyticsODMtd added;
  ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(buffer.get()),
                                                     g_quark_from_string("person"), 5, 6, 20, 20, 0.5f,
                                                     &added));
  ASSERT_TRUE(gst_cuda_vision_buffer_mark_analysed(buffer.get(), "person", 1, nullptr));
  track.exchange(std::move(buffer));
  const Owned<GstBuffer> out = track.exchange(skipped());
  EXPECT_EQ(regions_of(out).size(), 0u);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(out.get());
  ASSERT_NE(relations, nullptr);
  gpointer state = nullptr, related = nullptr;
  GstAnalyticsODMtd found;
  ASSERT_TRUE(
      gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found));
  GstAnalyticsTrackingMtd tracking;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(relations, found.id, GST_ANALYTICS_REL_TYPE_ANY,
                                                             gst_analytics_tracking_mtd_get_mtd_type(),
                                                             &related, &tracking));
  guint64 id = 0;
  GstClockTime first = 1, last = 1;
  gboolean lost = TRUE;
  ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost));
  EXPECT_EQ(id, 1u);
  EXPECT_EQ(last, 0u) << "it was last seen in the first frame";
}
#endif

// --- trackers in a row ---

constexpr guint64 kBlock = 1'000'000'000'000;  // each tracker gives ids from a block of this size

Owned<GstBuffer> through(GstHarness *harness, Owned<GstBuffer> frame) {
  EXPECT_EQ(gst_harness_push(harness, frame.release()), GST_FLOW_OK);
  return Owned<GstBuffer>(gst_harness_pull(harness));
}

Owned<GstBuffer> car_and_person() {
  Owned<GstBuffer> frame = frame_with({{5, 6, 7, 8}}, "car");
  add_region(frame.get(), {25, 6, 7, 8}, "person");
  return frame;
}

TEST_P(CudaVisionTrackCompany, trackers_in_a_row_never_give_the_same_id) {
  for (const char *between : {"", "queue !", "tee !", "identity !", "queue ! tee ! valve ! identity !"})
    for (int run = 0; run < 2; ++run) {
      GstHarness *harness = gst_harness_new_parse(
          (std::string("cudavisiontrack min-hits=0 type=person ! ") + between + " cudavisiontrack min-hits=0")
              .c_str());
      gst_harness_set_src_caps(harness, track_picture().caps().release());
      // The first tracker has no boxes yet.
      EXPECT_EQ(ids_of(through(harness, frame_with({{5, 6, 7, 8}}, "car"))),
                std::vector<guint64>{kBlock + 1});
      const Owned<GstBuffer> out = through(harness, car_and_person());
      EXPECT_EQ(ids_of(out), (std::vector<guint64>{kBlock + 1, 1}));
      for (GstVideoRegionOfInterestMeta *region : regions_of(out))
        EXPECT_EQ(g_list_length(region->params), 1u);
      gst_harness_teardown(harness);
    }
}

TEST_P(CudaVisionTrackCompany, third_tracker_has_ids_of_its_own) {
  GstHarness *harness = gst_harness_new_parse(
      "cudavisiontrack min-hits=0 type=a ! cudavisiontrack min-hits=0 type=b ! cudavisiontrack min-hits=0");
  gst_harness_set_src_caps(harness, track_picture().caps().release());
  Owned<GstBuffer> frame = frame_with({{25, 6, 7, 8}}, "a");
  for (const char *type : {"b", "c"}) add_region(frame.get(), {5, 6, 7, 8}, type);
  EXPECT_EQ(ids_of(through(harness, std::move(frame))),
            (std::vector<guint64>{1, kBlock + 1, 2 * kBlock + 1}));
  gst_harness_teardown(harness);
}

// The frames come from another process or another pipeline, so that no event tells of the tracker.
TEST_P(CudaVisionTrackCompany, ids_on_frames_tell_of_other_trackers) {
  TrackHarness track(with_method("min-hits=0"));
  EXPECT_EQ(track.id_at(0, {5, 6, 7, 8}), 1u);
  for (const guint64 foreign : {guint64{5}, guint64{7}, kBlock + 3, 2 * kBlock}) {
    Owned<GstBuffer> frame = car_and_person();
    gst_video_region_of_interest_meta_add_param(
        regions_of(frame)[1], gst_structure_new("tracking", "id", G_TYPE_UINT64, foreign, nullptr));
    const guint64 block = (foreign - 1) / kBlock + 1;
    const guint64 own = ids_of(track.exchange(std::move(frame)))[0];
    EXPECT_EQ((own - 1) / kBlock, std::max(block, guint64{1})) << foreign;
  }
}

TEST_P(CudaVisionTrackCompany, absurd_tellings_of_other_trackers_are_left_out) {
  TrackHarness track(with_method("min-hits=0"));
  for (GstStructure *told :
       {gst_structure_new("GstCudaVisionTrackers", "count", G_TYPE_UINT64, G_MAXUINT64, nullptr),
        gst_structure_new("GstCudaVisionTrackers", "count", G_TYPE_STRING, "many", nullptr),
        gst_structure_new_empty("GstCudaVisionTrackers")})
    EXPECT_TRUE(
        gst_harness_push_event(track.get(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, told)));
  Owned<GstBuffer> frame = car_and_person();
  gst_video_region_of_interest_meta_add_param(
      regions_of(frame)[1], gst_structure_new("tracking", "id", G_TYPE_UINT64, G_MAXUINT64 - 1, nullptr));
  EXPECT_EQ(ids_of(track.exchange(std::move(frame))), (std::vector<guint64>{1, G_MAXUINT64 - 1}));
}

// GStreamer's ioutracker begins with 0. Others write -1 where they have not given an id.
TEST_P(CudaVisionTrackCompany, ids_of_others_may_be_0_and_minus_1_is_none) {
  TrackHarness track(with_method("min-hits=0"));
  const auto params_behind = [&track](GType type, auto id) {
    Owned<GstBuffer> frame = frame_with({{5, 6, 7, 8}});
    gst_video_region_of_interest_meta_add_param(regions_of(frame)[0],
                                                gst_structure_new("tracking", "id", type, id, nullptr));
    return g_list_length(regions_of(track.exchange(std::move(frame)))[0]->params);
  };
  EXPECT_EQ(params_behind(G_TYPE_UINT64, guint64{0}), 1u);
  EXPECT_EQ(params_behind(G_TYPE_INT, 0), 1u);
  EXPECT_EQ(params_behind(G_TYPE_UINT64, G_MAXUINT64), 2u);
  EXPECT_EQ(params_behind(G_TYPE_INT64, gint64{-1}), 2u);
  EXPECT_EQ(params_behind(G_TYPE_INT, -1), 2u);
}

// A tracker in front is taken out: its sticky event is gone, and its ids were given.
TEST_P(CudaVisionTrackCompany, ids_stay_disjoint_when_a_tracker_is_taken_out) {
  TrackHarness track(with_method("min-hits=0"));
  EXPECT_TRUE(gst_harness_push_event(
      track.get(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
                                        gst_structure_new("GstCudaVisionTrackers", "count", G_TYPE_UINT64,
                                                          guint64{1}, nullptr))));
  EXPECT_EQ(track.track({{5, 6, 7, 8}})[0]->id, kBlock + 1);
  EXPECT_TRUE(gst_harness_push_event(track.get(), gst_event_new_stream_start("other")));
  gst_harness_set_src_caps(track.get(), track_picture().caps().release());
  EXPECT_EQ(track.track({{40, 6, 7, 8}})[0]->id, kBlock + 2);
}

TEST_P(CudaVisionTrackCompany, predictions_of_the_first_tracker_are_no_boxes_of_the_second) {
  GstHarness *harness = gst_harness_new_parse("cudavisiontrack min-hits=0 ! cudavisiontrack min-hits=0");
  gst_harness_set_src_caps(harness, track_picture().caps().release());
  for (int n = 0; n < 6; ++n)
    EXPECT_EQ(ids_of(through(harness, n % 3 == 0 ? looked({{10, 10, 20, 20}}) : skipped())),
              std::vector<guint64>{1})
        << n;
  gst_harness_teardown(harness);
}

}  // namespace
