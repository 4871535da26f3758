// SPDX-License-Identifier: LGPL-2.1-or-later
// What a CUDA element offers to those who make its frames.
#include "base/allocation.h"

#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include "base/format.h"
#include "base/gst_cuda.h"
#include "base/page_locked_allocator.h"

namespace cudavision {
namespace {

// GStreamer 1.22 ends the process when a pool is made for a format that its CUDA memory does not have.
GstBufferPool *make_cuda_pool(const DeviceContext &context, const GstVideoInfo &info) {
  if (!has_cuda_memory(GST_VIDEO_INFO_FORMAT(&info))) return nullptr;
  return gst_cuda_buffer_pool_new(context.handle());
}

void use_page_locked_memory(GstStructure *config, const std::shared_ptr<const DeviceContext> &context) {
  GstAllocator *allocator = make_page_locked_allocator(context);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_object_unref(allocator);
}

}  // namespace

bool has_pool(GstQuery *query) {
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool *pool = nullptr;
    gst_query_parse_nth_allocation_pool(query, i, &pool, nullptr, nullptr, nullptr);
    const bool named = pool != nullptr;
    gst_clear_object(&pool);
    if (named) return true;
  }
  return false;
}

bool offer_pool(GstQuery *query, const std::shared_ptr<const DeviceContext> &context) {
  GstCaps *caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (caps == nullptr || !gst_video_info_from_caps(&info, caps)) return false;
  const bool cuda = asks_for_cuda_memory(caps);
  GstBufferPool *pool = cuda ? make_cuda_pool(*context, info) : gst_video_buffer_pool_new();
  if (pool == nullptr) return false;

  GstStructure *config = gst_buffer_pool_get_config(pool);
  guint size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), least = 0, most = 0;
  const bool sized = gst_query_get_n_allocation_pools(query) > 0;  // downstream says how many it holds
  if (sized) gst_query_parse_nth_allocation_pool(query, 0, nullptr, nullptr, &least, &most);
  gst_buffer_pool_config_set_params(config, caps, size, least, most);
  if (cuda) {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    context->share_stream(config);
  } else {
    use_page_locked_memory(config, context);
  }
  const bool configured = gst_buffer_pool_set_config(pool, config);
  if (configured) {
    // CUDA's pitch makes buffers larger than the caps say.
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
    gst_structure_free(config);
    if (sized)
      gst_query_set_nth_allocation_pool(query, 0, pool, size, least, most);
    else
      gst_query_add_allocation_pool(query, pool, size, least, most);
    // Whoever takes CUDA memory reads its pitch there. For system memory downstream has not said that it does.
    if (cuda && !gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
      gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  }
  gst_object_unref(pool);
  return configured;
}

}  // namespace cudavision
