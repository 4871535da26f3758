// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's results as one line of JSON.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/common/image.h"
#include "cuda/common/stop.h"
#include "gst/visionjson/tensor_json.h"
#include "gst/visionjson/utc.h"

namespace cudavision {

// Members of the line that describe the frame itself.
struct FrameFacts {
  std::optional<std::string> source;
  gint64 number = 0;
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  GstClockTime running_time = GST_CLOCK_TIME_NONE;
  std::optional<Utc> utc;
  Size size;  // by the caps; 0: unknown
};

// Appends the line, including its newline. "regions" and "tensors" are always written; "keypoints", "lines",
// "detections", "classifications", "events" and "zones" only if such a meta is attached (the items of several metas are
// joined in order). A list or a tensor that cannot be read gets an item with the member "unreadable". Returns the
// reason of the last such item, or null. The text is incomplete if the flag asks to stop.
const char *append_frame(std::string *text, const FrameFacts &facts, GstBuffer *buffer, TensorStyle *style,
                         const StopFlag &stop);

}  // namespace cudavision
