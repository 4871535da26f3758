// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's regions of interest as a list of values.
#include <gst/cudavision/region.h>

#include "gst/meta/region_params.h"

namespace {

GstCudaVisionRegion *region_of(GstVideoRegionOfInterestMeta *meta) {
  const GstCudaVisionRegion region{g_quark_to_string(meta->roi_type),
                                   meta->x,
                                   meta->y,
                                   meta->w,
                                   meta->h,
                                   meta->id,
                                   meta->parent_id,
                                   cudavision::score_of(meta),
                                   cudavision::track_of(meta)};
  return gst_cuda_vision_region_copy(&region);
}

}  // namespace

GType gst_cuda_vision_region_get_type() {
  static const GType type = g_boxed_type_register_static(
      "GstCudaVisionRegion", reinterpret_cast<GBoxedCopyFunc>(gst_cuda_vision_region_copy),
      reinterpret_cast<GBoxedFreeFunc>(gst_cuda_vision_region_free));
  return type;
}

GstCudaVisionRegion *gst_cuda_vision_region_copy(const GstCudaVisionRegion *region) {
  g_return_val_if_fail(region != nullptr, nullptr);
  return static_cast<GstCudaVisionRegion *>(g_memdup2(region, sizeof *region));
}

void gst_cuda_vision_region_free(GstCudaVisionRegion *region) { g_free(region); }

// A GList, whose items PyGObject takes over one by one: nothing but the list itself is left to release.
GList *gst_cuda_vision_buffer_get_regions(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  GList *regions = nullptr;
  gpointer state = nullptr;
  while (GstMeta *meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
    regions = g_list_prepend(regions, region_of(reinterpret_cast<GstVideoRegionOfInterestMeta *>(meta)));
  return g_list_reverse(regions);
}
