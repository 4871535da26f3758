// SPDX-License-Identifier: LGPL-2.1-or-later
// The regions of interest of a frame, which are GStreamer's own metas, as values.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

typedef struct _GstCudaVisionRegion GstCudaVisionRegion;

/**
 * GstCudaVisionRegion:
 * @type: (nullable): what the region shows, for example "person"; valid until the process ends
 * @x: the column of the region's top left pixel; negative if the region begins left of the frame
 * @y: the row of the region's top left pixel; negative if the region begins above the frame
 * @width: in pixels
 * @height: in pixels
 * @id: identifies the region among those of its frame, if the element that attached it has set an id
 * @parent_id: the @id of the region that contains this one
 * @score: the detector's score, which is the field "confidence" of the parameter "detection"; NaN if there is none
 * @track_id: the id of the object over time, which is the field "id" of the parameter "tracking" (cudavisiontrack);
 * 0 also if there is none: see @has_track. Since 0.3
 * @label: (nullable): a text about this one object, which is the field "label" of the parameter "detection". Since 0.3
 * @predicted: %TRUE if this is a prediction of cudavisiontrack on a frame at which no detector has looked; this is the
 * field "predicted" of the parameter "tracking". Since 0.3
 * @has_track: %TRUE if there is a @track_id. Since 0.4
 *
 * A copy of the values of a #GstVideoRegionOfInterestMeta. Only the library makes such structs, so later versions may
 * add members at the end. @x and @y are signed since 0.3; those of a #GstVideoRegionOfInterestMeta are unsigned.
 *
 * The elements of gst-cudavision number their regions from 1 on, so that a @parent_id of 0 means that there
 * is no parent. Other elements may give all their regions the @id 0.
 *
 * Since: 0.2
 */
struct _GstCudaVisionRegion {
  const gchar *type;
  gint x;
  gint y;
  guint width;
  guint height;
  gint id;
  gint parent_id;
  gdouble score;
  guint64 track_id;
  const gchar *label;
  gboolean predicted;
  gboolean has_track;
};

/**
 * GST_CUDA_VISION_TYPE_REGION: (skip)
 *
 * The boxed #GType of #GstCudaVisionRegion.
 *
 * Since: 0.2
 */
#define GST_CUDA_VISION_TYPE_REGION (gst_cuda_vision_region_get_type())

/**
 * gst_cuda_vision_region_get_type:
 *
 * Registers the boxed type with GObject.
 *
 * Returns: the boxed #GType of #GstCudaVisionRegion
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_region_get_type(void);

/**
 * gst_cuda_vision_region_copy:
 * @region: (transfer none): a #GstCudaVisionRegion
 *
 * Copies a region and its @label. Its @type is not copied: it belongs to the process.
 *
 * Returns: (transfer full): a copy, to be released with gst_cuda_vision_region_free()
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
GstCudaVisionRegion *gst_cuda_vision_region_copy(const GstCudaVisionRegion *region);

/**
 * gst_cuda_vision_region_free: (skip)
 * @region: (transfer full) (nullable): a #GstCudaVisionRegion
 *
 * Releases a region. Bindings do so themselves.
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
void gst_cuda_vision_region_free(GstCudaVisionRegion *region);

/**
 * gst_cuda_vision_buffer_get_regions:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Reads all #GstVideoRegionOfInterestMeta of a frame, whichever element attached them. The values stay valid after the
 * buffer is gone. In C, release them with `g_list_free_full (regions, (GDestroyNotify) gst_cuda_vision_region_free)`.
 *
 * Returns: (transfer full) (element-type GstCudaVisionRegion) (nullable): the regions, in the order in which
 * they were attached; %NULL, which is the empty list, if there are none
 *
 * Since: 0.2
 */
GST_CUDA_VISION_API
GList *gst_cuda_vision_buffer_get_regions(GstBuffer *buffer);

/**
 * gst_cuda_vision_buffer_get_regions_bytes:
 * @buffer: (transfer none): a #GstBuffer
 *
 * Gets the regions of gst_cuda_vision_buffer_get_regions() as an array of structs of 104 bytes, without gaps, in the
 * byte order of the machine: `gint32 x, y; guint32 width, height; gint32 id, parent_id; gdouble score; guint64
 * track_id; gchar type[64]`. The last byte of the type is 0.
 *
 * Returns: (transfer full): the array, which is empty if there are no regions
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GBytes *gst_cuda_vision_buffer_get_regions_bytes(GstBuffer *buffer);

G_END_DECLS
