// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of samples.cu: samples of gradients, and the histogram of a model's region.
#pragma once

#include "cuda/common/execution.h"
#include "cuda/localhist/samples.cuh"

namespace cudavision::localhist {

// Enqueues the kernel that computes the samples of a picture's gradients. map must have the size of luma.
template <typename Map>
Status map_gradients(const Execution &execution, ImageView<const std::uint8_t> luma, GradientOperator op,
                     GradientWeight weight, const OrientationTable &table, ImageView<Map> map, Input input);

// Enqueues the kernel that computes the shares of a region's histogram; see LocalHist::take_model.
template <typename Source>
Status take_shares(const Execution &execution, const Source &source, Region region, int bins, float *shares);

}  // namespace cudavision::localhist
