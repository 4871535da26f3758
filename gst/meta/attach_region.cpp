// SPDX-License-Identifier: LGPL-2.1-or-later
// Attaches and removes regions of interest for an application's own detector, and marks frames as analysed.
#include <gst/cudavision/attachregion.h>
#include <gst/video/gstvideometa.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gst/meta/free_ids.h"
#include "gst/meta/registration.h"
#include "gst/meta/wire.h"

namespace {

// --- the meta of a mark ---

// Holds the type as a string of its own: a quark is never freed, so types from outside of the process would pile up.
struct AnalysisMeta {
  GstMeta meta;
  gchar *type;  // null: all types
  guint n_results;
};

AnalysisMeta *as_analysis(GstMeta *meta) { return reinterpret_cast<AnalysisMeta *>(meta); }

GType api_type() {
  static const char *tags[] = {GST_META_TAG_VIDEO_STR, nullptr};  // the mark has no position in the picture
  static const GType type = gst_meta_api_type_register("GstCudaVisionAnalysisMetaAPI", tags);
  return type;
}

guint sum(guint a, guint b) { return a > G_MAXUINT - b ? G_MAXUINT : a + b; }

AnalysisMeta *attach(GstBuffer *buffer, const GstMetaInfo *info, const char *type, guint n_results) {
  AnalysisMeta *analysis = as_analysis(gst_buffer_add_meta(buffer, info, nullptr));
  if (analysis == nullptr) return nullptr;
  analysis->type = g_strdup(type);
  analysis->n_results = n_results;
  return analysis;
}

template <typename Visit>
void for_each_analysis(GstBuffer *buffer, const Visit &visit) {
  gpointer state = nullptr;
  while (GstMeta *meta = gst_buffer_iterate_meta_filtered(buffer, &state, api_type()))
    visit(*as_analysis(meta));
}

struct Functions {
  static gboolean init(GstMeta *meta, gpointer, GstBuffer *) {
    as_analysis(meta)->type = nullptr;
    as_analysis(meta)->n_results = 0;
    return TRUE;
  }
  static void free(GstMeta *meta, GstBuffer *) { g_clear_pointer(&as_analysis(meta)->type, g_free); }
  static void clear(GstBuffer *buffer, GstMeta *meta) {
    free(meta, buffer);
    init(meta, nullptr, buffer);
  }
  // Copies the mark with every transform: a frame that is scaled or rotated stays analysed.
  static gboolean transform(GstBuffer *dest, GstMeta *meta, GstBuffer *, GQuark, gpointer) {
    return attach(dest, meta->info, as_analysis(meta)->type, as_analysis(meta)->n_results) != nullptr;
  }
#if CUDAVISION_HAVE_META_SERIALISATION
  static constexpr std::size_t kMostTypeBytes = 256;

  static gboolean serialize(const GstMeta *meta, GstByteArrayInterface *data, guint8 *version) {
    const auto *analysis = reinterpret_cast<const AnalysisMeta *>(meta);
    if (analysis->type != nullptr &&
        (std::strlen(analysis->type) > kMostTypeBytes || !g_utf8_validate(analysis->type, -1, nullptr)))
      return FALSE;
    return cudavision::write_value(g_variant_new("(ums)", analysis->n_results, analysis->type), data,
                                   version);
  }
  static GstMeta *deserialize(const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size,
                              guint8 version) {
    g_autoptr(GVariant) value = cudavision::read_value("(ums)", data, size, version);
    guint32 n_results = 0;
    const char *type = nullptr;
    if (value != nullptr) g_variant_get(value, "(um&s)", &n_results, &type);
    if (value == nullptr || (type != nullptr && std::strlen(type) > kMostTypeBytes)) return nullptr;
    return reinterpret_cast<GstMeta *>(attach(buffer, info, type, n_results));
  }
#endif
};

const GstMetaInfo *analysis_info() {
  static const GstMetaInfo *const info =
      cudavision::register_meta<AnalysisMeta, Functions>(api_type(), "GstCudaVisionAnalysisMeta");
  return info;
}

// Adds n_results to the mark that the buffer has for this type, or attaches a new mark. type: null stands for all types.
// Returns false if GStreamer cannot attach a meta to the buffer.
bool mark_analysed(GstBuffer *buffer, const char *type, guint n_results) {
  AnalysisMeta *own = nullptr;
  for_each_analysis(buffer, [&](AnalysisMeta &analysis) {
    if (own == nullptr && g_strcmp0(analysis.type, type) == 0) own = &analysis;
  });
  if (own == nullptr) return attach(buffer, analysis_info(), type, n_results) != nullptr;
  own->n_results = sum(own->n_results, n_results);
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

GType gst_cuda_vision_analysis_meta_api_get_type() { return analysis_info()->api; }

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
  for_each_analysis(buffer, [&](const AnalysisMeta &analysis) {
    if (type == nullptr || analysis.type == nullptr || std::strcmp(analysis.type, type) == 0)
      results = std::max(results, gint64{0}) + analysis.n_results;
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
