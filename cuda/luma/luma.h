// SPDX-License-Identifier: LGPL-2.1-or-later
// The 8-bit luma of a frame: its Y as it is, or from R, G and B what cv::cvtColor computes.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

constexpr int kRedWeight = 9798, kGreenWeight = 19235, kBlueWeight = 3735;  // their sum is 2^15

// ITU-R BT.601 luma in Q15, rounded half up, whatever the frame's colorimetry: cv::COLOR_RGB2GRAY.
CUDAVISION_HOST_DEVICE constexpr std::uint8_t luma_of_rgb(int r, int g, int b) {
  return static_cast<std::uint8_t>((kRedWeight * r + kGreenWeight * g + kBlueWeight * b + 16384) >> 15);
}

// luma: h x w, uint8, becomes the luma of the pixels of frame; both of one size and in the backend's memory,
// not overlapping. A frame whose luma is a plane of its own (Frame::has_luma_plane) is analysed in place
// rather than copied; this call copies it all the same. CUDA: enqueues one kernel. Errors: sizes that differ,
// and the device's own.
Status extract_luma(const Execution &execution, const Frame &frame, ImageView<std::uint8_t> luma);

}  // namespace cudavision
