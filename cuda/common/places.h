// SPDX-License-Identifier: LGPL-2.1-or-later
// Where in a picture something is searched.
#pragma once

#include "cuda/common/image.h"
#include "cuda/common/status.h"

namespace cudavision {

// The places of a picture in which something is searched: everywhere, or only in some regions.
struct Places {
  static constexpr int kEverywhere = -1, kMostRegions = 32;

  int count = kEverywhere;           // the number of regions, or kEverywhere; 0: nowhere
  Region region[kMostRegions] = {};  // in the picture, in pixels; they may overlap

  CUDAVISION_HOST_DEVICE constexpr bool everywhere() const { return count == kEverywhere; }
  CUDAVISION_HOST_DEVICE constexpr bool contain(int x, int y) const {
    for (int i = 0; i < count; ++i)
      if (contains(region[i], x, y)) return true;
    return everywhere();
  }
  // Whether any part of the rectangle, which must not be empty, is searched.
  CUDAVISION_HOST_DEVICE constexpr bool meet(const Region &rectangle) const {
    for (int i = 0; i < count; ++i)
      if (overlap(region[i], rectangle)) return true;
    return everywhere();
  }
};

// Fails if there are too many regions, or if one does not lie in a picture of that size.
Status check_places(const Places &places, Size picture);

}  // namespace cudavision
