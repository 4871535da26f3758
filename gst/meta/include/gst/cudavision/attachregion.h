// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches regions of interest of an application's own detector, and marks frames at which the detector has looked.
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
 * @label: (nullable): a text about this one object, for example a name, which cudavisionoverlay writes instead of @type
 * @id: identifies the region among those of its frame; 0 or less chooses an id from 1 on that no other region has
 * @error: the reason of a failure
 *
 * Attaches a box of one's own detector to a frame, as a #GstVideoRegionOfInterestMeta. The elements of gst-cudavision
 * treat it like a box of cudahog: they track it, draw it, write it, and remove from the picture what it shows. The
 * frame is also marked as analysed for @type, with one more result (gst_cuda_vision_buffer_mark_analysed()).
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
 * @n_results: how many results it has attached, not counting those of gst_cuda_vision_buffer_add_region(); often 0
 * @error: the reason of a failure
 *
 * Marks a frame as analysed. The mark tells that a detector has looked at the frame, even if it has found nothing. Once
 * a stream has had a mark, cudavisiontrack attaches predictions to frames without one. So a detector that skips frames
 * calls this function for each frame at which it looks, above all if it has found nothing. A frame can be marked for
 * several types, and several times for one type; the results are added up. cudahog marks frames itself.
 *
 * The mark is a #GstCustomMeta of the name "GstCudaVisionAnalysisMeta". Its structure has the fields "n-results"
 * (guint) and, unless it is for all types, "type" (a string). Elements that copy or scale frames keep it.
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
 * Returns: how many results were attached by the detectors that looked for objects of the type; -1 if no mark tells
 * that one has looked for them
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
 * Does the work of gst_cuda_vision_buffer_add_region() in a pad probe. If the buffer is in use elsewhere, a writable
 * copy, which shares the pixels, replaces it in @info; a buffer that was read from @info before does not change. In
 * Python this is the only way, because Python's own reference to a buffer makes it read-only.
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
 * Does the work of gst_cuda_vision_buffer_remove_regions() in a pad probe. See gst_cuda_vision_probe_add_region().
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
 * Does the work of gst_cuda_vision_buffer_mark_analysed() in a pad probe. See gst_cuda_vision_probe_add_region().
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
 * Registers the meta of the marks with GStreamer. A process calls this before it receives marks from another process.
 *
 * Returns: the API #GType of the marks of gst_cuda_vision_buffer_mark_analysed()
 *
 * Since: 0.3
 */
GST_CUDA_VISION_API
GType gst_cuda_vision_analysis_meta_api_get_type(void);

G_END_DECLS
