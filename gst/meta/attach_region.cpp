// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches and removes regions of interest for an application's own detector, and marks frames as analysed.
#include <gst/cudavision/attachregion.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gst/meta/free_ids.h"

namespace {

// --- marks ---

constexpr const char *kMark = "GstCudaVisionAnalysisMeta";

guint results_in(const GstStructure *mark) {
  guint results = 0;
  gst_structure_get_uint(mark, "n-results", &results);
  return results;
}

bool attach_mark(GstBuffer *buffer, const char *type, guint n_results) {
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, kMark);
  if (meta == nullptr) return false;
  GstStructure *mark = gst_custom_meta_get_structure(meta);
  gst_structure_set(mark, "n-results", G_TYPE_UINT, n_results, nullptr);
  if (type != nullptr)
    gst_structure_set(mark, "type", G_TYPE_STRING, type, nullptr);  // without one: all types
  return true;
}

// Copies the mark with every transform: a frame that is scaled or rotated stays analysed.
gboolean copy_mark(GstBuffer *dest, GstCustomMeta *meta, GstBuffer *, GQuark, gpointer, gpointer) {
  const GstStructure *mark = gst_custom_meta_get_structure(meta);
  return attach_mark(dest, gst_structure_get_string(mark, "type"), results_in(mark));
}

GType mark_type() {
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, nullptr};  // the mark has no position in the picture
  static const GType type = gst_meta_register_custom(kMark, tags, copy_mark, nullptr, nullptr)->api;
  return type;
}

// Calls visit(mark, type) with each mark. type: null for all types.
template <typename Visit>
void for_each_mark(GstBuffer *buffer, const Visit &visit) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer, &state, mark_type())) {
    GstStructure *mark = gst_custom_meta_get_structure(reinterpret_cast<GstCustomMeta *>(meta));
    visit(mark, gst_structure_get_string(mark, "type"));
  }
}

// Adds n_results to the mark that the buffer has for this type, or attaches a new mark. type: null stands for all
// types. Returns false if GStreamer cannot attach a meta to the buffer.
bool mark_analysed(GstBuffer *buffer, const char *type, guint n_results) {
  GstStructure *own = nullptr;
  for_each_mark(buffer, [&](GstStructure *mark, const char *own_type) {
    if (own == nullptr && g_strcmp0(own_type, type) == 0) own = mark;
  });
  if (own == nullptr) return attach_mark(buffer, type, n_results);
  const guint before = results_in(own), most = G_MAXUINT - before;
  gst_structure_set(own, "n-results", G_TYPE_UINT, before + std::min(n_results, most), nullptr);
  return true;
}

// --- regions ---

bool fail(GError **error, const char *why) {
  g_set_error_literal(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, why);
  return false;
}

bool is_writable(GstBuffer *buffer, GError **error) {
  return gst_buffer_is_writable(buffer) ||
         fail(error,
              "the buffer is in use elsewhere and cannot be changed: in a pad probe, give the probe's info "
              "instead of the buffer; elsewhere, change a copy (gst_buffer_copy(), in Python "
              "Gst.Buffer.copy_deep(), because Gst.Buffer.copy() is a reference) and pass it on");
}

// Makes the probe's buffer writable, by a copy if it is in use elsewhere, and stores it in *info. Null after an error.
GstBuffer *writable_buffer(GstPadProbeInfo *info, GError **error) {
  const char *why = nullptr;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0)
    why = "the probe has a list of buffers: call the function for each buffer of the list";
  else if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) == 0 || !GST_IS_BUFFER(info->data))
    why = "the probe has no buffer: add it with the type GST_PAD_PROBE_TYPE_BUFFER";
  if (why != nullptr) {
    fail(error, why);
    return nullptr;
  }
  GstBuffer *buffer = gst_buffer_make_writable(static_cast<GstBuffer *>(info->data));
  info->data = buffer;
  return buffer;
}

gint new_id(GstBuffer *buffer) {
  gint largest = 0;
  cudavision::for_each_region(buffer, [&largest](const GstVideoRegionOfInterestMeta &region) {
    largest = std::max(largest, region.id);
  });
  return largest < G_MAXINT ? largest + 1 : cudavision::FreeIds(buffer).next();
}

GstStructure *detection_of(double score, const char *label) {
  if (std::isnan(score) && label == nullptr) return nullptr;
  GstStructure *detection = gst_structure_new_empty("detection");
  if (!std::isnan(score)) gst_structure_set(detection, "confidence", G_TYPE_DOUBLE, score, nullptr);
  if (label != nullptr) gst_structure_set(detection, "label", G_TYPE_STRING, label, nullptr);
  return detection;
}

}  // namespace

