// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's results as one line of JSON.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

#include "gst/visionjson/tensor_json.h"

namespace cudavision {

// What the line says of the frame itself.
struct FrameFacts {
  std::optional<std::string> source;
  gint64 number = 0;
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  std::optional<gint> width, height;  // of the caps
};

// Appends the line with its end. "keypoints" and "lines" are written when such a meta is attached (of several
// all items, in order), "regions" and "tensors" always.
// False when a tensor cannot be read: its id is in unreadable, and what was appended is no line.
bool append_frame(std::string *text, const FrameFacts &facts, GstBuffer *buffer, TensorData data,
                  std::string *unreadable);

}  // namespace cudavision
