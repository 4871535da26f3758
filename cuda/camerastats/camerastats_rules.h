// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic of a pixel and of a cell, for both backends.
#pragma once

#include "cuda/camerastats/camerastats.h"
#include "cuda/common/host_device.h"

namespace cudavision::camerastats {

CUDAVISION_HOST_DEVICE constexpr int laplacian(int up, int left, int here, int right, int down) {
  return up + left + right + down - 4 * here;
}

using SmallSums = CameraSumsOf<int>;  // of few pixels

// Adds a pixel. The Laplacians and values are of this frame and the one before.
template <typename T>
CUDAVISION_HOST_DEVICE inline void add_pixel(CameraSumsOf<T> *sums, int now, int before, int value_now,
                                             int value_before, int noise) {
  const int difference = value_now < value_before ? value_before - value_now : value_now - value_before;
  sums->laplacian += now;
  sums->laplacian_square += now * now;
  sums->laplacian_common += now * before;
  sums->changed += difference > noise;
  sums->difference += difference > noise ? 0 : difference;
}

template <typename T>
CUDAVISION_HOST_DEVICE inline void add_sums(CameraSums *sums, const CameraSumsOf<T> &more) {
  sums->laplacian += more.laplacian;
  sums->laplacian_square += more.laplacian_square;
  sums->laplacian_common += more.laplacian_common;
  sums->changed += more.changed;
  sums->difference += more.difference;
}

// The mean of a cell, of whose pixels the sum is given. x, y: its first pixel.
CUDAVISION_HOST_DEVICE constexpr std::uint8_t cell_mean(int sum, int x, int y, Size picture) {
  const int width = picture.width - x < kCameraCell ? picture.width - x : kCameraCell,
            height = picture.height - y < kCameraCell ? picture.height - y : kCameraCell,
            count = width * height;
  return static_cast<std::uint8_t>((sum + count / 2) / count);
}

}  // namespace cudavision::camerastats
