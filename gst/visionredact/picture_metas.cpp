// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/visionredact/picture_metas.h"

#include <gst/cudavision/cudavision.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "cuda/common/backends.h"
#include "gst/base/results/analytics.h"
#include "gst/base/results/tensor_list.h"

namespace cudavision {
namespace {

// The most segmentations that are read, each at most as large as the frame. If there are more, the frame is hidden.
constexpr std::size_t kMostSegmentations = 32;

constexpr const char *kPictureTags[] = {GST_TAG_IMAGE, GST_TAG_PREVIEW_IMAGE, GST_TAG_ATTACHMENT};

bool wants(const RedactSettings &settings, const char *type) {
  return settings.is_every_type() || (type != nullptr && *settings.type == type);
}

// Whether the tensor is a map of pixels of this frame.
bool fits(const GstCudaVisionTensorMeta &map, Size frame) {
  const auto is_whole = [](double value, double least) {
    return value >= least && value <= kMaxSide && value == std::floor(value);
  };
  return map.element_type == GST_CUDA_VISION_ELEMENT_TYPE_U8 && map.n_dims == 2 && map.dims[0] <= kMaxSide &&
         map.dims[1] <= kMaxSide && map.frame_width == static_cast<guint>(frame.width) &&
         map.frame_height == static_cast<guint>(frame.height) && is_whole(map.origin_x, 0) &&
         is_whole(map.origin_y, 0) && is_whole(map.step_x, 1) && map.step_x == map.step_y;
}

// Calls visit with each segmentation, but for masks that are also tensors of this project: their ids say what they are.
template <typename Visit>
void for_each_foreign_segmentation(GstBuffer *buffer, const RedactSettings &settings, const Visit &visit) {
  const TensorList tensors = tensors_of(buffer);
  for_each_segmentation(buffer, settings.is_every_type() ? nullptr : settings.type->c_str(),
                        [&](const Segmentation &segmentation) {
                          const bool is_own = std::any_of(
                              tensors.begin(), tensors.end(),
                              [&](const auto *tensor) { return tensor->data == segmentation.mask; });
                          if (!is_own) visit(segmentation);
                        });
}

// Sets the pixels that the segmentation selects to 255 in a picture of the frame. Returns false if it cannot be read.
bool add_segmentation(const Segmentation &segmentation, ImageView<std::uint8_t> picture) {
  const Region &place = segmentation.place;
  GstVideoMeta *meta = segmentation.mask != nullptr ? gst_buffer_get_video_meta(segmentation.mask) : nullptr;
  if (meta == nullptr || meta->format != GST_VIDEO_FORMAT_GRAY8 || meta->width == 0 || meta->height == 0 ||
      place.width <= 0 || place.height <= 0 || meta->stride[0] < static_cast<gint>(meta->width))
    return false;
  GstMapInfo mapped;
  if (!gst_buffer_map(segmentation.mask, &mapped, GST_MAP_READ)) return false;
  const auto stride = static_cast<gsize>(meta->stride[0]);
  const bool fits = meta->offset[0] <= mapped.size && meta->height <= kMaxSide && meta->width <= kMaxSide &&
                    stride * (meta->height - 1) + meta->width <= mapped.size - meta->offset[0];
  const gint64 right = gint64{place.x} + place.width, bottom = gint64{place.y} + place.height;
  for (int y = std::max(0, place.y); fits && y < std::min<gint64>(bottom, picture.height); ++y) {
    const auto row = static_cast<gsize>((gint64{y} - place.y) * meta->height / place.height);
    const guint8 *values = mapped.data + meta->offset[0] + row * stride;
    for (int x = std::max(0, place.x); x < std::min<gint64>(right, picture.width); ++x)
      if (segmentation.selects[values[(gint64{x} - place.x) * meta->width / place.width]])
        picture.row(y)[x] = 255;
  }
  gst_buffer_unmap(segmentation.mask, &mapped);
  return fits;
}

gboolean drop_picture(GstBuffer *, GstMeta **meta, gpointer) {
  const std::string_view api = g_type_name((*meta)->info->api);
  const bool is_own = (*meta)->info->api == GST_CUDA_VISION_TENSOR_META_API_TYPE &&
                      !is_named(*reinterpret_cast<GstCudaVisionTensorMeta *>(*meta), "histogram");
  if (is_own || api == "GstTensorMetaAPI") *meta = nullptr;
  return TRUE;
}

}  // namespace

bool has_segmentations(GstBuffer *buffer, const RedactSettings &settings) {
  bool found = false;
  for_each_foreign_segmentation(buffer, settings, [&found](const Segmentation &) { found = true; });
  return found;
}

void drop_pictures(GstBuffer *buffer) {
  drop_segmentations(buffer);
  gst_buffer_foreach_meta(buffer, drop_picture, nullptr);
}

GstEvent *without_pictures(GstEvent *event) {
  GstTagList *tags = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_TAG) gst_event_parse_tag(event, &tags);
  const auto has = [tags](const char *tag) { return gst_tag_list_get_tag_size(tags, tag) > 0; };
  if (tags != nullptr && std::none_of(std::begin(kPictureTags), std::end(kPictureTags), has)) return event;
  tags = tags != nullptr ? gst_tag_list_copy(tags) : gst_tag_list_new_empty();
  for (const char *tag : kPictureTags) gst_tag_list_remove_tag(tags, tag);
  const guint32 number = gst_event_get_seqnum(event);
  gst_event_unref(event);
  if (gst_tag_list_is_empty(tags)) {
    gst_tag_list_unref(tags);
    return nullptr;
  }
  event = gst_event_new_tag(tags);
  gst_event_set_seqnum(event, number);
  return event;
}

