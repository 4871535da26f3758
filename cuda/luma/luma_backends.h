// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends of luma extraction, and the host code that they share.
#pragma once

#include <algorithm>

#include "cuda/luma/luma.h"

namespace cudavision::luma {

// A packed RGB frame. A pixel has step_bytes bytes (3 or 4), and the first pixel begins at `first`.
// weights[i] is the luma weight of byte i of a pixel: 0 for alpha and padding.
struct PackedRgb {
  const std::uint8_t *first;
  std::ptrdiff_t pitch_bytes;
  int step_bytes;
  int weights[4];

  explicit PackedRgb(const Frame &frame) {
    const Component *c = frame.component;
    first = std::min({c[0].data, c[1].data, c[2].data});
    pitch_bytes = c[0].pitch_bytes;
    step_bytes = c[0].step_bytes;
    for (int &weight : weights) weight = 0;
    weights[c[0].data - first] = kRedWeight;
    weights[c[1].data - first] = kGreenWeight;
    weights[c[2].data - first] = kBlueWeight;
  }
};

decltype(extract_luma) extract_luma_cpu, extract_luma_cuda;

}  // namespace cudavision::luma
