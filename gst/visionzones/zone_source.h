// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the plan comes from: the properties location and zones of the element.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "cuda/common/status.h"
#include "gst/visionzones/zone_plan.h"

namespace cudavision {

struct ZoneSettings {
  std::optional<std::string> location, zones, state_location;
  guint64 generation = 0;  // grows whenever one of the two is set
};

class ZoneSource {
 public:
  // Reads the plan again if a property was set or the file was replaced, which is checked once a second; otherwise
  // returns false. *status says whether the plan could be read: if not, *plan stays as it was.
  bool update(const ZoneSettings &settings, ZonePlan *plan, Status *status);
  // Forgets what was read: the next update reads the plan again.
  void restart() { *this = {}; }

 private:
  // Identifies a version of the file, to notice when it is replaced: the device, the inode, the size and the time.
  using Stamp = std::array<guint64, 5>;
  static Stamp stamp_of(const std::string &location);

  std::optional<guint64> generation_;
  Stamp stamp_{};
  gint64 looked_ = 0;  // when the file was last checked, in microseconds
};

}  // namespace cudavision
