// SPDX-License-Identifier: LGPL-2.1-or-later
// The detector's score of a region of interest, and the id of its track.
#pragma once

#include <gst/video/gstvideometa.h>

#include <limits>

namespace cudavision {

// The field "confidence" of the structure "detection"; NaN if the region has none.
inline double score_of(GstVideoRegionOfInterestMeta *region) {
  double score = std::numeric_limits<double>::quiet_NaN();
  const GstStructure *detection = gst_video_region_of_interest_meta_get_param(region, "detection");
  if (detection != nullptr) gst_structure_get_double(detection, "confidence", &score);
  return score;
}

// The field "id" of the structure "tracking"; 0 if the region has none.
inline guint64 track_of(GstVideoRegionOfInterestMeta *region) {
  guint64 id = 0;
  const GstStructure *tracking = gst_video_region_of_interest_meta_get_param(region, "tracking");
  if (tracking != nullptr) gst_structure_get_uint64(tracking, "id", &id);
  return id;
}

}  // namespace cudavision
