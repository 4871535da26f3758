// SPDX-License-Identifier: LGPL-2.1-or-later
// Extracts the 8-bit luma of a frame: Y, as is or expanded to full range, or computed from RGB as cv::cvtColor does.
#pragma once

#include <cstdint>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/host_device.h"
#include "cuda/common/image.h"

namespace cudavision {

// The weights of R, G and B in Q15; their sum is 2^15.
constexpr int kRedWeight = 9798, kGreenWeight = 19235, kBlueWeight = 3735;

// The luma of ITU-R BT.601, rounded half up, as cv::COLOR_RGB2GRAY computes it. The colorimetry of the frame
// does not matter.
CUDAVISION_HOST_DEVICE constexpr std::uint8_t luma_of_rgb(int r, int g, int b) {
  return static_cast<std::uint8_t>((kRedWeight * r + kGreenWeight * g + kBlueWeight * b + 16384) >> 15);
}

enum class LumaRange {
  as_is,
  full,  // Y is expanded from the limited to the full range; the luma of RGB is not changed
};

// The full-range value of a limited-range Y: (y - 16) * 255 / 219, limited to 0 to 255 and rounded to nearest. (The
// quotient is never halfway between two integers.)
CUDAVISION_HOST_DEVICE constexpr std::uint8_t full_range_luma(std::uint8_t y) {
  const int above = y < 16 ? 0 : y > 235 ? 219 : y - 16;
  return static_cast<std::uint8_t>((above * 510 + 219) / 438);
}

// Writes the luma of the frame's pixels to `luma`. Both images must have the same size, be in the backend's memory and
// not overlap. If the luma is a separate plane of the frame (Frame::has_luma_plane()), callers can read this plane
// instead; this function would copy it. CUDA: enqueues one kernel. Errors: different sizes, and errors of the device.
Status extract_luma(const Execution &execution, const Frame &frame, ImageView<std::uint8_t> luma,
                    LumaRange range = LumaRange::as_is);

}  // namespace cudavision
