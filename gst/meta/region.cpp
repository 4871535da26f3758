// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's regions of interest as a list of values.
#include <gst/cudavision/region.h>

#include "gst/meta/reading.h"

namespace {

// An element of the array that gst_cuda_vision_buffer_get_regions_bytes() documents.
struct PackedRegion {
  gint32 x, y;
  guint32 width, height;
  gint32 id, parent_id;
  gdouble score;
  guint64 track_id;
  gchar type[64];
};
static_assert(sizeof(PackedRegion) == 104);

PackedRegion packed(const GstCudaVisionRegion &region) {
  PackedRegion packed = {region.x,      region.y,        region.width,
                         region.height, region.id,       region.parent_id,
                         region.score,  region.track_id, {}};
  g_strlcpy(packed.type, region.type != nullptr ? region.type : "", sizeof packed.type);
  cudavision::drop_half_character(packed.type);
  return packed;
}

GstCudaVisionRegion values_of(const GstVideoRegionOfInterestMeta &meta) {
  const cudavision::RegionReading region = cudavision::reading_of(meta);
  return {region.type,    region.x,         region.y,
          region.width,   region.height,    meta.id,
          meta.parent_id, region.score,     region.track_id.value_or(0),
          region.label,   region.predicted, region.track_id.has_value()};
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
  auto *copy = static_cast<GstCudaVisionRegion *>(g_memdup2(region, sizeof *region));
  copy->label = g_strdup(region->label);
  return copy;
}

void gst_cuda_vision_region_free(GstCudaVisionRegion *region) {
  if (region == nullptr) return;
  g_free(const_cast<char *>(region->label));
  g_free(region);
}

// Returns a GList, because PyGObject takes ownership of its items one by one and then frees the list itself.
GList *gst_cuda_vision_buffer_get_regions(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  GList *regions = nullptr;
  cudavision::for_each_region(buffer, [&](const GstVideoRegionOfInterestMeta &meta) {
    const GstCudaVisionRegion region = values_of(meta);
    regions = g_list_prepend(regions, gst_cuda_vision_region_copy(&region));
  });
  return g_list_reverse(regions);
}

GBytes *gst_cuda_vision_buffer_get_regions_bytes(GstBuffer *buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), nullptr);
  GByteArray *regions = g_byte_array_new();
  cudavision::for_each_region(buffer, [&](const GstVideoRegionOfInterestMeta &meta) {
    const PackedRegion all = packed(values_of(meta));
    g_byte_array_append(regions, reinterpret_cast<const guint8 *>(&all), sizeof all);
  });
  return g_byte_array_free_to_bytes(regions);
}
