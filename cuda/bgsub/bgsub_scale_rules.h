// SPDX-License-Identifier: LGPL-2.1-or-later
// One pixel of a reduced picture.
#pragma once

#include "cuda/bgsub/bgsub_scale.h"
#include "cuda/common/host_device.h"

namespace cudavision::bgsub {

// The mean of channel c over the square of the reduced pixel (x, y).
CUDAVISION_HOST_DEVICE inline std::uint8_t mean_of_square(const BgsubPicture &picture, int scale, int x,
                                                          int y, int c) {
  int sum = 0, count = 0;
  for (int py = y * scale; py < (y + 1) * scale && py < picture.height; ++py)
    for (int px = x * scale; px < (x + 1) * scale && px < picture.width; ++px) {
      sum += picture.data[py * picture.pitch_bytes + px * picture.step_bytes + c];
      ++count;
    }
  return static_cast<std::uint8_t>((sum + count / 2) / count);
}

}  // namespace cudavision::bgsub
