// SPDX-License-Identifier: LGPL-2.1-or-later
// The time of day of a frame, in UTC.
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <optional>
#include <string>

namespace cudavision {

using Utc = std::chrono::sys_time<std::chrono::nanoseconds>;

// The time in the first GstReferenceTimestampMeta that counts from 1970 (timestamp/x-unix) or 1900 (timestamp/x-ntp);
// nullopt if there is none.
std::optional<Utc> utc_of(GstBuffer *buffer);

// As RFC 3339 writes it: 2026-11-22T12:34:56.123456789Z.
std::string rfc3339(Utc time);

}  // namespace cudavision
