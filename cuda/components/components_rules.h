// SPDX-License-Identifier: LGPL-2.1-or-later
// The order of components.
#pragma once

#include "cuda/common/host_device.h"
#include "cuda/components/components.h"

namespace cudavision::components {

// The key by which components are sorted: the lesser key comes first, so the larger area, and of equal areas the lesser
// `first`. first: the index of the component's first pixel in raster order, which no other component has.
CUDAVISION_HOST_DEVICE constexpr std::uint64_t order_of(std::uint32_t area, std::uint32_t first) {
  return std::uint64_t{~area} << 32 | first;
}

}  // namespace cudavision::components
