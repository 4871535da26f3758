// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frame/mapped_frame.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace cudavision {
namespace {

// Whether GStreamer will map the frame: it refuses one whose GstVideoMeta contradicts the caps, but first logs a
// critical warning, as for a programming error.
bool fits_meta(GstBuffer *buffer, const GstVideoInfo &info) {
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  return meta == nullptr ||
         (meta->format == GST_VIDEO_INFO_FORMAT(&info) && meta->n_planes == GST_VIDEO_INFO_N_PLANES(&info) &&
          meta->width >= static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) &&
          meta->height >= static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)));
}

bool lies_in(const DeviceContext *context, GstBuffer *buffer) {
  GstCudaContext *theirs = context != nullptr ? context_of(buffer) : nullptr;
  return theirs != nullptr && same_context(theirs, context->handle());
}

}  // namespace

MappedFrame::MappedFrame(GstBuffer *buffer, const GstVideoInfo &info, bool write, DeviceContext *context)
    : buffer_(buffer),
      info_(info),
      on_device_(lies_in(context, buffer)),
      order_(on_device_ ? context : nullptr, buffer) {
  const guint access = (write ? GST_MAP_READWRITE : GST_MAP_READ) | (on_device_ ? kMapCuda : 0) |
                       guint{GST_VIDEO_FRAME_MAP_FLAG_NO_REF};
  mapped_ = fits_meta(buffer, info) &&
            gst_video_frame_map(&frame_, &info, buffer, static_cast<GstMapFlags>(access));
  if (!mapped_) return;
  PlaneOffsets offsets{};
  fits_ = crop(&offsets) && planes_of(frame_, info, offsets, &planes_);
}

// Finds where the part of the frame that a GstVideoCropMeta names begins in each plane. Returns false if the part
// leaves the frame or does not begin on a chroma sample.
bool MappedFrame::crop(PlaneOffsets *offsets) const {
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer_);
  if (crop == nullptr || (crop->x == 0 && crop->y == 0)) return true;
  const guint64 right = guint64{crop->x} + static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info_)),
                bottom = guint64{crop->y} + static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info_));
  if (right > static_cast<guint>(GST_VIDEO_FRAME_WIDTH(&frame_)) ||
      bottom > static_cast<guint>(GST_VIDEO_FRAME_HEIGHT(&frame_)))
    return false;
  bool found[GST_VIDEO_MAX_PLANES] = {};
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(&info_); ++i) {
    const guint plane = GST_VIDEO_INFO_COMP_PLANE(&info_, i),
                shift_x = GST_VIDEO_FORMAT_INFO_W_SUB(info_.finfo, i),
                shift_y = GST_VIDEO_FORMAT_INFO_H_SUB(info_.finfo, i);
    const std::ptrdiff_t x = crop->x >> shift_x, y = crop->y >> shift_y;
    if (x << shift_x != crop->x || y << shift_y != crop->y) return false;
    if (!std::exchange(found[plane], true))
      (*offsets)[plane] =
          y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, plane) + x * GST_VIDEO_INFO_COMP_PSTRIDE(&info_, i);
  }
  return true;
}

std::string MappedFrame::misfit() const {
  const auto join = [](const auto &values, guint count) {
    std::string text;
    for (guint i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::to_string(values[i]);
    return text;
  };
  const auto size = [](guint width, guint height) {
    return std::to_string(width) + "x" + std::to_string(height);
  };
  const guint planes = GST_VIDEO_INFO_N_PLANES(&info_);
  std::string text = "it has " + std::to_string(gst_buffer_get_size(buffer_)) + " bytes";
  if (const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer_); meta != nullptr)
    text += ", and its GstVideoMeta says " + size(meta->width, meta->height) + " pixels with strides of " +
            join(meta->stride, std::min<guint>(meta->n_planes, GST_VIDEO_MAX_PLANES)) + " bytes at offsets " +
            join(meta->offset, std::min<guint>(meta->n_planes, GST_VIDEO_MAX_PLANES));
  if (const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta(buffer_); crop != nullptr)
    text += ", and its GstVideoCropMeta begins at (" + std::to_string(crop->x) + ", " +
            std::to_string(crop->y) +
            "), which must lie on a chroma sample: videoconvert in front of the element applies the crop";
  return text + "; " + GST_VIDEO_INFO_NAME(&info_) + " frames of " +
         size(static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info_)),
              static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info_))) +
         " pixels have " + std::to_string(GST_VIDEO_INFO_SIZE(&info_)) + " bytes with strides of " +
         join(info_.stride, planes) +
         " bytes. Pad the rows to these strides, or attach a GstVideoMeta with the strides and offsets of "
         "the buffer";
}

void keep_honoured_metas(GstQuery *allocation) {
  for (guint i = gst_query_get_n_allocation_metas(allocation); i-- > 0;) {
    const GType api = gst_query_parse_nth_allocation_meta(allocation, i, nullptr);
    if (api != GST_VIDEO_META_API_TYPE && api != GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
      gst_query_remove_nth_allocation_meta(allocation, i);
  }
}

void offer_honoured_metas(GstQuery *allocation) {
  for (const GType api : {GST_VIDEO_META_API_TYPE, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE})
    if (!gst_query_find_allocation_meta(allocation, api, nullptr))
      gst_query_add_allocation_meta(allocation, api, nullptr);
}

void offer_system_pool(GstQuery *query, gsize frame_size) {
  GstBufferPool *pool = nullptr;
  guint size = static_cast<guint>(frame_size), least = 0, most = 0;
  const bool sized = gst_query_get_n_allocation_pools(query) > 0;  // downstream states its needs
  if (sized) gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most);
  size = std::max(size, static_cast<guint>(frame_size));  // a tee may state none
  if (pool == nullptr) pool = gst_video_buffer_pool_new();
  if (sized)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, least, most);
  else
    gst_query_add_allocation_pool(query, pool, size, least, most);
  gst_object_unref(pool);
}

gboolean copies_meta_to_new_frame(GstBaseTransform *, GstBuffer *, GstMeta *meta, GstBuffer *) {
  const gchar *const *tag = gst_meta_api_type_get_tags(meta->info->api);
  for (; tag != nullptr && *tag != nullptr; ++tag)
    if (!g_str_equal(*tag, GST_META_TAG_VIDEO_STR)) return FALSE;
  const gchar *name = g_type_name(meta->info->api);
  return !g_str_has_prefix(name, "GstAnalytics") && !g_str_equal(name, "GstTensorMetaAPI");
}

MappedFrame::~MappedFrame() {
  if (mapped_) gst_video_frame_unmap(&frame_);
}

}  // namespace cudavision
