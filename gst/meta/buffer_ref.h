// SPDX-License-Identifier: LGPL-2.1-or-later
// Owned references to buffers and memory.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudavision {

struct Unref {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstMemory *memory) const { gst_memory_unref(memory); }
};
using BufferRef = std::unique_ptr<GstBuffer, Unref>;
using MemoryRef = std::unique_ptr<GstMemory, Unref>;

}  // namespace cudavision
