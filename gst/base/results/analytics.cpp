// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/analytics.h"

#include <gst/video/video.h>

#include <algorithm>
#include <iterator>

#include "gst/base/results/turned_box.h"
#include "gst/meta/reading.h"

#if CUDAVISION_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace cudavision {

#if CUDAVISION_HAVE_ANALYTICS
namespace {

// The buffer's relation meta, or a new one with memory for the expected number of detections, so that it does not grow
// with each one.
GstAnalyticsRelationMeta *relations_of(GstBuffer *buffer, int expected) {
  if (GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer)) return relations;
  constexpr gsize kBytes = 128;  // the approximate size of a detection
  GstAnalyticsRelationMetaInitParams sizes{static_cast<gsize>(expected),
                                           static_cast<gsize>(expected) * kBytes};
  return gst_buffer_add_analytics_relation_meta_full(buffer, &sizes);
}

}  // namespace

Status attach_detections(GstBuffer *buffer, int count, const std::function<Detection(int)> &detection) {
  GstAnalyticsRelationMeta *relations = count > 0 ? relations_of(buffer, count) : nullptr;
  for (int i = 0; i < count; ++i) {
    const Detection d = detection(i);
    GstAnalyticsODMtd added;
    if (relations == nullptr || !gst_analytics_relation_meta_add_od_mtd(relations, d.type, d.x, d.y, d.width,
                                                                        d.height, d.confidence, &added))
      return invalid_argument("the object detections could not be attached");
  }
  return {};
}

std::optional<guint64> track_of_detection(GstBuffer *buffer, guint detection) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsTrackingMtd tracking;
  while (relations != nullptr && gst_analytics_relation_meta_get_direct_related(
                                     relations, detection, GST_ANALYTICS_REL_TYPE_ANY,
                                     gst_analytics_tracking_mtd_get_mtd_type(), &state, &tracking)) {
    guint64 id = 0;
    GstClockTime first = 0, last = 0;
    gboolean lost = FALSE;
    if (gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost) && track_id(id)) return id;
  }
  return {};
}

namespace {

// Sets the place and the confidence. GStreamer's own box around a turned one is cut to whole pixels, and is empty if
// the angle is not a number.
bool read_place(const GstAnalyticsODMtd &found, Detection *d) {
#if GST_CHECK_VERSION(1, 26, 0)
  gfloat angle = 0;
  if (!gst_analytics_od_mtd_get_oriented_location(&found, &d->x, &d->y, &d->width, &d->height, &angle,
                                                  &d->confidence))
    return false;
  const Region around = around_turned({d->x, d->y, d->width, d->height}, static_cast<double>(angle));
  d->x = around.x, d->y = around.y, d->width = around.width, d->height = around.height;
  return true;
#else
  return gst_analytics_od_mtd_get_location(&found, &d->x, &d->y, &d->width, &d->height, &d->confidence);
#endif
}

}  // namespace

std::vector<Detection> detections_of(GstBuffer *buffer, const StopFlag &stop) {
  std::vector<Detection> detections;
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsODMtd found;
  while (
      relations != nullptr && !stop.requested() &&
      gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found)) {
    Detection d;
    d.id = found.id;
    d.type = gst_analytics_od_mtd_get_obj_type(&found);
    if (read_place(found, &d)) detections.push_back(d);
  }
  return detections;
}

Status attach_tracking(GstBuffer *buffer, guint detection, guint64 track, GstClockTime first,
                       GstClockTime last) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsTrackingMtd added;
  if (relations == nullptr ||
      !gst_analytics_relation_meta_add_tracking_mtd(relations, track, first, &added) ||
      !gst_analytics_tracking_mtd_update_last_seen(&added, last) ||
      !gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, detection,
                                                added.id))
    return invalid_argument("a track could not be attached");
  return {};
}