Status FrameMasks::read(const Job &job, const RedactSettings &settings, std::vector<RedactMask> *masks,
                        bool *readable) {
  masks->clear();
  *readable = true;
  for (const GstCudaVisionTensorMeta *tensor : tensors_of(job.buffer)) {
    if (!is_named(*tensor, "foreground-mask") || !wants(settings, "motion")) continue;
    *readable = fits(*tensor, job.frame.size()) && masks->size() + 1 < kMostRedactMasks;
    if (!*readable) return {};
    if (data_.size() <= masks->size()) data_.push_back(std::make_unique<TensorData>());
    const void *data = nullptr;
    CUDAVISION_TRY(data_[masks->size()]->read(job.execution, context_.get(), *tensor, &data));
    const auto width = static_cast<int>(tensor->dims[1]), height = static_cast<int>(tensor->dims[0]);
    masks->push_back({{static_cast<const std::uint8_t *>(data), width, width, height},
                      static_cast<int>(tensor->origin_x),
                      static_cast<int>(tensor->origin_y),
                      static_cast<int>(tensor->step_x)});
    *readable = data != nullptr;
    if (!*readable) return {};
  }
  return read_segmentations(job, settings, masks, readable);
}

// Adds one mask for all segmentations. These have any size and lie in host memory, so it is drawn there.
Status FrameMasks::read_segmentations(const Job &job, const RedactSettings &settings,
                                      std::vector<RedactMask> *masks, bool *readable) {
  const int width = job.frame.width, height = job.frame.height;
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::uint8_t *picture = nullptr;
  Status status;
  std::size_t count = 0;
  for_each_foreign_segmentation(job.buffer, settings, [&](const Segmentation &segmentation) {
    *readable = *readable && ++count <= kMostSegmentations;
    if (job.execution.stop->requested()) status = Status(Status::Code::stopped);
    if (!status.ok() || !*readable) return;
    if (picture == nullptr) status = take_picture(job.execution, pixels, &picture);
    if (status.ok()) *readable = add_segmentation(segmentation, {picture, width, width, height});
  });
  CUDAVISION_TRY(status);
  if (picture == nullptr || !*readable) return {};
  masks->push_back({{static_cast<const std::uint8_t *>(picture_.data()), width, width, height}});
  return host_picture_.send(job.execution, picture_, pixels);
}

// Sets *picture to host memory for a picture of this many pixels, all 0.
Status FrameMasks::take_picture(const Execution &execution, std::size_t pixels, std::uint8_t **picture) {
  if (picture_.size() < pixels) {
    CUDAVISION_TRY(picture_.allocate(execution, pixels));
    CUDAVISION_TRY(host_picture_.allocate(execution, picture_));
  }
  *picture = static_cast<std::uint8_t *>(host_picture_.written());
  std::memset(*picture, 0, pixels);
  return {};
}

void FrameMasks::release() {
  for (const auto &data : data_) data->release();
}

}  // namespace cudavision
