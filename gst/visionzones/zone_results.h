// SPDX-License-Identifier: LGPL-2.1-or-later
// The events and counters of zones as structures of GStreamer.
#pragma once

#include <gst/gst.h>

#include <vector>

#include "gst/visionzones/zone_counter.h"

namespace cudavision {

// The time of a frame: by the clock of ZoneCounter, and its running time, or GST_CLOCK_TIME_NONE.
struct FrameTime {
  GstClockTime now, running;
};

// Makes the structure `name` of an event of a frame, which the caller owns.
GstStructure *make_event(const char *name, const ZoneEvent &event, const CountedRule &rule, FrameTime time);
// Attaches the first `count` events of the frame, the counters, the shapes and, if places on the ground are known, the
// tracks. Returns false if there is no memory.
bool attach_zone_results(GstBuffer *buffer, const ZoneCounter &counter, const std::vector<ZoneEvent> &events,
                         std::size_t count, Size size, FrameTime time);

}  // namespace cudavision
