// SPDX-License-Identifier: LGPL-2.1-or-later
// A reference to a GstBuffer.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudavision {

struct UnrefBuffer {
  void operator()(GstBuffer *buffer) const { gst_buffer_unref(buffer); }
};
using OwnedBuffer = std::unique_ptr<GstBuffer, UnrefBuffer>;

}  // namespace cudavision
