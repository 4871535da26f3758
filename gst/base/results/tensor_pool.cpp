// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/results/tensor_pool.h"

#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "cuda/common/backends.h"
#include "cuda/common/owned_memory.h"
#include "gst/base/device/process_context.h"
#include "gst/base/frame/frame_memory.h"
#include "gst/meta/device_memory.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_vision_tensor_debug);
#define GST_CAT_DEFAULT gst_cuda_vision_tensor_debug

using cudavision::DeviceContext;
using cudavision::Execution;
using cudavision::kMapCuda;
using cudavision::MemoryBudget;
using cudavision::OwnedBytes;
using cudavision::Status;

namespace {

constexpr char kMemoryType[] = "CudaVisionTensorMemory";

// The members of a device memory besides its GstMemory. The memory may be mapped on any thread.
struct DeviceTensor {
  std::shared_ptr<DeviceContext> context;
  OwnedBytes device;
  std::mutex mutex;
  OwnedBytes host;  // allocated when first needed, then kept
  bool host_is_current = false;
  bool may_be_pending = false;  // true if work that writes the memory may still run

  Execution execution() const { return {cudavision::Backend::cuda, nullptr, context->stream()}; }
};

struct TensorMemory {
  GstMemory memory;
  DeviceTensor *tensor;
};

DeviceTensor *tensor_of(GstMemory *memory) { return reinterpret_cast<TensorMemory *>(memory)->tensor; }

Status download(DeviceTensor *tensor) {
  const DeviceContext::Scope scope(tensor->context.get());
  CUDAVISION_TRY(scope.status());
  if (tensor->host.data() == nullptr) CUDAVISION_TRY(tensor->host.allocate({}, tensor->device.size()));
  CUDAVISION_TRY(
      copy_to_host(tensor->execution(), tensor->host.data(), tensor->device.data(), tensor->device.size()));
  CUDAVISION_TRY(tensor->context->synchronize());
  tensor->host_is_current = true;
  return {};
}

// Reads the flags as a number: kMapCuda is outside the range of GstMapFlags, so reading that enum would be undefined.
guint flags_of(const GstMapInfo *info) {
  guint flags = 0;
  static_assert(sizeof flags == sizeof info->flags);
  std::memcpy(&flags, &info->flags, sizeof flags);
  return flags;
}

// Waits for the writer, because the buffer may have been passed on while the device still writes to it.
Status wait_for_writer(DeviceTensor *tensor) {
  if (!tensor->may_be_pending) return {};
  const DeviceContext::Scope scope(tensor->context.get());
  CUDAVISION_TRY(scope.status());
  CUDAVISION_TRY(tensor->context->wait_for_pending());
  tensor->may_be_pending = false;
  return {};
}

// Sets *data to the address on the device or, without kMapCuda, to that of a copy on the host.
Status map_tensor(DeviceTensor *tensor, guint flags, gpointer *data) {
  const std::lock_guard lock(tensor->mutex);
  const bool write = (flags & GST_MAP_WRITE) != 0;
  *data = tensor->device.data();
  if ((flags & kMapCuda) != 0 && write) {
    tensor->host_is_current = false;
    tensor->may_be_pending = true;
    return {};
  }
  CUDAVISION_TRY(wait_for_writer(tensor));
  if ((flags & kMapCuda) != 0) return {};
  if (write)
    return cudavision::invalid_argument("a tensor on a device cannot be mapped for writing on the CPU");
  if (!tensor->host_is_current) CUDAVISION_TRY(download(tensor));
  *data = tensor->host.data();
  return {};
}

gpointer map_memory(GstMemory *memory, GstMapInfo *info, gsize) {
  gpointer data = nullptr;
  const Status status = cudavision::catch_bad_alloc([&] {
    const MemoryBudget::Scope not_charged(nullptr);
    return map_tensor(tensor_of(memory), flags_of(info), &data);
  });
  if (status.ok()) return data;
  GST_ERROR("a tensor cannot be mapped: %s", status.text().c_str());
  return nullptr;
}

void unmap_memory(GstMemory *, GstMapInfo *) {}

// --- the allocator: one for each pool ---

// Ordinary system memory, but allocated in a way that can fail: GStreamer's own allocator ends the process
// when there is no memory.
Status allocate_on_host(GstAllocator *, const std::shared_ptr<DeviceContext> &, gsize size,
                        const GstAllocationParams &, GstMemory **memory) {
  auto bytes = std::make_unique<OwnedBytes>();
  CUDAVISION_TRY(bytes->allocate({}, size));
  void *data = bytes->data();
  *memory = gst_memory_new_wrapped(GstMemoryFlags(0), data, size, 0, size, bytes.release(),
                                   [](gpointer owned) { delete static_cast<OwnedBytes *>(owned); });
  return {};
}

Status allocate_on_device(GstAllocator *allocator, const std::shared_ptr<DeviceContext> &context, gsize size,
                          const GstAllocationParams &, GstMemory **made) {
  auto tensor = std::make_unique<DeviceTensor>();
  auto memory = std::make_unique<TensorMemory>();
  tensor->context = context;
  const DeviceContext::Scope scope(context.get());
  CUDAVISION_TRY(scope.status());
  CUDAVISION_TRY(tensor->device.allocate(tensor->execution(), size));
  gst_memory_init(&memory->memory, GST_MEMORY_FLAG_NO_SHARE, allocator, nullptr, size, 0, 0, size);
  memory->tensor = tensor.release();
  *made = &memory.release()->memory;
  return {};
}

void free_memory(GstAllocator *, GstMemory *memory) {
  auto *freed = reinterpret_cast<TensorMemory *>(memory);
  {
    const std::shared_ptr<DeviceContext> context = freed->tensor->context;  // kept until the memory is freed
    const DeviceContext::Scope scope(context.get());
    delete freed->tensor;
  }
  delete freed;
}

// --- for the library of metas (gst/meta/device_memory.h) ---

// The device address of the memory, with its offset, because an application may have moved its beginning.
gpointer address_of(GstMemory *memory) {
  return static_cast<std::uint8_t *>(tensor_of(memory)->device.data()) + memory->offset;
}

// Calls work(tensor) with the tensor's context current. Returns false after an error, which it logs.
template <typename Work>
bool in_context(GstMemory *memory, const Work &work) {
  DeviceTensor *tensor = tensor_of(memory);
  const DeviceContext::Scope scope(tensor->context.get());
  const Status status = scope.status().ok() ? work(tensor) : scope.status();
  if (!status.ok()) GST_ERROR("a tensor cannot be handed over: %s", status.text().c_str());
  return status.ok();
}

const cudavision::DeviceMemoryAccess kAccess{
    .place =
        [](GstMemory *memory, cudavision::DeviceMemoryAccess::Place *place) {
          const DeviceTensor *tensor = tensor_of(memory);
          *place = {address_of(memory), tensor->context->device_id(),
                    cudavision::is_primary_context(tensor->context->handle())};
          return true;
        },
    .order_consumer =
        [](GstMemory *memory, std::uintptr_t stream) {
          return in_context(memory, [&](DeviceTensor *tensor) {
            return tensor->context->let_wait(cudavision::stream_of_consumer(stream));
          });
        },
    .order_writer =
        [](GstMemory *memory, std::uintptr_t stream, bool) {
          (void)in_context(memory, [&](DeviceTensor *tensor) -> Status {
            // The consumer's stream may be destroyed: then wait for the default stream instead.
            if (tensor->context->wait_for(cudavision::stream_of_consumer(stream)).ok()) return {};
            return tensor->context->wait_for(nullptr);
          });
        },
    .copy = [](GstMemory *memory) -> GstMemory * {
      GstMemory *copy = gst_allocator_alloc(memory->allocator, memory->size, nullptr);
      if (copy == nullptr) return nullptr;
      const bool copied = in_context(memory, [&](DeviceTensor *tensor) {
        return cudavision::copy_within(tensor->execution(), address_of(copy), address_of(memory),
                                       memory->size);
      });
      if (copied) return copy;
      gst_memory_unref(copy);
      return nullptr;
    }};

struct AllocatorState {
  std::shared_ptr<DeviceContext> context;  // null if the allocator makes system memory
  cudavision::AllocateMemory allocate;
};

}  // namespace