gboolean gst_cuda_vision_buffer_add_region(GstBuffer *buffer, const gchar *type, gint x, gint y, guint width,
                                           guint height, gdouble score, const gchar *label, gint id,
                                           GError **error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  g_return_val_if_fail(error == nullptr || *error == nullptr, FALSE);
  if (type == nullptr) return fail(error, "a region needs a type, for example \"person\"");
  if (label != nullptr && !g_utf8_validate(label, -1, nullptr))
    return fail(error, "the label of a region must be valid UTF-8");
  if (width > G_MAXINT || height > G_MAXINT)
    return fail(error, "the width and the height of a region must be at most 2147483647");
  if (!is_writable(buffer, error)) return FALSE;
  if (id <= 0) id = new_id(buffer);
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta(
      buffer, type, static_cast<guint>(x), static_cast<guint>(y), width, height);
  if (region == nullptr || !mark_analysed(buffer, type, 1))
    return fail(error, "GStreamer attaches no meta to the buffer");
  region->id = id;
  if (GstStructure *detection = detection_of(score, label); detection != nullptr)
    gst_video_region_of_interest_meta_add_param(region, detection);
  return TRUE;
}

gint gst_cuda_vision_buffer_remove_regions(GstBuffer *buffer, const gchar *type, GError **error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), -1);
  g_return_val_if_fail(error == nullptr || *error == nullptr, -1);
  if (!is_writable(buffer, error)) return -1;
  struct Removal {
    const char *type;
    gint count;
  } removal{type, 0};
  const auto remove = [](GstBuffer *, GstMeta **meta, gpointer data) -> gboolean {
    auto *own = static_cast<Removal *>(data);
    if ((*meta)->info->api != GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) return TRUE;
    const auto *region = reinterpret_cast<GstVideoRegionOfInterestMeta *>(*meta);
    if (own->type != nullptr && g_strcmp0(cudavision::text_of(region->roi_type), own->type) != 0) return TRUE;
    *meta = nullptr;  // makes gst_buffer_foreach_meta() remove the meta
    ++own->count;
    return TRUE;
  };
  gst_buffer_foreach_meta(buffer, remove, &removal);
  return removal.count;
}

GType gst_cuda_vision_analysis_meta_api_get_type() { return mark_type(); }

gboolean gst_cuda_vision_buffer_mark_analysed(GstBuffer *buffer, const gchar *type, guint n_results,
                                              GError **error) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), FALSE);
  g_return_val_if_fail(error == nullptr || *error == nullptr, FALSE);
  if (!is_writable(buffer, error)) return FALSE;
  return mark_analysed(buffer, type, n_results) || fail(error, "GStreamer attaches no meta to the buffer");
}

gint64 gst_cuda_vision_buffer_get_n_results(GstBuffer *buffer, const gchar *type) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), -1);
  gint64 results = -1;
  for_each_mark(buffer, [&](const GstStructure *mark, const char *own_type) {
    if (type == nullptr || own_type == nullptr || std::strcmp(own_type, type) == 0)
      results = std::max(results, gint64{0}) + results_in(mark);
  });
  return results;
}

gboolean gst_cuda_vision_probe_add_region(GstPadProbeInfo *info, const gchar *type, gint x, gint y,
                                          guint width, guint height, gdouble score, const gchar *label,
                                          gint id, GError **error) {
  g_return_val_if_fail(info != nullptr, FALSE);
  GstBuffer *buffer = writable_buffer(info, error);
  return buffer != nullptr &&
         gst_cuda_vision_buffer_add_region(buffer, type, x, y, width, height, score, label, id, error);
}

gint gst_cuda_vision_probe_remove_regions(GstPadProbeInfo *info, const gchar *type, GError **error) {
  g_return_val_if_fail(info != nullptr, -1);
  GstBuffer *buffer = writable_buffer(info, error);
  return buffer == nullptr ? -1 : gst_cuda_vision_buffer_remove_regions(buffer, type, error);
}

gboolean gst_cuda_vision_probe_mark_analysed(GstPadProbeInfo *info, const gchar *type, guint n_results,
                                             GError **error) {
  g_return_val_if_fail(info != nullptr, FALSE);
  GstBuffer *buffer = writable_buffer(info, error);
  return buffer != nullptr && gst_cuda_vision_buffer_mark_analysed(buffer, type, n_results, error);
}
