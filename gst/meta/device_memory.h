// SPDX-License-Identifier: LGPL-2.1-or-later
// What the library asks of memory on a device. The plugin tells it for each type of allocator of such memory: its own for
// tensors, and GStreamer's for frames. The library itself does not use CUDA.
#pragma once

#include <gst/gst.h>

#include <cstdint>

namespace cudavision {

struct DeviceMemoryAccess {
  // Of the struct. Others are not used.
  static constexpr guint kVersion = 1;
  guint version = kVersion;

  // Where the memory lies. in_primary_context: every program of the CUDA runtime can use it.
  struct Place {
    gpointer address;
    int device_id;
    bool in_primary_context;
  };
  // Returns false if the memory cannot be read, because somebody writes it.
  bool (*place)(GstMemory *memory, Place *place);
  // Makes a stream of the consumer wait for who writes the memory, without the host. Returns false after an error.
  bool (*order_consumer)(GstMemory *memory, std::uintptr_t stream);
  // Makes the next one who writes the memory wait for the work that is on the stream of the consumer. alone: nobody else has
  // the buffer.
  void (*order_writer)(GstMemory *memory, std::uintptr_t stream, bool alone);
  // A copy on the same device, ordered as work of who writes the memory. Null if there is no memory for it.
  GstMemory *(*copy)(GstMemory *memory);
};

inline GQuark device_memory_quark() {
  return g_quark_from_static_string("gst-cuda-vision-device-memory-access");
}

// Tells the library about the memory of an allocator of this type, or of one derived from it. access is kept.
inline void offer_device_memory(GType allocator, const DeviceMemoryAccess *access) {
  g_type_set_qdata(allocator, device_memory_quark(), const_cast<DeviceMemoryAccess *>(access));
}

}  // namespace cudavision
