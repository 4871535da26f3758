// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions by which the library of metas uses memory on a GPU. The library does not use CUDA itself: the plugin
// registers functions for its own allocator (tensors) and for GStreamer's (frames).
#pragma once

#include <gst/gst.h>

#include <cstdint>

namespace cudavision {

struct DeviceMemoryAccess {
  // The version of this struct. The library ignores a struct of another version.
  static constexpr guint kVersion = 1;
  guint version = kVersion;

  // Where the memory is. in_primary_context: in the device's primary context, which the CUDA runtime uses.
  struct Place {
    gpointer address;
    int device_id;
    bool in_primary_context;
  };
  // Sets *place. Returns false if the memory cannot be mapped for reading, for example while it is mapped for writing.
  bool (*place)(GstMemory *memory, Place *place);
  // Makes the consumer's stream wait for the work that writes the memory. If the memory has no stream, the host waits.
  // Returns false after an error.
  bool (*order_consumer)(GstMemory *memory, std::uintptr_t stream);
  // Makes the next writer of the memory wait for the work that is now on the consumer's stream. alone: nobody else
  // holds the memory or its buffer.
  void (*order_writer)(GstMemory *memory, std::uintptr_t stream, bool alone);
  // Copies the memory on its device, after the work that writes it. Returns null if there is no memory for the copy.
  GstMemory *(*copy)(GstMemory *memory);
};

inline GQuark device_memory_quark() {
  return g_quark_from_static_string("gst-cuda-vision-device-memory-access");
}

// Registers the functions for memory of this type of allocator, or of a derived type. `access` must stay valid.
inline void offer_device_memory(GType allocator, const DeviceMemoryAccess *access) {
  g_type_set_qdata(allocator, device_memory_quark(), const_cast<DeviceMemoryAccess *>(access));
}

}  // namespace cudavision
