// SPDX-License-Identifier: LGPL-2.1-or-later
// The lines and zones of cudavisionzones as primitives.
#pragma once

#include <gst/gst.h>

#include <map>
#include <string>

#include "cuda/common/memory_budget.h"
#include "cuda/draw/canvas.h"
#include "cuda/draw/label.h"

namespace cudavision {

// Remembers which lines and zones had an event within the last kDuration.
class ZoneFlashes {
 public:
  static constexpr GstClockTime kDuration = GST_SECOND / 2;
  // Takes the events of a frame.
  void take(GstBuffer *buffer);
  bool has(const std::string &name) const { return since_.contains(name); }

 private:
  std::map<std::string, GstClockTime> since_;  // the timestamp of the last event, by name
};

struct ZoneStyle {
  int line_width = 1;
  bool labels = true;
  Color color;
  LabelStyle label;
  LabelPlacer *placer = nullptr;  // of the frame
};

// The speeds on the ground that cudavisionzones tells of the frame's tracks, in metres a second, by the ids.
std::map<guint64, double> speeds_in(GstBuffer *buffer);

// Appends the frame's lines and zones as long as there are at most `most` primitives. Returns false if some do not fit.
bool add_zone_shapes(GstBuffer *buffer, const ZoneStyle &style, Size frame, const ZoneFlashes &flashes,
                     std::size_t most, Array<Primitive> *primitives);

}  // namespace cudavision
