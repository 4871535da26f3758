// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches the moving parts of the picture to a frame, as regions of interest and object detections.
#include "gst/bgsub/motion_regions.h"

#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>

#include "gst/base/results/analytics.h"
#include "gst/meta/free_ids.h"

namespace cudavision {
namespace {

constexpr char kType[] = "motion";

// Attaches a region with its area in pixels and its share of the analysed region. Returns false if there is no memory.
bool add_region(const Job &job, const ConnectedComponent &c, gint id) {
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      job.buffer, kType, static_cast<guint>(job.region.x + c.box.x),
      static_cast<guint>(job.region.y + c.box.y), static_cast<guint>(c.box.width),
      static_cast<guint>(c.box.height));
  if (region == nullptr) return false;
  region->id = id;
  const double pixels = static_cast<double>(job.region.width) * job.region.height;
  gst_video_region_of_interest_meta_add_param(
      region,
      gst_structure_new(kType, "area", G_TYPE_INT, c.area, "share", G_TYPE_DOUBLE, c.area / pixels, nullptr));
  return true;
}

}  // namespace

Status attach_motion(const Job &job, const ConnectedComponent *components, int count) {
  FreeIds ids(job.buffer);
  bool ok = gst_cuda_vision_buffer_mark_analysed(job.buffer, kType, static_cast<guint>(count), nullptr);
  for (int i = 0; i < count && ok; ++i) ok = add_region(job, components[i], ids.next());
  if (!ok) return invalid_argument("the regions that move could not be attached");
  const GQuark type = g_quark_from_static_string(kType);
  return attach_detections(job.buffer, count, [&](int i) {
    const Region &box = components[i].box;
    return Detection{0, type, job.region.x + box.x, job.region.y + box.y, box.width, box.height, 1};
  });
}

}  // namespace cudavision
