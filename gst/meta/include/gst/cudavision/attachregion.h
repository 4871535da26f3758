// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of interest of one's own detector, and the mark that it has looked at a frame.
#pragma once

#include <gst/cudavision/prelude.h>

G_BEGIN_DECLS

/**
 * gst_cuda_vision_buffer_add_region:
 * @buffer: (transfer none): a writable #GstBuffer
 * @type: what the region shows, for example "person"
 * @x: the column of the region's top left pixel; negative if the region begins left of the frame
 * @y: the row of the region's top left pixel; negative if the region begins above the frame
 * @width: in pixels
 * @height: in pixels
 * @score: the detector's score; NaN if there is none
 * @label: (nullable): a text about this one object, for example a name, which cudavisionoverlay writes in place of @type
 * @id: identifies the region among those of its frame; 0 or less chooses an id from 1 on that no other region has
 * @error: the reason of a failure
 *
 * Attaches a box of one's own detector to a frame, as a #GstVideoRegionOfInterestMeta. The elements of gst-cudavision treat it as a
 * box of cudahog: they track it, draw it, write it and remove what it shows. The frame is also marked as analysed for @type, with
 * one more result (gst_cuda_vision_buffer_mark_analysed()).
 *
 * In a pad probe, call gst_cuda_vision_probe_add_region() instead.
 *
 * Returns: %TRUE, or %FALSE after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_buffer_add_region(GstBuffer *buffer, const gchar *type, gint x, gint y, guint width,
                                           guint height, gdouble score, const gchar *label, gint id,
                                           GError **error);

/**
 * gst_cuda_vision_buffer_remove_regions:
 * @buffer: (transfer none): a writable #GstBuffer
 * @type: (nullable): the type of the regions; %NULL: all regions
 * @error: the reason of a failure
 *
 * Removes regions of interest from a frame, whoever attached them. Object detections of GstAnalytics and marks of
 * gst_cuda_vision_buffer_mark_analysed() stay.
 *
 * In a pad probe, call gst_cuda_vision_probe_remove_regions() instead.
 *
 * Returns: the number of regions that were removed, or -1 after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint gst_cuda_vision_buffer_remove_regions(GstBuffer *buffer, const gchar *type, GError **error);

/**
 * gst_cuda_vision_buffer_mark_analysed:
 * @buffer: (transfer none): a writable #GstBuffer
 * @type: (nullable): the type of objects that a detector has looked for; %NULL: objects of all types
 * @n_results: how many it has attached, beside those that gst_cuda_vision_buffer_add_region() has counted; often 0
 * @error: the reason of a failure
 *
 * Marks a frame as analysed. The mark tells a frame in which a detector has found nothing from one at which it has not
 * looked: cudavisiontrack attaches predictions to the latter, once the stream has marked frames. So a detector that does not look
 * at every frame calls this function for each frame at which it looks, also and above all if it has found nothing. A frame can be
 * marked for several types, and several times for one type; the results are added up. cudahog marks frames itself.
 *
 * The mark is a #GstMeta with the API type "GstCudaVisionAnalysisMetaAPI". Elements that copy or scale frames keep it.
 *
 * In a pad probe, call gst_cuda_vision_probe_mark_analysed() instead.
 *
 * Returns: %TRUE, or %FALSE after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_buffer_mark_analysed(GstBuffer *buffer, const gchar *type, guint n_results,
                                              GError **error);

/**
 * gst_cuda_vision_buffer_get_n_results:
 * @buffer: (transfer none): a #GstBuffer
 * @type: (nullable): the type of objects; %NULL: any type
 *
 * Reads the marks of gst_cuda_vision_buffer_mark_analysed(). A mark for all types counts for each type.
 *
 * Returns: how many results the detectors have attached that looked for objects of the type; -1 if none has looked for them, or
 * has marked the frame
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint64 gst_cuda_vision_buffer_get_n_results(GstBuffer *buffer, const gchar *type);

/**
 * gst_cuda_vision_probe_add_region:
 * @info: the second argument of a #GstPadProbeCallback that was added with %GST_PAD_PROBE_TYPE_BUFFER
 * @type: as of gst_cuda_vision_buffer_add_region()
 * @x: as of gst_cuda_vision_buffer_add_region()
 * @y: as of gst_cuda_vision_buffer_add_region()
 * @width: in pixels
 * @height: in pixels
 * @score: the detector's score; NaN if there is none
 * @label: (nullable): as of gst_cuda_vision_buffer_add_region()
 * @id: as of gst_cuda_vision_buffer_add_region()
 * @error: the reason of a failure
 *
 * Does the work of gst_cuda_vision_buffer_add_region() in a pad probe. The frame may be in use elsewhere: then a writable copy of its
 * buffer, which shares its pixels, takes its place in @info. A buffer that was read from @info before stays as it was. In Python
 * this is the only way, since Python's own reference makes a buffer read-only.
 *
 * Returns: %TRUE, or %FALSE after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_probe_add_region(GstPadProbeInfo *info, const gchar *type, gint x, gint y,
                                          guint width, guint height, gdouble score, const gchar *label,
                                          gint id, GError **error);

/**
 * gst_cuda_vision_probe_remove_regions:
 * @info: the second argument of a #GstPadProbeCallback that was added with %GST_PAD_PROBE_TYPE_BUFFER
 * @type: (nullable): the type of the regions; %NULL: all regions
 * @error: the reason of a failure
 *
 * Does the work of gst_cuda_vision_buffer_remove_regions() in a pad probe, as gst_cuda_vision_probe_add_region() does.
 *
 * Returns: the number of regions that were removed, or -1 after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gint gst_cuda_vision_probe_remove_regions(GstPadProbeInfo *info, const gchar *type, GError **error);

/**
 * gst_cuda_vision_probe_mark_analysed:
 * @info: the second argument of a #GstPadProbeCallback that was added with %GST_PAD_PROBE_TYPE_BUFFER
 * @type: (nullable): the type of objects that a detector has looked for; %NULL: objects of all types
 * @n_results: as of gst_cuda_vision_buffer_mark_analysed()
 * @error: the reason of a failure
 *
 * Does the work of gst_cuda_vision_buffer_mark_analysed() in a pad probe, as gst_cuda_vision_probe_add_region() does.
 *
 * Returns: %TRUE, or %FALSE after an error
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
gboolean gst_cuda_vision_probe_mark_analysed(GstPadProbeInfo *info, const gchar *type, guint n_results,
                                             GError **error);

/**
 * gst_cuda_vision_analysis_meta_api_get_type: (skip)
 *
 * Registers the marks with GStreamer, which a process needs to receive them from another one.
 *
 * Returns: the API #GType of the marks of gst_cuda_vision_buffer_mark_analysed()
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_analysis_meta_api_get_type(void);

G_END_DECLS
