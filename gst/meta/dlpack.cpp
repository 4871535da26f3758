// SPDX-License-Identifier: LGPL-2.1-or-later
// Hands tensors over as DLPack's structs.
#include <dlfcn.h>
#include <gst/cudavision/dlpack.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "gst/meta/device_tensor.h"
#include "gst/meta/dlpack_abi.h"

namespace {

using cudavision::DeviceTensorAccess;

constexpr GFlagsValue kFlags[] = {
    {GST_CUDA_VISION_DLPACK_FLAGS_NONE, "GST_CUDA_VISION_DLPACK_FLAGS_NONE", "none"},
    {GST_CUDA_VISION_DLPACK_FLAGS_COPY, "GST_CUDA_VISION_DLPACK_FLAGS_COPY", "copy"},
    {GST_CUDA_VISION_DLPACK_FLAGS_HOST, "GST_CUDA_VISION_DLPACK_FLAGS_HOST", "host"},
    {GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED, "GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED", "unversioned"},
    {0, nullptr, nullptr}};
constexpr gint64 kNoStream = -1, kLegacyStream = 1, kThreadsStream = 2;

struct UnrefMemory {
  void operator()(GstMemory *memory) const { gst_memory_unref(memory); }
};
using MemoryRef = std::unique_ptr<GstMemory, UnrefMemory>;
struct UnrefBuffer {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
};
using BufferRef = std::unique_ptr<GstBuffer, UnrefBuffer>;

// The one memory of the buffer, if it lies on a device; otherwise null.
GstMemory *device_memory_of(GstBuffer *buffer) {
  if (buffer == nullptr || gst_buffer_n_memory(buffer) != 1) return nullptr;
  GstMemory *memory = gst_buffer_peek_memory(buffer, 0);
  const auto *access = memory->allocator == nullptr
                           ? nullptr
                           : static_cast<const DeviceTensorAccess *>(g_object_get_data(
                                 G_OBJECT(memory->allocator), cudavision::kDeviceTensorAccess));
  return access != nullptr && access->version == DeviceTensorAccess::kVersion ? memory : nullptr;
}
const DeviceTensorAccess &access_of(GstMemory *memory) {
  return *static_cast<const DeviceTensorAccess *>(
      g_object_get_data(G_OBJECT(memory->allocator), cudavision::kDeviceTensorAccess));
}

// What a consumer holds: either the buffer, mapped or on a device, or a copy.
class Export {
 public:
  Export() = default;
  Export(const Export &) = delete;
  Export &operator=(const Export &) = delete;
  // On any thread.
  ~Export() {
    if (on_device_ && !copy_)
      access_of(on_device_).order_writer(on_device_, static_cast<std::uintptr_t>(stream_));
    if (mapped_) gst_buffer_unmap(buffer_.get(), &map_);
  }

  bool open(const GstCudaVisionTensorMeta &meta, guint flags, gint64 stream, GError **error) {
    GstMemory *memory =
        (flags & GST_CUDA_VISION_DLPACK_FLAGS_HOST) != 0 ? nullptr : device_memory_of(meta.data);
    const bool copied = (flags & GST_CUDA_VISION_DLPACK_FLAGS_COPY) != 0;
    if (gst_cuda_vision_tensor_meta_get_size(&meta) == 0) {  // a meta that was cleared, or changed
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "the tensor is empty");
      return false;
    }
    set_shape(meta);
    versioned_.flags = copied ? kDLPackIsCopied : kDLPackReadOnly;
    return memory != nullptr ? open_on_device(meta, memory, copied, stream, error)
                             : open_on_host(meta, copied, error);
  }

  DLManagedTensorVersioned *versioned() {
    versioned_.version = {1, 0};
    versioned_.manager_ctx = this;
    versioned_.deleter = [](DLManagedTensorVersioned *self) {
      delete static_cast<Export *>(self->manager_ctx);
    };
    versioned_.dl_tensor = tensor_;
    return &versioned_;
  }
  DLManagedTensor *unversioned() {
    unversioned_.manager_ctx = this;
    unversioned_.deleter = [](DLManagedTensor *self) { delete static_cast<Export *>(self->manager_ctx); };
    unversioned_.dl_tensor = tensor_;
    return &unversioned_;
  }