namespace {

struct KeptDetection {
  Detection detection;
  std::optional<guint64> track;
};

std::vector<KeptDetection> kept_of(GstBuffer *buffer) {
  std::vector<KeptDetection> kept;
  for (const Detection &detection : detections_of(buffer, StopFlag()))
    kept.push_back({detection, track_of_detection(buffer, detection.id)});
  return kept;
}

// Attaches the detections and their tracks to a buffer that has no detection.
void attach_kept(GstBuffer *buffer, const std::vector<KeptDetection> &kept) {
  (void)attach_detections(buffer, static_cast<int>(kept.size()),
                          [&](int i) { return kept[static_cast<std::size_t>(i)].detection; });
  std::size_t next = 0;
  for (const Detection &detection : detections_of(buffer, StopFlag()))
    if (const auto track = next < kept.size() ? kept[next++].track : std::nullopt; track)
      (void)attach_tracking(buffer, detection.id, *track, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
}

}  // namespace

void carry_detections(GstBuffer *from, GstBuffer *to, const std::function<bool(Detection *)> &map) {
  std::vector<KeptDetection> kept = kept_of(from);
  std::erase_if(kept, [&](KeptDetection &own) { return !map(&own.detection); });
  attach_kept(to, kept);
}
#else
void carry_detections(GstBuffer *, GstBuffer *, const std::function<bool(Detection *)> &) {}
Status attach_detections(GstBuffer *, int, const std::function<Detection(int)> &) { return {}; }
std::optional<guint64> track_of_detection(GstBuffer *, guint) { return {}; }
Status attach_tracking(GstBuffer *, guint, guint64, GstClockTime, GstClockTime) { return {}; }
std::vector<Detection> detections_of(GstBuffer *, const StopFlag &) { return {}; }
#endif

#if CUDAVISION_HAVE_ANALYTICS && GST_CHECK_VERSION(1, 26, 0)
namespace {

GstTensorDataType data_type_of(GstCudaVisionElementType type) {
  switch (type) {
    case GST_CUDA_VISION_ELEMENT_TYPE_U8:
      return GST_TENSOR_DATA_TYPE_UINT8;
    case GST_CUDA_VISION_ELEMENT_TYPE_U16:
      return GST_TENSOR_DATA_TYPE_UINT16;
    case GST_CUDA_VISION_ELEMENT_TYPE_U32:
      return GST_TENSOR_DATA_TYPE_UINT32;
    case GST_CUDA_VISION_ELEMENT_TYPE_I32:
      return GST_TENSOR_DATA_TYPE_INT32;
    default:
      return GST_TENSOR_DATA_TYPE_FLOAT32;
  }
}

// Attaches class names to a segmentation: "background" for the value 0, and `name` for 255.
bool attach_class(GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd &segmentation,
                  const char *name) {
  gfloat levels[] = {1, 1};
  GQuark names[] = {g_quark_from_static_string("background"), g_quark_from_string(name)};
  GstAnalyticsClsMtd classes;
  return gst_analytics_relation_meta_add_cls_mtd(relations, std::size(names), levels, names, &classes) &&
         gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_N_TO_N, segmentation.id,
                                                  classes.id);
}

}  // namespace

Status attach_gst_tensor(GstBuffer *buffer, const GstCudaVisionTensorMeta *tensor) {
  gsize dims[GST_CUDA_VISION_TENSOR_MAX_DIMS];
  std::copy_n(tensor->dims, tensor->n_dims, dims);
  GstTensor *added =
      gst_tensor_new_simple(tensor->id, data_type_of(tensor->element_type), gst_buffer_ref(tensor->data),
                            GST_TENSOR_DIM_ORDER_ROW_MAJOR, tensor->n_dims, dims);
  if (added == nullptr) return invalid_argument("a GstTensor could not be attached");
  GstTensorMeta *meta = gst_buffer_get_tensor_meta(buffer);
  if (meta == nullptr) meta = gst_buffer_add_tensor_meta(buffer);
  // Another element or the application may have left a null array or null entries, which GStreamer does not expect.
  if (meta->tensors == nullptr) meta->num_tensors = 0;
  const gsize count = static_cast<gsize>(
      std::remove(meta->tensors, meta->tensors + meta->num_tensors, nullptr) - meta->tensors);
  meta->num_tensors = static_cast<decltype(meta->num_tensors)>(count);
  // The meta takes the new array, which has copies of the tensors, and frees the old one.
  GstTensor **tensors = g_new(GstTensor *, count + 1);
  for (gsize i = 0; i < count; ++i) tensors[i] = gst_tensor_copy(meta->tensors[i]);
  tensors[count] = added;
  gst_tensor_meta_set(meta, static_cast<guint>(count + 1), tensors);
  return {};
}

