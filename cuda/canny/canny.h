// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny's edge detector: Sobel gradients, non-maximum suppression, double threshold and hysteresis.
//
// Source: "Canny, Hough, Lucas-Kanade and Criminisi on a GPU" for the stages; J. Canny, "A Computational
// Approach to Edge Detection", PAMI 1986. Every tie, border and rounding is that of cv::Canny, whose result
// this equals byte for byte on both backends.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"

namespace cudavision {

struct CannyParams {
  // In units of the Sobel operator; swapped when low is the larger. Weak: magnitude > low, strong: magnitude
  // > high.
  double low_threshold = 50, high_threshold = 100;
  int aperture = 3;           // of the Sobel operator in pixels: 3, 5 or 7
  bool l2_gradient = false;   // magnitude sqrt(dx^2 + dy^2) instead of |dx| + |dy|
  double gaussian_sigma = 0;  // smoothing before all else, in pixels; 0 none; at most 16
  bool hysteresis = true;     // false: strong pixels alone

  friend bool operator==(const CannyParams &, const CannyParams &) = default;
};

// Says which value is out of its range: thresholds must be 0 or more and finite, the aperture 3, 5 or 7.
Status validate(const CannyParams &params);

// Finds edges in pictures of one size. Owns its scratch. Not thread-safe: one per stream.
class Canny {
 public:
  virtual ~Canny() = default;

  // luma: h x w, uint8. edges: h x w, uint8, becomes 255 on edges and 0 elsewhere; may not overlap luma. Both
  // in the backend's memory, of the size given to make_canny. Outside the picture luma is replicated and the
  // magnitude is 0, so that pixels of the frame's border can be edges. CUDA: enqueues three kernels (one
  // without hysteresis; one more for smoothing) and nothing else. Allocates only in the first call that
  // smooths. Errors: invalid parameters or sizes, and the device's own.
  virtual Status run(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
                     const CannyParams &params) = 0;
};

// Scratch: CPU about 1/4 byte per pixel and 1/12 more for each thread, CUDA about 1.2 bytes per pixel (enough
// for every picture: nothing overflows).
Status make_canny(const Execution &execution, Size size, std::unique_ptr<Canny> *canny);

}  // namespace cudavision