 private:
  void set_shape(const GstCudaVisionTensorMeta &meta) {
    static constexpr DLDataType kTypes[] = {
        {kDLUInt, 8, 1}, {kDLUInt, 16, 1}, {kDLUInt, 32, 1}, {kDLInt, 32, 1}, {kDLFloat, 32, 1}};
    tensor_ = {nullptr,
               {kDLCPU, 0},
               static_cast<std::int32_t>(meta.n_dims),
               kTypes[meta.element_type],
               shape_,
               strides_,
               0};
    std::int64_t stride = 1;
    for (int i = tensor_.ndim - 1; i >= 0; --i) {
      shape_[i] = static_cast<std::int64_t>(meta.dims[i]), strides_[i] = stride;
      stride *= shape_[i];
    }
  }

  bool open_on_device(const GstCudaVisionTensorMeta &meta, GstMemory *memory, bool copied, gint64 stream,
                      GError **error) {
    if (stream == 0 || stream < kNoStream) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                  "the stream %" G_GINT64_FORMAT
                  " is none: 1 is the legacy default stream, 2 that of the thread",
                  stream);
      return false;
    }
    if (memory->size < gst_cuda_vision_tensor_meta_get_size(&meta))
      return is_too_short(meta, memory->size, error);
    if (copied) copy_.reset(access_of(memory).copy(memory));
    if (copied && !copy_) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                  "there is no memory on the device for a copy of the tensor \"%s\"",
                  g_quark_to_string(meta.id));
      return false;
    }
    GstMemory *handed = copy_ ? copy_.get() : memory;
    const DeviceTensorAccess::Place place = access_of(handed).place(handed);
    if (!place.in_primary_context) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                  "the tensor \"%s\" lies in a CUDA context of its own, which no other program can read: let "
                  "the elements of "
                  "gst-cudavision choose the context, or ask for the tensor on the host",
                  g_quark_to_string(meta.id));
      return false;
    }
    if (stream != kNoStream &&
        !access_of(handed).order_consumer(handed, static_cast<std::uintptr_t>(stream))) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SYNC,
                  "stream %" G_GINT64_FORMAT " cannot wait for the tensor \"%s\"", stream,
                  g_quark_to_string(meta.id));
      return false;
    }
    on_device_ = handed;
    // The legacy default stream waits for all others but those that were made not to block. Nobody but the consumer's thread
    // can name its own.
    stream_ = stream == kNoStream || stream == kThreadsStream ? kLegacyStream : stream;
    if (!copy_) buffer_.reset(gst_buffer_ref(meta.data));
    tensor_.data = place.address;
    tensor_.device = {kDLCUDA, place.device_id};
    return true;
  }

  bool open_on_host(const GstCudaVisionTensorMeta &meta, bool copied, GError **error) {
    const gsize size = gst_cuda_vision_tensor_meta_get_size(&meta);
    if (meta.data == nullptr || !gst_buffer_map(meta.data, &map_, GST_MAP_READ)) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "the tensor \"%s\" cannot be mapped",
                  g_quark_to_string(meta.id));
      return false;
    }
    buffer_.reset(gst_buffer_ref(meta.data));
    mapped_ = true;
    if (map_.size < size) return is_too_short(meta, map_.size, error);
    tensor_.data = map_.data;
    if (!copied) return true;
    bytes_.reset(new (std::nothrow) std::uint32_t[size / sizeof(std::uint32_t) + 1]);
    if (!bytes_) {
      g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                  "there is no memory for a copy of the tensor \"%s\"", g_quark_to_string(meta.id));
      return false;
    }
    std::memcpy(bytes_.get(), map_.data, size);
    tensor_.data = bytes_.get();
    gst_buffer_unmap(buffer_.get(), &map_);
    mapped_ = false;
    buffer_.reset();
    return true;
  }

  // An application may have changed the buffer since it was attached.
  static bool is_too_short(const GstCudaVisionTensorMeta &meta, gsize bytes, GError **error) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                "the tensor \"%s\" has %" G_GSIZE_FORMAT " bytes instead of %" G_GSIZE_FORMAT,
                g_quark_to_string(meta.id), bytes, gst_cuda_vision_tensor_meta_get_size(&meta));
    return false;
  }

  BufferRef buffer_;
  GstMapInfo map_ = {};
  bool mapped_ = false;
  std::unique_ptr<std::uint32_t[]> bytes_;  // a copy on the host
  MemoryRef copy_;                          // a copy on a device
  GstMemory *on_device_ = nullptr;          // what was handed over, of buffer_ or copy_
  gint64 stream_ = kNoStream;               // of the consumer
  std::int64_t shape_[GST_CUDA_VISION_TENSOR_MAX_DIMS] = {}, strides_[GST_CUDA_VISION_TENSOR_MAX_DIMS] = {};
  DLTensor tensor_ = {};
  DLManagedTensorVersioned versioned_ = {};
  DLManagedTensor unversioned_ = {};
};

