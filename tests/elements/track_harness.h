// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends frames with boxes through cudavisiontrack, and reads the identities that it gives.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/elements/harness.h"

namespace cudavision::test {

struct Box {
  double x, y, width, height;
};
struct Estimate {
  guint64 id;
  Box box;
};

// A test for each method of cudavisiontrack.
class TrackMethodTest : public ElementTest, public testing::WithParamInterface<std::string> {
 protected:
  bool is_sort() const { return GetParam() == "sort"; }
  std::string with_method(const std::string &properties) const {
    return "method=" + GetParam() + ' ' + properties;
  }
};

// 64x48 pixels.
const VideoFrame &track_picture();

// The element, in a stream of frames of 64x48 pixels, 40 ms apart.
class TrackHarness {
 public:
  // frames_a_second: by the caps; 0 for a variable rate.
  explicit TrackHarness(const std::string &properties = "", int frames_a_second = 0);
  TrackHarness(const TrackHarness &) = delete;
  TrackHarness &operator=(const TrackHarness &) = delete;
  ~TrackHarness() { gst_harness_teardown(harness_); }

  GstHarness *get() const { return harness_; }
  GstClockTime &time() { return time_; }
  // The caps have this rate from the next frame on.
  void follow(int frames_a_second);

  Owned<GstBuffer> exchange(Owned<GstBuffer> buffer);
  // Like exchange(), with this timestamp.
  Owned<GstBuffer> exchange_at(GstClockTime pts, Owned<GstBuffer> buffer);
  // The estimates of the boxes whose tracks are confirmed, in the order of the boxes.
  std::vector<std::optional<Estimate>> track(const std::vector<Box> &boxes, const char *type = "person");
  // The id of the only box; 0 if it has none.
  guint64 id_at(GstClockTime pts, const Box &box);

 private:
  GstHarness *harness_;
  GstClockTime time_ = 0;
};

GstVideoRegionOfInterestMeta *add_region(GstBuffer *buffer, const Box &box, const char *type, gint id = 0);
// A region with the id of a track.
void add_track(GstBuffer *buffer, const Box &box, guint64 track, const char *type = "person");
// The parameter of a region that cudavisiontrack attaches; the velocity is in pixels a second.
GstStructure *tracking(const Box &estimate, guint64 track, const std::array<double, 2> &velocity);
// Notes that a detector has looked at a part of the frame. An element that reads such notes must have been made before.
void add_partial_look(GstBuffer *buffer, const char *type = "person");
Owned<GstBuffer> frame_with(const std::vector<Box> &boxes, const char *type = "person");
std::vector<GstVideoRegionOfInterestMeta *> regions_of(const Owned<GstBuffer> &buffer);
std::optional<Estimate> estimate_of(GstVideoRegionOfInterestMeta *region);
// The ids of all regions that have one, in the order of the regions.
std::vector<guint64> ids_of(const Owned<GstBuffer> &buffer);

}  // namespace cudavision::test
