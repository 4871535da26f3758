// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/elements/track_harness.h"

namespace cudavision::test {

const VideoFrame &track_picture() {
  static const VideoFrame frame("GRAY8", {64, 48});
  return frame;
}

TrackHarness::TrackHarness(const std::string &properties, int frames_a_second)
    : harness_(gst_harness_new_parse(("cudavisiontrack " + properties).c_str())) {
  gst_harness_set_src_caps(harness_, track_picture().caps().release());
  follow(frames_a_second);
}

void TrackHarness::follow(int frames_a_second) {
  Owned<GstCaps> caps = track_picture().caps();
  gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, frames_a_second, 1, nullptr);
  EXPECT_TRUE(gst_harness_push_event(harness_, gst_event_new_caps(caps.get())));
}

Owned<GstBuffer> TrackHarness::exchange_at(GstClockTime pts, Owned<GstBuffer> buffer) {
  GST_BUFFER_PTS(buffer.get()) = pts;
  EXPECT_EQ(gst_harness_push(harness_, buffer.release()), GST_FLOW_OK);
  return Owned<GstBuffer>(gst_harness_pull(harness_));
}

Owned<GstBuffer> TrackHarness::exchange(Owned<GstBuffer> buffer) {
  const GstClockTime now = time_;
  time_ += 40 * GST_MSECOND;
  return exchange_at(now, std::move(buffer));
}

std::vector<std::optional<Estimate>> TrackHarness::track(const std::vector<Box> &boxes, const char *type) {
  const Owned<GstBuffer> out = exchange(frame_with(boxes, type));
  std::vector<std::optional<Estimate>> estimates;
  for (GstVideoRegionOfInterestMeta *region : regions_of(out)) estimates.push_back(estimate_of(region));
  return estimates;
}

guint64 TrackHarness::id_at(GstClockTime pts, const Box &box) {
  const std::vector<guint64> ids = ids_of(exchange_at(pts, frame_with({box})));
  return ids.empty() ? 0 : ids[0];
}

GstVideoRegionOfInterestMeta *add_region(GstBuffer *buffer, const Box &box, const char *type, gint id) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      buffer, type, static_cast<guint>(static_cast<gint>(box.x)),
      static_cast<guint>(static_cast<gint>(box.y)), static_cast<guint>(box.width),
      static_cast<guint>(box.height));
  region->id = id;
  return region;
}

void add_track(GstBuffer *buffer, const Box &box, guint64 track, const char *type) {
  gst_video_region_of_interest_meta_add_param(
      add_region(buffer, box, type), gst_structure_new("tracking", "id", G_TYPE_UINT64, track, nullptr));
}

GstStructure *tracking(const Box &estimate, guint64 track, const std::array<double, 2> &velocity) {
  return gst_structure_new("tracking", "id", G_TYPE_UINT64, track, "x", G_TYPE_DOUBLE, estimate.x, "y",
                           G_TYPE_DOUBLE, estimate.y, "width", G_TYPE_DOUBLE, estimate.width, "height",
                           G_TYPE_DOUBLE, estimate.height, "velocity-x", G_TYPE_DOUBLE, velocity[0],
                           "velocity-y", G_TYPE_DOUBLE, velocity[1], nullptr);
}

void add_partial_look(GstBuffer *buffer, const char *type) {
  GstCustomMeta *note = gst_buffer_add_custom_meta(buffer, "GstCudaVisionNoteMeta");
  ASSERT_NE(note, nullptr);
  gst_structure_set(gst_custom_meta_get_structure(note), "partial-look", G_TYPE_STRING, type, nullptr);
}

Owned<GstBuffer> frame_with(const std::vector<Box> &boxes, const char *type) {
  Owned<GstBuffer> buffer = track_picture().buffer();
  for (const Box &box : boxes) add_region(buffer.get(), box, type);
  return buffer;
}

std::vector<GstVideoRegionOfInterestMeta *> regions_of(const Owned<GstBuffer> &buffer) {
  std::vector<GstVideoRegionOfInterestMeta *> regions;
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer.get(), &state,
                                                          GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    regions.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta));
  return regions;
}

std::optional<Estimate> estimate_of(GstVideoRegionOfInterestMeta *region) {
  const GstStructure *tracking = gst_video_region_of_interest_meta_get_param(region, "tracking");
  if (tracking == nullptr) return {};
  Estimate e{};
  EXPECT_TRUE(gst_structure_get(tracking, "id", G_TYPE_UINT64, &e.id, "x", G_TYPE_DOUBLE, &e.box.x, "y",
                                G_TYPE_DOUBLE, &e.box.y, "width", G_TYPE_DOUBLE, &e.box.width, "height",
                                G_TYPE_DOUBLE, &e.box.height, nullptr));
  return e;
}

std::vector<guint64> ids_of(const Owned<GstBuffer> &buffer) {
  std::vector<guint64> ids;
  for (GstVideoRegionOfInterestMeta *region : regions_of(buffer)) {
    const GstStructure *tracking = gst_video_region_of_interest_meta_get_param(region, "tracking");
    guint64 id = 0;
    if (tracking != nullptr && gst_structure_get_uint64(tracking, "id", &id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace cudavision::test
