// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/zones_meta.h"

#include <gst/video/gstvideometa.h>

#include "gst/base/results/custom_meta.h"

namespace cudavision {
namespace {

constexpr const char *kName = "GstCudaVisionZonesMeta";

// The list of this name in the structure, or null if it is no list.
const GValue *list_in(const GstStructure &structure, const char *list) {
  const GValue *value = gst_structure_get_value(&structure, list);
  return value != nullptr && GST_VALUE_HOLDS_ARRAY(value) ? value : nullptr;
}

// Copies the meta to a copied or scaled frame: the structure names the frame size to which the shapes refer. Elements
// that crop, mirror or rotate drop metas with the tags below without a call of this function.
gboolean transform(GstBuffer *to, GstCustomMeta *meta, GstBuffer *, GQuark type, gpointer data, gpointer) {
  const bool is_part = GST_META_TRANSFORM_IS_COPY(type) && static_cast<GstMetaTransformCopy *>(data)->region;
  if (is_part || !(GST_META_TRANSFORM_IS_COPY(type) || GST_VIDEO_META_TRANSFORM_IS_SCALE(type))) return FALSE;
  return attach_zones(to, gst_custom_meta_get_structure(meta)) != nullptr;
}

}  // namespace

void register_zones_meta() {
  static const gchar *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
                                GST_META_TAG_VIDEO_SIZE_STR, nullptr};
  register_custom_meta(kName, tags, transform);
}

GstStructure *attach_zones(GstBuffer *buffer, const GstStructure *copied) {
  GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, kName);
  GstStructure *structure = meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
  for (gint i = 0; structure != nullptr && copied != nullptr && i < gst_structure_n_fields(copied); ++i) {
    const gchar *field = gst_structure_nth_field_name(copied, static_cast<guint>(i));
    gst_structure_set_value(structure, field, gst_structure_get_value(copied, field));
  }
  return structure;
}

void for_each_zones(GstBuffer *buffer, const std::function<void(const GstStructure &)> &visit) {
  for_each_custom_meta(buffer, kName, visit);
}

void set_list(GstStructure *structure, const char *field, std::size_t count,
              const std::function<GstStructure *(std::size_t)> &make) {
  GValue list = G_VALUE_INIT;
  gst_value_array_init(&list, static_cast<guint>(count));
  for (std::size_t i = 0; i < count; ++i) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&item, make(i));
    gst_value_array_append_and_take_value(&list, &item);
  }
  gst_structure_take_value(structure, field, &list);
}

guint count_in(const GstStructure &structure, const char *list) {
  const GValue *value = list_in(structure, list);
  return value != nullptr ? gst_value_array_get_size(value) : 0;
}

const GstStructure *item_in(const GstStructure &structure, const char *list, guint index) {
  if (index >= count_in(structure, list)) return nullptr;
  const GValue *item = gst_value_array_get_value(list_in(structure, list), index);
  return item != nullptr && GST_VALUE_HOLDS_STRUCTURE(item) ? gst_value_get_structure(item) : nullptr;
}

guint count_of_events(GstBuffer *buffer) {
  guint count = 0;
  for_each_zones(buffer, [&count](const GstStructure &zones) { count += count_in(zones, "events"); });
  return count;
}

}  // namespace cudavision
