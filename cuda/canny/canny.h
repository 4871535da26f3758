// SPDX-License-Identifier: LGPL-2.1-or-later
// Canny's edge detector: Sobel gradients, non-maximum suppression, double threshold and hysteresis.
//
// J. Canny, "A Computational Approach to Edge Detection", IEEE PAMI 8(6), 1986. The result equals that of cv::Canny
// byte for byte on both backends: every tie, border and rounding is OpenCV's. The division into stages follows
// N. J. Pazos Mendez and D. R. Reyes Mesarra, "Procesamiento de imagenes en GPU" (Organizacion del Computador II).
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"

namespace cudavision {

struct CannyParams {
  // In units of the Sobel operator, 0 to 1e7; swapped if low is the larger. A pixel is weak if its gradient
  // magnitude exceeds low, and strong if it exceeds high.
  double low_threshold = 50, high_threshold = 100;
  int aperture = 3;           // size of the Sobel operator in pixels: 3, 5 or 7
  bool l2_gradient = false;   // magnitude sqrt(dx^2 + dy^2) instead of |dx| + |dy|
  double gaussian_sigma = 0;  // Gaussian smoothing before the gradients: sigma in pixels, 0 (none) to 16
  bool hysteresis = true;     // false: only strong pixels are edges

  friend bool operator==(const CannyParams &, const CannyParams &) = default;
};

struct CannyRanges {
  static constexpr Range<double> low_threshold{0, 1e7}, high_threshold{0, 1e7};
};

// Returns an error that names the first invalid parameter: a threshold outside 0 to 1e7, an aperture other
// than 3, 5 and 7, or a sigma outside GaussianRanges::sigma. NaN is invalid.
Status validate(const CannyParams &params);

// A magnitude |dx| + |dy| that no gradient exceeds, in units of the Sobel operator of that aperture: with a high
// threshold of at least this there are no edges in any picture.
double max_gradient(int aperture);

// Finds edges in pictures up to the size given to make_canny(). Owns its scratch memory. Not thread-safe: use one
// instance per stream.
class Canny {
 public:
  virtual ~Canny() = default;

  // luma: h x w, uint8. edges: h x w, uint8; set to 255 on edges and 0 elsewhere. Both must be in the backend's memory,
  // have at most the size given to make_canny(), and not overlap. input: when luma is complete. Outside the picture
  // luma is replicated and the magnitude is 0, so that pixels on the picture's border can be edges. CUDA: enqueues two
  // kernels (one without hysteresis, and one more with smoothing) and nothing else. Allocates only in the first call
  // that smooths. Errors: invalid parameters, wrong sizes, and errors of the device.
  virtual Status run(ImageView<const std::uint8_t> luma, ImageView<std::uint8_t> edges,
                     const CannyParams &params, Input input = Input::in_stream_order) = 0;
};

// Scratch memory: on the CPU about 1/4 byte per pixel and 1/12 more per thread; on CUDA about 1.2 bytes per
// pixel, which suffices for every picture: nothing can overflow.
Status make_canny(const Execution &execution, Size size, std::unique_ptr<Canny> *canny);

}  // namespace cudavision