Status attach_segmentation(const Job &job, GstBuffer *data, const char *name) {
  const auto width = static_cast<guint>(job.region.width), height = static_cast<guint>(job.region.height);
  const gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  const gint strides[GST_VIDEO_MAX_PLANES] = {job.region.width};
  gst_buffer_add_video_meta_full(data, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1,
                                 offsets, strides);
  GstAnalyticsRelationMeta *relations = relations_of(job.buffer, 2);
  guint values[] = {0, 255};
  GstAnalyticsSegmentationMtd segmentation;
  if (relations != nullptr &&
      gst_analytics_relation_meta_add_segmentation_mtd(
          relations, gst_buffer_ref(data), GST_SEGMENTATION_TYPE_SEMANTIC, std::size(values), values,
          job.region.x, job.region.y, width, height, &segmentation) &&
      attach_class(relations, segmentation, name))
    return {};
  return invalid_argument("the segmentation could not be attached");
}

namespace {

Segmentation reading_of(GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd &found,
                        const char *type) {
  gint x = 0, y = 0;
  guint width = 0, height = 0;
  Segmentation segmentation{};
  segmentation.mask = gst_analytics_segmentation_mtd_get_mask(&found, &x, &y, &width, &height);
  segmentation.place = {x, y, static_cast<int>(std::min(width, static_cast<guint>(G_MAXINT))),
                        static_cast<int>(std::min(height, static_cast<guint>(G_MAXINT)))};
  GstAnalyticsClsMtd classes;
  gpointer state = nullptr;
  const bool has_classes =
      gst_analytics_relation_meta_get_direct_related(relations, found.id, GST_ANALYTICS_REL_TYPE_ANY,
                                                     gst_analytics_cls_mtd_get_mtd_type(), &state, &classes);
  const GQuark background = g_quark_try_string("background"),
               wanted = type != nullptr ? g_quark_try_string(type) : 0;
  for (guint value = 0; value < std::size(segmentation.selects); ++value) {
    gsize index = 0;
    const bool has_class = has_classes &&
                           gst_analytics_segmentation_mtd_get_region_index(&found, &index, value) &&
                           index < gst_analytics_cls_mtd_get_length(&classes);
    const GQuark own = has_class ? gst_analytics_cls_mtd_get_quark(&classes, index) : 0;
    segmentation.selects[value] = own == 0          ? value != 0
                                  : type == nullptr ? value != 0 && own != background
                                                    : own == wanted;
  }
  return segmentation;
}

}  // namespace

void for_each_segmentation(GstBuffer *buffer, const char *type,
                           const std::function<void(const Segmentation &)> &visit) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd found;
  while (relations != nullptr &&
         gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(),
                                             &found)) {
    const Segmentation segmentation = reading_of(relations, found, type);
    visit(segmentation);
    if (segmentation.mask != nullptr) gst_buffer_unref(segmentation.mask);
  }
}

void drop_segmentations(GstBuffer *buffer) {
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd found;
  if (relations == nullptr || !gst_analytics_relation_meta_iterate(
                                  relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &found))
    return;
  const std::vector<KeptDetection> kept = kept_of(buffer);
  gst_buffer_remove_meta(buffer, gst_buffer_get_meta(buffer, GST_ANALYTICS_RELATION_META_API_TYPE));
  attach_kept(buffer, kept);
}
#else
Status attach_gst_tensor(GstBuffer *, const GstCudaVisionTensorMeta *) { return {}; }
Status attach_segmentation(const Job &, GstBuffer *, const char *) { return {}; }
void for_each_segmentation(GstBuffer *, const char *, const std::function<void(const Segmentation &)> &) {}
void drop_segmentations(GstBuffer *) {}
#endif

}  // namespace cudavision