// The destructor of a PyCapsule. It is no Python, because it may be called while an exception is pending. The process that
// calls it has Python's functions.
void destroy_capsule(void *capsule) {
  static const auto is_valid =
      reinterpret_cast<int (*)(void *, const char *)>(dlsym(RTLD_DEFAULT, "PyCapsule_IsValid"));
  static const auto pointer_of =
      reinterpret_cast<void *(*)(void *, const char *)>(dlsym(RTLD_DEFAULT, "PyCapsule_GetPointer"));
  if (is_valid == nullptr || pointer_of == nullptr) return;
  // Who takes the struct gives the capsule another name.
  if (is_valid(capsule, "dltensor_versioned") != 0) {
    auto *tensor = static_cast<DLManagedTensorVersioned *>(pointer_of(capsule, "dltensor_versioned"));
    tensor->deleter(tensor);
  } else if (is_valid(capsule, "dltensor") != 0) {
    auto *tensor = static_cast<DLManagedTensor *>(pointer_of(capsule, "dltensor"));
    tensor->deleter(tensor);
  }
}

std::unique_ptr<Export> export_tensor(const GstCudaVisionTensorMeta &meta, guint flags, gint64 stream,
                                      GError **error) {
  std::unique_ptr<Export> made(new (std::nothrow) Export);
  if (!made) {
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "there is no memory");
    return nullptr;
  }
  return made->open(meta, flags, stream, error) ? std::move(made) : nullptr;
}

}  // namespace

GType gst_cuda_vision_dlpack_flags_get_type() {
  static const GType type = g_flags_register_static("GstCudaVisionDlpackFlags", kFlags);
  return type;
}

DLManagedTensorVersioned *gst_cuda_vision_tensor_meta_to_dlpack(const GstCudaVisionTensorMeta *meta,
                                                                GstCudaVisionDlpackFlags flags, gint64 stream,
                                                                GError **error) {
  g_return_val_if_fail(meta != nullptr, nullptr);
  g_return_val_if_fail((flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) == 0, nullptr);
  std::unique_ptr<Export> exported = export_tensor(*meta, flags, stream, error);
  return exported ? exported.release()->versioned() : nullptr;
}

gsize gst_cuda_vision_tensor_meta_export_dlpack(const GstCudaVisionTensorMeta *meta,
                                                GstCudaVisionDlpackFlags flags, gint64 stream,
                                                GError **error) {
  g_return_val_if_fail(meta != nullptr, 0);
  std::unique_ptr<Export> exported = export_tensor(*meta, flags, stream, error);
  if (!exported) return 0;
  return (flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) != 0
             ? reinterpret_cast<gsize>(exported.release()->unversioned())
             : reinterpret_cast<gsize>(exported.release()->versioned());
}

void gst_cuda_vision_dlpack_release(gsize address, GstCudaVisionDlpackFlags flags) {
  if (address == 0) return;
  if ((flags & GST_CUDA_VISION_DLPACK_FLAGS_UNVERSIONED) != 0) {
    auto *tensor = reinterpret_cast<DLManagedTensor *>(address);
    tensor->deleter(tensor);
  } else {
    auto *tensor = reinterpret_cast<DLManagedTensorVersioned *>(address);
    tensor->deleter(tensor);
  }
}

gsize gst_cuda_vision_dlpack_get_capsule_destructor() { return reinterpret_cast<gsize>(&destroy_capsule); }

gint gst_cuda_vision_tensor_meta_get_dlpack_device(const GstCudaVisionTensorMeta *meta, gint *device_id) {
  g_return_val_if_fail(meta != nullptr, 0);
  g_return_val_if_fail(device_id != nullptr, 0);
  GstMemory *memory = device_memory_of(meta->data);
  *device_id = memory != nullptr ? access_of(memory).place(memory).device_id : 0;
  return memory != nullptr ? kDLCUDA : kDLCPU;
}
