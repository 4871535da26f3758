// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/common/places.h"

#include <string>

#include "cuda/common/backends.h"

namespace cudavision {

Status check_places(const Places &places, Size picture) {
  if (places.count < Places::kEverywhere || places.count > Places::kMostRegions)
    return invalid_argument(std::to_string(places.count) + " regions, but at most " +
                            std::to_string(Places::kMostRegions) + " can be searched");
  for (int i = 0; i < places.count; ++i)
    if (!lies_within(places.region[i], picture))
      return invalid_argument("region " + std::to_string(i) + " does not lie in the picture of " +
                              to_string(picture) + " pixels");
  return {};
}

}  // namespace cudavision
