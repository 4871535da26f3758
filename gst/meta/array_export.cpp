// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/meta/array_export.h"

#include <gst/cudavision/dlpack.h>

#include <cstring>
#include <new>
#include <utility>

namespace cudavision {
namespace {

constexpr gint64 kNoStream = -1, kLegacyStream = 1, kThreadsStream = 2;

// The functions that the plugin has registered for this type of allocator; null if none, as for memory on the host.
const DeviceMemoryAccess *access_of(const GstMemory *memory) {
  if (memory->allocator == nullptr) return nullptr;
  for (GType type = G_OBJECT_TYPE(memory->allocator); type != 0; type = g_type_parent(type)) {
    const auto *access =
        static_cast<const DeviceMemoryAccess *>(g_type_get_qdata(type, device_memory_quark()));
    if (access != nullptr) return access->version == DeviceMemoryAccess::kVersion ? access : nullptr;
  }
  return nullptr;
}

// Whether this is CUDA memory whose functions are unknown: a decoder's frames may come before the plugin is loaded.
bool is_unknown_cuda_memory(GstMemory *memory) {
  return gst_memory_is_type(memory, "gst.cuda.memory") && access_of(memory) == nullptr;
}
void load_plugin() {
  static const bool loaded = [] {
    GstPlugin *plugin = gst_plugin_load_by_name("cudavision");
    gst_clear_object(&plugin);
    return true;
  }();
  (void)loaded;
}

}  // namespace

void ArrayLayout::pack() {
  std::int64_t stride = 1;
  for (int i = n_dims - 1; i >= 0; --i) strides[i] = std::exchange(stride, stride * shape[i]);
  size = static_cast<gsize>(stride) * (type.bits / 8);
}

GstMemory *device_memory_of(GstBuffer *buffer) {
  if (buffer == nullptr || gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  if (is_unknown_cuda_memory(memory)) load_plugin();
  return access_of(memory) != nullptr ? memory : nullptr;
}

DLDevice dlpack_device_of(GstBuffer *buffer) {
  GstMemory *memory = device_memory_of(buffer);
  DeviceMemoryAccess::Place place = {};
  return memory != nullptr && access_of(memory)->place(memory, &place) ? DLDevice{kDLCUDA, place.device_id}
                                                                       : DLDevice{kDLCPU, 0};
}

std::unique_ptr<ArrayExport> ArrayExport::make(const ArrayLayout &layout, GstBuffer *buffer, guint flags,
                                               gint64 stream, GError **error) {
  std::unique_ptr<ArrayExport> made(new (std::nothrow) ArrayExport(layout));
  if (made) return made->open(buffer, flags, stream, error) ? std::move(made) : nullptr;
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "there is no memory");
  return nullptr;
}

ArrayExport::~ArrayExport() {
  if (on_device_ != nullptr) {
    const bool alone = GST_MINI_OBJECT_REFCOUNT_VALUE(on_device_) == 1 &&
                       (!buffer_ || GST_MINI_OBJECT_REFCOUNT_VALUE(buffer_.get()) == 1);
    access_of(on_device_)->order_writer(on_device_, static_cast<std::uintptr_t>(stream_), alone);
  }
  if (mapped_) gst_buffer_unmap(buffer_.get(), &map_);
}

DLManagedTensorVersioned *ArrayExport::versioned() {
  versioned_.version = {1, 0};
  versioned_.manager_ctx = this;
  versioned_.deleter = [](DLManagedTensorVersioned *self) {
    delete static_cast<ArrayExport *>(self->manager_ctx);
  };
  versioned_.dl_tensor = tensor_;
  return &versioned_;
}

DLManagedTensor *ArrayExport::unversioned() {
  unversioned_.manager_ctx = this;
  unversioned_.deleter = [](DLManagedTensor *self) { delete static_cast<ArrayExport *>(self->manager_ctx); };
  unversioned_.dl_tensor = tensor_;
  return &unversioned_;
}

bool ArrayExport::open(GstBuffer *buffer, guint flags, gint64 stream, GError **error) {
  tensor_ = {nullptr, {kDLCPU, 0}, layout_.n_dims, layout_.type, layout_.shape, layout_.strides, 0};
  versioned_.flags = (flags & GST_CUDA_VISION_DLPACK_FLAGS_COPY) != 0 ? kDLPackIsCopied : kDLPackReadOnly;
  if (layout_.size == 0) return true;
  const bool on_host = (flags & GST_CUDA_VISION_DLPACK_FLAGS_HOST) != 0;
  GstMemory *memory = on_host ? nullptr : device_memory_of(buffer);
  return memory != nullptr ? open_on_device(buffer, memory, stream, error) : open_on_host(buffer, error);
}

bool ArrayExport::open_on_device(GstBuffer *buffer, GstMemory *memory, gint64 stream, GError **error) {
  if (stream == 0 || stream < kNoStream) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "the stream %" G_GINT64_FORMAT
                " is none: 1 is the legacy default stream, 2 that of the thread",
                stream);
    return false;
  }
  if (!is_in(memory->size, layout_.offset)) return is_too_short(memory->size, error);
  const DeviceMemoryAccess &access = *access_of(memory);
  DeviceMemoryAccess::Place place = {};
  if (!access.place(memory, &place)) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s cannot be mapped", layout_.name);
    return false;
  }
  if (!place.in_primary_context) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "%s lies in a CUDA context of its own, which no other program can read: let the elements of "
                "gst-cudavision choose the context, or ask for it on the host",
                layout_.name);
    return false;
  }
  if (!copied()) {
    buffer_.reset(gst_buffer_ref(buffer));
    return hand_over(memory, place, stream, error);
  }
  copy_.reset(access.copy(memory));
  if (copy_ && access.place(copy_.get(), &place)) return hand_over(copy_.get(), place, stream, error);
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
              "there is no memory on the device for a copy of %s", layout_.name);
  return false;
}

