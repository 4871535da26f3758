// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/analysis_meta.h"

#include <gst/cudavision/attachregion.h>

#include <algorithm>
#include <cstdint>
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
  static constexpr guint8 kVersion = 1;
  static constexpr std::size_t kMostTypeBytes = 256;

  // Writes the number of results in 32 bits, a byte that is 1 if there is a type, and the text of the type.
  static gboolean serialize(const GstMeta *meta, GstByteArrayInterface *data, guint8 *version) {
    const auto *analysis = reinterpret_cast<const AnalysisMeta *>(meta);
    const gsize length = analysis->type != nullptr ? std::strlen(analysis->type) : 0;
    if (length > kMostTypeBytes) return FALSE;
    guint8 *to = gst_byte_array_interface_append(data, sizeof(std::uint32_t) + 1 + length);
    if (to == nullptr) return FALSE;
    cudavision::Writer writer(to);
    writer.put<std::uint32_t>(analysis->n_results);
    writer.put<std::uint8_t>(analysis->type != nullptr);
    writer.put_elements(reinterpret_cast<const std::uint8_t *>(analysis->type), length, 1);
    *version = kVersion;
    return TRUE;
  }
  static GstMeta *deserialize(const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data, gsize size,
                              guint8 version) {
    cudavision::Reader reader(data, size);
    const auto n_results = reader.get<std::uint32_t>();
    const auto has_type = reader.get<std::uint8_t>();
    const gsize length = reader.left();
    const auto *text = reinterpret_cast<const char *>(reader.take(length));
    if (version != kVersion || !reader.ok() || has_type > 1 || length > kMostTypeBytes ||
        (has_type == 0 && length != 0) || !g_utf8_validate_len(text, length, nullptr))
      return nullptr;
    g_autofree char *type = has_type != 0 ? g_strndup(text, length) : nullptr;
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
