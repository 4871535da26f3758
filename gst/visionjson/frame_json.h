// SPDX-License-Identifier: LGPL-2.1-or-later
// A frame's results as one line of JSON.
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cuda/common/image.h"
#include "cuda/common/stop.h"
#include "gst/visionjson/tensor_json.h"

namespace cudavision {

// --- the time of day of a frame, in UTC ---

using Utc = std::chrono::sys_time<std::chrono::nanoseconds>;

// The time in the first GstReferenceTimestampMeta that counts from 1970 (timestamp/x-unix) or 1900 (timestamp/x-ntp);
// nullopt if there is none.
std::optional<Utc> utc_of(GstBuffer *buffer);

// As RFC 3339 writes it: 2026-11-22T12:34:56.123456789Z.
std::string rfc3339(Utc time);

// --- the line ---

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