bool ArrayExport::hand_over(GstMemory *memory, const DeviceMemoryAccess::Place &place, gint64 stream,
                            GError **error) {
  if (stream != kNoStream &&
      !access_of(memory)->order_consumer(memory, static_cast<std::uintptr_t>(stream))) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SYNC,
                "stream %" G_GINT64_FORMAT " cannot wait for %s", stream, layout_.name);
    return false;
  }
  on_device_ = memory;
  // For the destructor. Without a stream, or with the consumer's per-thread stream, which no other thread can name, it
  // uses the legacy default stream, which waits for all streams except non-blocking ones.
  stream_ = stream == kNoStream || stream == kThreadsStream ? kLegacyStream : stream;
  tensor_.data = static_cast<std::uint8_t *>(place.address) + layout_.offset;
  tensor_.device = {kDLCUDA, place.device_id};
  return true;
}

// Maps only the GstMemory that holds the array: a buffer may have one for each plane of its frame.
bool ArrayExport::open_on_host(GstBuffer *buffer, GError **error) {
  guint first = 0, count = 0;
  gsize skip = 0;
  if (buffer != nullptr &&
      !gst_buffer_find_memory(buffer, layout_.offset, layout_.size, &first, &count, &skip))
    return is_too_short(gst_buffer_get_size(buffer), error);
  if (buffer == nullptr ||
      !gst_buffer_map_range(buffer, first, static_cast<gint>(count), &map_, GST_MAP_READ)) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s cannot be mapped", layout_.name);
    return false;
  }
  buffer_.reset(gst_buffer_ref(buffer));
  mapped_ = true;
  if (!is_in(map_.size, skip)) return is_too_short(map_.size, error);
  tensor_.data = map_.data + skip;
  return !copied() || copy_on_host(error);
}

bool ArrayExport::copy_on_host(GError **error) {
  bytes_.reset(new (std::nothrow) std::uint32_t[layout_.size / sizeof(std::uint32_t) + 1]);
  if (!bytes_) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                "there is no memory for a copy of %s", layout_.name);
    return false;
  }
  std::memcpy(bytes_.get(), tensor_.data, layout_.size);
  tensor_.data = bytes_.get();
  gst_buffer_unmap(buffer_.get(), &map_);
  mapped_ = false;
  buffer_.reset();
  return true;
}

// Whether the array fits into so many bytes at this offset. A GstVideoMeta may hold any offset.
bool ArrayExport::is_in(gsize bytes, gsize offset) const {
  return offset <= bytes && layout_.size <= bytes - offset;
}

// Sets the error that the buffer is too short, which happens if an application has changed the buffer. Returns false.
bool ArrayExport::is_too_short(gsize bytes, GError **error) const {
  g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
              "%s has %" G_GSIZE_FORMAT " bytes instead of %" G_GSIZE_FORMAT, layout_.name,
              bytes > layout_.offset ? bytes - layout_.offset : 0, layout_.size);
  return false;
}

}  // namespace cudavision
