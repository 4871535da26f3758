// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties common to all elements.
#pragma once

#include <vector>

#include "cuda/luma/luma.h"
#include "cuda/repack/repack.h"
#include "gst/base/element/properties.h"

namespace cudavision {

enum class BackendChoice { automatic, cuda, cpu };
enum class ActiveBackend { none, cuda, cpu };

struct FilterSettings {
  BackendChoice backend = BackendChoice::automatic;
  ActiveBackend active_backend = ActiveBackend::none;
  int cuda_device_id = -1;
  int n_threads = 0;
  bool display = true;
  bool post_messages = false;
  int roi_x = 0, roi_y = 0, roi_width = 0, roi_height = 0;
  int every_nth = 1;
  int gray16_min = 0, gray16_max = GrayRange::kMost;
  LumaRange luma_range = LumaRange::as_is;
  guint64 max_memory = 0;  // bytes; 0: what the device or the machine has

  friend bool operator==(const FilterSettings &, const FilterSettings &) = default;
};
inline Status validate(const FilterSettings &settings) {
  return validate(GrayRange{settings.gray16_min, settings.gray16_max});
}

// The table of these properties.
std::vector<Property<FilterSettings>> filter_properties();

}  // namespace cudavision
