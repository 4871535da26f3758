// SPDX-License-Identifier: LGPL-2.1-or-later
// The sources of samples that kernels read: what each pixel adds to a histogram.
#pragma once

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// at(x, y) is the sample of a pixel. It is computed from the luma here, and read from a map by MapSource.
struct BrightnessSource {
  ImageView<const std::uint8_t> luma;
  int bins;

  CUDAVISION_HOST_DEVICE Sample at(int x, int y) const { return {brightness_bin(luma.row(y)[x], bins), 1}; }
};
// Map: BinMap or WeightMap.
template <typename Map>
struct MapSource {
  ImageView<const Map> map;

  CUDAVISION_HOST_DEVICE Sample at(int x, int y) const { return unpack(map.row(y)[x]); }
};

}  // namespace cudavision::localhist
