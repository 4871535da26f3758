// SPDX-License-Identifier: LGPL-2.1-or-later
// Exports an array of numbers in a GstBuffer as a struct of DLPack.
#pragma once

#include <gst/cudavision/tensormeta.h>
#include <gst/video/video.h>

#include <memory>

#include "gst/meta/buffer_ref.h"
#include "gst/meta/device_memory.h"
#include "gst/meta/dlpack_abi.h"

namespace cudavision {

// The type and the shape of an array, and its place in its buffer.
struct ArrayLayout {
  gchar name[96] = {};  // for messages, such as: the tensor "edges"
  DLDataType type = {kDLUInt, 8, 1};
  int n_dims = 0;
  std::int64_t shape[GST_CUDA_VISION_TENSOR_MAX_DIMS] = {};
  std::int64_t strides[GST_CUDA_VISION_TENSOR_MAX_DIMS] = {};  // in elements
  gsize offset = 0, size = 0;                                  // in bytes

  // Sets the strides and the size of an array without gaps, which must be at most G_MAXSSIZE bytes.
  void pack();
};

// An array that a consumer holds: its buffer, mapped or on a device, or a copy. May be destroyed on any thread.
class ArrayExport {
 public:
  // flags: GstCudaVisionDlpackFlags. stream: the consumer's, numbered as in dlpack.h. Returns null after an error.
  static std::unique_ptr<ArrayExport> make(const ArrayLayout &layout, GstBuffer *buffer, guint flags,
                                           gint64 stream, GError **error);
  ~ArrayExport();
  ArrayExport(const ArrayExport &) = delete;
  ArrayExport &operator=(const ArrayExport &) = delete;

  // Return a struct inside of this object. The deleter of the struct deletes this object.
  DLManagedTensorVersioned *versioned();
  DLManagedTensor *unversioned();

 private:
  explicit ArrayExport(const ArrayLayout &layout) : layout_(layout) {}
  bool open(GstBuffer *buffer, guint flags, gint64 stream, GError **error);
  bool open_on_device(GstBuffer *buffer, GstMemory *memory, gint64 stream, GError **error);
  bool hand_over(GstMemory *memory, const DeviceMemoryAccess::Place &place, gint64 stream, GError **error);
  bool open_on_host(GstBuffer *buffer, GError **error);
  bool copy_on_host(GError **error);
  bool is_in(gsize bytes, gsize offset) const;
  bool is_too_short(gsize bytes, GError **error) const;
  bool copied() const { return versioned_.flags == kDLPackIsCopied; }

  ArrayLayout layout_;
  BufferRef buffer_;
  GstMapInfo map_ = {};
  bool mapped_ = false;
  std::unique_ptr<std::uint32_t[]> bytes_;  // a copy on the host
  MemoryRef copy_;                          // a copy on a device
  GstMemory *on_device_ = nullptr;          // the exported memory, of buffer_ or copy_; null on the host
  gint64 stream_ = 0;                       // the consumer's stream, for the destructor
  DLTensor tensor_ = {};
  DLManagedTensorVersioned versioned_ = {};
  DLManagedTensor unversioned_ = {};
};

// Sets *layout to a plane of a video frame: an array [rows][columns], or [rows][columns][channels] if the plane holds
// more than one number for each pixel. Returns false if the frame has no such plane, or if the samples are not laid out
// as an array.
bool layout_plane(GstBuffer *buffer, const GstVideoInfo &info, guint plane, ArrayLayout *layout,
                  GError **error);

// The buffer's memory, if it is a single one whose type offer_device_memory() has registered; otherwise null.
GstMemory *device_memory_of(GstBuffer *buffer);
// The device that holds the buffer's memory.
DLDevice dlpack_device_of(GstBuffer *buffer);

}  // namespace cudavision
