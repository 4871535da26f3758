// SPDX-License-Identifier: LGPL-2.1-or-later
// What tells whether a camera is all right: exact sums over the luma of a frame and of the frame before it, a
// histogram, and a small picture. Both backends give the same integers.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

constexpr int kCameraCell = 8;  // a square of so many pixels on each side is one pixel of the small picture

// L is the Laplacian of a pixel: the sum of its four neighbours minus four times itself, as cv::Laplacian computes with
// ksize = 1 and the border BORDER_REFLECT_101. d is the absolute difference of a pixel to the frame before.
template <typename T>
struct CameraSumsOf {
  T laplacian;         // the sum of L
  T laplacian_square;  // of L * L
  T laplacian_common;  // of L times the L of the frame before: noise, which differs, adds nothing to it
  T changed;           // the number of pixels whose d is above `noise`
  T difference;        // the sum of d over all other pixels

  friend bool operator==(const CameraSumsOf &, const CameraSumsOf &) = default;
};
using CameraSums = CameraSumsOf<std::int64_t>;

struct CameraNumbers {
  CameraSums sums;
  std::uint32_t histogram[256];  // the number of pixels of each value

  friend bool operator==(const CameraNumbers &, const CameraNumbers &) = default;
};

struct CameraStatsRanges {
  static constexpr Range<int> noise{0, 255};
};

// The number of cells that cover a picture; those at the right and at the bottom may be smaller.
constexpr Size camera_cells(Size picture) {
  return {divide_up(picture.width, kCameraCell), divide_up(picture.height, kCameraCell)};
}

// Keeps a copy of the last frame. Not thread-safe: use one per stream.
class CameraStats {
 public:
  virtual ~CameraStats() = default;
  // Sets *numbers, and the camera_cells() of `cells`, row by row without padding, to the means of their pixels, with
  // halves rounded up. All lie in the backend's memory and must not overlap. Without a frame before, the luma itself
  // takes its place. Fails, and writes nothing, if the luma has another size or `noise` is out of its range. CUDA:
  // enqueues one kernel.
  virtual Status run(ImageView<const std::uint8_t> luma, int noise, CameraNumbers *numbers,
                     std::uint8_t *cells) = 0;
  // Forgets the frame before.
  virtual void restart() = 0;
};

// Scratch memory: two copies of the luma.
Status make_camerastats(const Execution &execution, Size size, std::unique_ptr<CameraStats> *stats);

}  // namespace cudavision