struct GstCudaVisionAllocator {
  GstAllocator parent;
  AllocatorState *state;
};
struct GstCudaVisionAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(GstCudaVisionAllocator, gst_cuda_vision_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *allocate_memory(GstAllocator *allocator, gsize size, GstAllocationParams *params) {
  const MemoryBudget::Scope not_charged(nullptr);
  const AllocatorState &state = *reinterpret_cast<GstCudaVisionAllocator *>(allocator)->state;
  GstMemory *memory = nullptr;
  const Status status = cudavision::catch_bad_alloc(
      [&] { return state.allocate(allocator, state.context, size, *params, &memory); });
  if (!status.ok()) GST_ERROR_OBJECT(allocator, "%s", status.text().c_str());
  return memory;
}

static void finalize_allocator(GObject *object) {
  delete reinterpret_cast<GstCudaVisionAllocator *>(object)->state;
  G_OBJECT_CLASS(gst_cuda_vision_allocator_parent_class)->finalize(object);
}

static void gst_cuda_vision_allocator_class_init(GstCudaVisionAllocatorClass *klass) {
  GST_DEBUG_CATEGORY_INIT(gst_cuda_vision_tensor_debug, "cudavisiontensor", 0,
                          "tensors and pinned memory of the cudavision elements");
  // Memory on the host belongs to GStreamer's own allocator (gst_memory_new_wrapped).
  cudavision::offer_device_memory(G_TYPE_FROM_CLASS(klass), &kAccess);
  G_OBJECT_CLASS(klass)->finalize = finalize_allocator;
  klass->parent_class.alloc = allocate_memory;
  klass->parent_class.free = free_memory;
}

static void gst_cuda_vision_allocator_init(GstCudaVisionAllocator *) {}

namespace cudavision {

GstAllocator *make_allocator(std::shared_ptr<DeviceContext> context, AllocateMemory allocate) {
  auto state = std::make_unique<AllocatorState>(AllocatorState{std::move(context), allocate});
  auto *allocator = reinterpret_cast<GstCudaVisionAllocator *>(
      gst_object_ref_sink(g_object_new(gst_cuda_vision_allocator_get_type(), nullptr)));
  allocator->state = state.release();
  return &allocator->parent;
}

// Charges one buffer: those that are in use downstream do not count as the element's.
Status TensorPool::make(std::shared_ptr<DeviceContext> context, std::size_t size,
                        std::unique_ptr<TensorPool> *pool) {
  if (size > G_MAXUINT)
    return out_of_memory(std::to_string(size) + " bytes for a tensor, more than a buffer of a pool holds");
  // All that can throw comes before GLib's objects are made, which would leak.
  std::unique_ptr<TensorPool> made(new TensorPool(size, context != nullptr));
  CUDAVISION_TRY(made->charge_.take(size));
  GstAllocator *allocator =
      make_allocator(std::move(context), made->on_device_ ? allocate_on_device : allocate_on_host);
  allocator->mem_type = kMemoryType;
  allocator->mem_map_full = map_memory;
  allocator->mem_unmap_full = unmap_memory;
  // mem_copy is not set: GStreamer's default maps the memory for the CPU, which downloads it, and copies the result.
  GST_OBJECT_FLAG_SET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
  made->pool_ = gst_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(made->pool_);
  gst_buffer_pool_config_set_params(config, nullptr, static_cast<guint>(size), 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
  gst_object_unref(allocator);
  if (!gst_buffer_pool_set_config(made->pool_, config) || !gst_buffer_pool_set_active(made->pool_, TRUE))
    return out_of_memory(std::to_string(size) + " bytes for a tensor");
  *pool = std::move(made);
  return {};
}

bool tensor_lies_in(GstBuffer *tensor, const DeviceContext &context) {
  if (tensor == nullptr || gst_buffer_n_memory(tensor) != 1) return false;
  GstMemory *memory = gst_buffer_peek_memory(tensor, 0);
  return gst_memory_is_type(memory, kMemoryType) &&
         same_context(tensor_of(memory)->context->handle(), context.handle());
}

TensorPool::~TensorPool() {
  if (pool_ == nullptr) return;
  gst_buffer_pool_set_active(pool_, FALSE);
  gst_object_unref(pool_);
}

// Returns a buffer whose memory has no other reference. An application may keep a memory longer than its
// buffer, which GStreamer's pools do not check.
BufferRef TensorPool::acquire_unshared() {
  GstBuffer *buffer = nullptr;
  while (gst_buffer_pool_acquire_buffer(pool_, &buffer, nullptr) == GST_FLOW_OK) {
    BufferRef acquired(buffer);
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(gst_buffer_peek_memory(buffer, 0)) == 1) return acquired;
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY);  // makes the pool drop it
  }
  return nullptr;
}

Status TensorPool::acquire(Lease *lease) {
  BufferRef buffer = acquire_unshared();
  if (!buffer) return out_of_memory("there is no memory for a tensor of " + std::to_string(size_) + " bytes");
  GstMapInfo map;
  const guint flags = guint{GST_MAP_WRITE} | (on_device_ ? kMapCuda : 0);
  if (!gst_buffer_map(buffer.get(), &map, static_cast<GstMapFlags>(flags)))
    return {Status::Code::device_failed, "a tensor's buffer could not be mapped"};
  // The address stays valid after unmapping: the memory belongs to this pool, and it neither moves nor is
  // shared before it is filled. `map` does not: GStreamer 1.28 clears it.
  guint8 *const data = map.data;
  gst_buffer_unmap(buffer.get(), &map);
  *lease = {std::move(buffer), data};
  return {};
}

}  // namespace cudavision
