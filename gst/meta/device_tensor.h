// SPDX-License-Identifier: LGPL-2.1-or-later
// What the library asks of memory on a device. The allocator of such memory, which is part of the plugin, has a pointer to
// this struct as its object data of the name kDeviceTensorAccess. The library itself does not use CUDA.
#pragma once

#include <gst/gst.h>

#include <cstdint>

namespace cudavision {

struct DeviceTensorAccess {
  // Of the struct. Others are not used.
  static constexpr guint kVersion = 1;
  guint version = kVersion;

  // Where the memory lies. in_primary_context: every program of the CUDA runtime can use it.
  struct Place {
    gpointer address;
    int device_id;
    bool in_primary_context;
  };
  Place (*place)(GstMemory *memory);
  // Makes a stream of the consumer wait for who writes the memory, without the host. Returns false after an error.
  bool (*order_consumer)(GstMemory *memory, std::uintptr_t stream);
  // Makes the next one who writes the memory wait for the work that is on the stream of the consumer.
  void (*order_writer)(GstMemory *memory, std::uintptr_t stream);
  // A copy on the same device, ordered as work of who writes the memory. Null if there is no memory for it.
  GstMemory *(*copy)(GstMemory *memory);
};

constexpr char kDeviceTensorAccess[] = "gst-cuda-vision-device-tensor-access";

}  // namespace cudavision
