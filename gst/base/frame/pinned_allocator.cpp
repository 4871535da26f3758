// SPDX-License-Identifier: LGPL-2.1-or-later
// An allocator of pinned system memory, which the device copies to and from at full speed.
#include "gst/base/frame/pinned_allocator.h"

#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/buffer_cuda.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_vision_pinned_debug);
#define GST_CAT_DEFAULT gst_cuda_vision_pinned_debug

using cudavision::DeviceContext;
using cudavision::PinnedBuffer;
using cudavision::Status;

struct GstCudaVisionPinnedAllocator {
  GstAllocator parent;
  std::shared_ptr<DeviceContext> *context;
};
struct GstCudaVisionPinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionPinnedAllocator, gst_cuda_vision_pinned_allocator, GST_TYPE_ALLOCATOR)

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

// CUDA aligns pinned memory to at least a page, which exceeds any alignment that GStreamer asks for.
Status allocate_pinned(const std::shared_ptr<DeviceContext> &context, gsize size,
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

GstMemory *allocate_memory(GstAllocator *allocator, gsize size, GstAllocationParams *params) {
  GstMemory *memory = nullptr;
  const Status status = cudavision::catch_bad_alloc([&] {
    const cudavision::MemoryBudget::Scope not_charged(nullptr);  // the frames are those of upstream elements
    const auto &context = *reinterpret_cast<GstCudaVisionPinnedAllocator *>(allocator)->context;
    return allocate_pinned(context, size, *params, &memory);
  });
  if (!status.ok()) GST_ERROR_OBJECT(allocator, "%s", status.text().c_str());
  return memory;
}

// Never called: the allocated memory belongs to GStreamer's system memory allocator, which frees it.
void free_memory(GstAllocator *, GstMemory *) { g_return_if_reached(); }

void finalize(GObject *object) {
  delete reinterpret_cast<GstCudaVisionPinnedAllocator *>(object)->context;
  G_OBJECT_CLASS(gst_cuda_vision_pinned_allocator_parent_class)->finalize(object);
}

}  // namespace

static void gst_cuda_vision_pinned_allocator_class_init(GstCudaVisionPinnedAllocatorClass *klass) {
  GST_DEBUG_CATEGORY_INIT(gst_cuda_vision_pinned_debug, "cudavisionpinned", 0,
                          "pinned memory of the cudavision elements");
  G_OBJECT_CLASS(klass)->finalize = finalize;
  klass->parent_class.alloc = allocate_memory;
  klass->parent_class.free = free_memory;
}

static void gst_cuda_vision_pinned_allocator_init(GstCudaVisionPinnedAllocator *) {}

namespace cudavision {

GstAllocator *make_pinned_allocator(std::shared_ptr<DeviceContext> context) {
  auto shared = std::make_unique<std::shared_ptr<DeviceContext>>(std::move(context));
  auto *allocator = reinterpret_cast<GstCudaVisionPinnedAllocator *>(
      gst_object_ref_sink(g_object_new(gst_cuda_vision_pinned_allocator_get_type(), nullptr)));
  allocator->context = shared.release();
  return &allocator->parent;
}

}  // namespace cudavision
