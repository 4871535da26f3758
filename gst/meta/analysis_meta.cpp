// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/analysis_meta.h"

#include <gst/cudavision/attachregion.h>

#include <algorithm>
#include <cstring>

#include "gst/meta/registration.h"
#include "gst/meta/wire.h"

namespace {

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

}  // namespace

GType gst_cuda_vision_analysis_meta_api_get_type() { return analysis_info()->api; }

bool cudavision::mark_analysed(GstBuffer *buffer, const char *type, guint n_results) {
  AnalysisMeta *own = nullptr;
  for_each_analysis(buffer, [&](AnalysisMeta &analysis) {
    if (own == nullptr && g_strcmp0(analysis.type, type) == 0) own = &analysis;
  });
  if (own == nullptr) return attach(buffer, analysis_info(), type, n_results) != nullptr;
  own->n_results = sum(own->n_results, n_results);
  return true;
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
