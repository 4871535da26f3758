// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of removal_mask.h that both backends share.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/inpaint/removal_mask.h"

namespace cudavision::inpaint {

constexpr int kRegionsPerPass = 32;

// The sources that one pass over the frame tests, by value, so that it can be the argument of a kernel. The
// regions are divided among several passes; the first pass also tests all other sources.
struct RemovalPass {
  RemovalSources sources;  // RemovalSources::regions is not used: it lies in host memory
  Region regions[kRegionsPerPass] = {};
  int region_count = 0;
  // The pass adds to the mask that earlier passes have written.
  bool adds = false;
};

CUDAVISION_HOST_DEVICE constexpr bool is_allowed(Region limit, int x, int y) {
  return limit.width == 0 || contains(limit, x, y);
}

// True if a source of the pass selects the pixel.
CUDAVISION_HOST_DEVICE inline bool is_selected(const RemovalPass &pass, const Frame &frame, int x, int y) {
  const RemovalSources &sources = pass.sources;
  if (!is_allowed(sources.limit, x, y)) return false;
  for (int i = 0; i < pass.region_count; ++i)
    if (contains(pass.regions[i], x, y)) return true;
  if (sources.picture != nullptr && sources.picture[static_cast<std::ptrdiff_t>(y) * frame.width + x] != 0)
    return true;
  if (sources.alpha.data != nullptr && sources.alpha.at(x, y) < 128) return true;
  if (!sources.by_color) return false;
  for (int c = 0; c < frame.component_count(); ++c) {
    const int difference = frame.component[c].at(x, y) - sources.color.component[c];
    if ((difference < 0 ? -difference : difference) > sources.tolerance) return false;
  }
  return true;
}

}  // namespace cudavision::inpaint
