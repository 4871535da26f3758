// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the CUDA backend's kernels find what each pixel adds.
#pragma once

#include "cuda/localhist/localhist_rules.h"

namespace cudavision::localhist {

// at(x, y) is the sample of a pixel: of its luma, or computed before.
struct BrightnessSource {
  ImageView<const std::uint8_t> luma;
  int bins;

  CUDAVISION_HOST_DEVICE Sample at(int x, int y) const { return {brightness_bin(luma.row(y)[x], bins), 1}; }
};
template <typename Map>
struct MapSource {
  ImageView<const Map> map;

  CUDAVISION_HOST_DEVICE Sample at(int x, int y) const { return unpack(map.row(y)[x]); }
};

// Enqueues the kernel that computes the samples of a picture's gradients; map has its size.
template <typename Map>
Status map_gradients(const Execution &execution, ImageView<const std::uint8_t> luma, GradientOperator op,
                     GradientWeight weight, const OrientationTable &table, ImageView<Map> map);

// Enqueues the kernel that computes the shares of a region's histogram, see LocalHistogram::take_model.
template <typename Source>
Status take_shares(const Execution &execution, const Source &source, Region region, int bins, float *shares);

}  // namespace cudavision::localhist
