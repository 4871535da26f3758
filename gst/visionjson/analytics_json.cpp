// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's analytics metas as JSON.
#include "gst/meta/reading.h"
#include "gst/visionjson/json_text.h"

#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace cudavision {

#if CUDAVISION_HAVE_ANALYTICS
namespace {

// for_each() visits all items of the type; for_each_related() only those to which the item `from` is related.
template <typename Visit>
void for_each(GstAnalyticsRelationMeta *relations, GstAnalyticsMtdType type, const StopFlag &stop,
              const Visit &visit) {
  gpointer state = nullptr;
  GstAnalyticsMtd item;
  while (!stop.requested() && gst_analytics_relation_meta_iterate(relations, &state, type, &item))
    visit(item);
}
template <typename Visit>
void for_each_related(GstAnalyticsRelationMeta *relations, guint from, GstAnalyticsMtdType type,
                      const StopFlag &stop, const Visit &visit) {
  gpointer state = nullptr;
  GstAnalyticsMtd item;
  while (!stop.requested() && gst_analytics_relation_meta_get_direct_related(
                                  relations, from, GST_ANALYTICS_REL_TYPE_ANY, type, &state, &item))
    visit(item);
}

void append_classes(std::string *text, const GstAnalyticsClsMtd &classes, const StopFlag &stop) {
  for (gsize i = 0; i < gst_analytics_cls_mtd_get_length(&classes) && !stop.requested(); ++i)
    append_item(text, i, [&](std::string *out, gsize index) {
      append_string(&out->append("{\"class\":"), text_of(gst_analytics_cls_mtd_get_quark(&classes, index)));
      append_number(&out->append(",\"confidence\":"), gst_analytics_cls_mtd_get_level(&classes, index));
      out->push_back('}');
    });
}

// Returns false if the track cannot be read, or has no id.
bool append_tracking(std::string *text, const GstAnalyticsTrackingMtd &tracking) {
  guint64 id = 0;
  GstClockTime first = GST_CLOCK_TIME_NONE, last = GST_CLOCK_TIME_NONE;
  gboolean lost = FALSE;
  if (!gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost) || !track_id(id))
    return false;
  append_numbers(text, "tracking-id", id);
  return true;
}

void append_detection(std::string *text, GstAnalyticsRelationMeta *relations,
                      const GstAnalyticsODMtd &detection, const StopFlag &stop) {
  gint x = 0, y = 0, width = 0, height = 0;
  gfloat confidence = 0;
  gst_analytics_od_mtd_get_location(&detection, &x, &y, &width, &height, &confidence);
  append_string(&text->append("{\"class\":"), text_of(gst_analytics_od_mtd_get_obj_type(&detection)));
  append_numbers(text, "x", x, "y", y, "width", width, "height", height, "confidence", confidence);
  bool has_id = false;  // only the first is written: several trackers may have set one
  for_each_related(
      relations, detection.id, gst_analytics_tracking_mtd_get_mtd_type(), stop,
      [&](const GstAnalyticsTrackingMtd &tracking) { has_id = has_id || append_tracking(text, tracking); });
  text->append(",\"classes\":[");
  for_each_related(relations, detection.id, gst_analytics_cls_mtd_get_mtd_type(), stop,
                   [&](const GstAnalyticsClsMtd &classes) { append_classes(text, classes, stop); });
  text->append("]}");
}

// Whether the classes of the item `id` describe the whole frame: no other item is related to this one.
bool describes_frame(GstAnalyticsRelationMeta *relations, guint id) {
  const auto length = static_cast<guint>(gst_analytics_relation_get_length(relations));
  for (guint other = 0; other < length; ++other)
    if (other != id &&
        gst_analytics_relation_meta_get_relation(relations, other, id) != GST_ANALYTICS_REL_TYPE_NONE)
      return false;
  return true;
}

// Appends the member `name` if there are items. items: the text of the list, from its bracket to the last item.
void append_list(std::string *text, const char *name, const std::string &items) {
  if (items.size() > 1) text->append(",\"").append(name).append("\":").append(items).append("]");
}

}  // namespace

void append_analytics(std::string *text, GstBuffer *buffer, const StopFlag &stop) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  if (relations == nullptr) return;
  std::string detections = "[", classifications = "[";
  for_each(relations, gst_analytics_od_mtd_get_mtd_type(), stop, [&](const GstAnalyticsODMtd &detection) {
    append_item(&detections, detection,
                [&](std::string *out, const auto &item) { append_detection(out, relations, item, stop); });
  });
  for_each(relations, gst_analytics_cls_mtd_get_mtd_type(), stop, [&](const GstAnalyticsClsMtd &classes) {
    if (describes_frame(relations, classes.id)) append_classes(&classifications, classes, stop);
  });
  append_list(text, "detections", detections);
  append_list(text, "classifications", classifications);
}
#else
void append_analytics(std::string *, GstBuffer *, const StopFlag &) {}
#endif

}  // namespace cudavision
