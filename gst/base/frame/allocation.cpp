// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/frame/allocation.h"

#include <gst/video/video.h>

#include <algorithm>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/buffer_cuda.h"
#include "gst/base/device/gst_cuda.h"
#include "gst/base/frame/format.h"
#include "gst/base/results/tensor_pool.h"

namespace cudavision {
namespace {

struct OwnedByMemory {
  std::shared_ptr<DeviceContext> context;
  PinnedBuffer buffer;
};

void free_owned(gpointer data) {
  const auto context = static_cast<OwnedByMemory *>(data)->context;  // kept until the memory is freed
  const DeviceContext::Scope scope(context.get());
  delete static_cast<OwnedByMemory *>(data);
}

// Pinned memory, which the device copies to and from at full speed. It looks like ordinary system memory and keeps the
// context alive. CUDA aligns pinned memory to at least a page, which exceeds any alignment that GStreamer asks for.
Status allocate_pinned(GstAllocator *, const std::shared_ptr<DeviceContext> &context, gsize size,
                       const GstAllocationParams &params, GstMemory **memory) {
  const gsize whole = params.prefix + size + params.padding;
  auto owned = std::make_unique<OwnedByMemory>(OwnedByMemory{context, {}});
  const DeviceContext::Scope scope(context.get());
  CUDAVISION_TRY(scope.status());
  CUDAVISION_TRY(owned->buffer.allocate(whole));
  unsigned char *data = owned->buffer.data();
  *memory =
      gst_memory_new_wrapped(params.flags, data, whole, params.prefix, size, owned.release(), free_owned);
  return {};
}

// Returns null if GStreamer's CUDA memory lacks the format: GStreamer 1.22 aborts the process when a pool is
// made for such a format.
GstBufferPool *make_cuda_pool(const DeviceContext &context, const GstVideoInfo &info) {
  if (!has_cuda_memory(GST_VIDEO_INFO_FORMAT(&info))) return nullptr;
  return gst_cuda_buffer_pool_new(context.handle());
}

// Returns true if the query names a pool, rather than only buffer sizes.
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

// Puts the allocator first, where sources look for it, unless downstream has proposed an allocator of its own there.
void offer_allocator(GstQuery *query, GstAllocator *allocator) {
  if (gst_query_get_n_allocation_params(query) == 0)
    return gst_query_add_allocation_param(query, allocator, nullptr);
  GstAllocator *theirs = nullptr;
  GstAllocationParams params;
  gst_query_parse_nth_allocation_param(query, 0, &theirs, &params);
  if (theirs == nullptr) gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  gst_clear_object(&theirs);
}

// Adds a pool to the query; returns false if it cannot. allocator: of system memory for the pool; null: CUDA memory.
bool offer_pool(GstQuery *query, GstCaps *caps, const GstVideoInfo &info, const DeviceContext &context,
                GstAllocator *allocator) {
  GstBufferPool *pool = allocator != nullptr ? gst_video_buffer_pool_new() : make_cuda_pool(context, info);
  if (pool == nullptr) return false;
  guint size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), least = 0, most = 0;
  const bool sized = gst_query_get_n_allocation_pools(query) > 0;  // downstream states its needs
  if (sized) {
    guint wanted = 0;
    gst_query_parse_nth_allocation_pool(query, 0, nullptr, &wanted, &least, &most);
    size = std::max(size, wanted);
  }
  GstStructure *config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, least, most);
  if (allocator != nullptr) {
    gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  } else {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    context.share_stream(config);
  }
  const bool configured = gst_buffer_pool_set_config(pool, config);
  if (configured) {
    // CUDA's pitch makes buffers larger than the caps imply.
    config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
    gst_structure_free(config);
    if (sized)
      gst_query_set_nth_allocation_pool(query, 0, pool, size, least, most);
    else
      gst_query_add_allocation_pool(query, pool, size, least, most);
  }
  gst_object_unref(pool);
  return configured;
}

}  // namespace

bool offer_memory(GstQuery *query, const std::shared_ptr<DeviceContext> &context) {
  GstCaps *caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  GstVideoInfo info;
  if (caps == nullptr || !gst_video_info_from_caps(&info, caps)) return false;
  const bool wants_pool = need_pool && !has_pool(query);
  if (asks_for_cuda_memory(caps)) {
    // Elements that accept CUDA memory read the pitch from its GstVideoMeta. For system memory, only
    // downstream can say that it supports the meta.
    if (!gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr))
      gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    return !wants_pool || offer_pool(query, caps, info, *context, nullptr);
  }
  GstAllocator *allocator = make_allocator(context, allocate_pinned);
  offer_allocator(query, allocator);
  const bool offered = !wants_pool || offer_pool(query, caps, info, *context, allocator);
  gst_object_unref(allocator);
  return offered;
}

}  // namespace cudavision
