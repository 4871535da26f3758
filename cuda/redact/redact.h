// SPDX-License-Identifier: LGPL-2.1-or-later
// Hides parts of a frame in place: fills, pixelates or blurs them. Both backends give the same bytes.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/common/execution.h"
#include "cuda/common/frame.h"
#include "cuda/common/image.h"
#include "cuda/common/range.h"
#include "cuda/inpaint/removal_mask.h"

namespace cudavision {

enum class RedactMode {
  fill,      // one colour
  pixelate,  // a box is divided into cells, and each cell gets its mean colour
  blur,      // hidden pixels are smoothed as by cv::GaussianBlur
};
enum class RedactShape { box, ellipse };

struct RedactParams {
  RedactMode mode = RedactMode::fill;
  RedactShape shape = RedactShape::box;
  Color color{{0, 0, 0}, 255};  // for fill, in the components of the frame; alpha is ignored
  int cells = 6;                // for pixelate and blur: at most this many along the longer side of a box
  double strength = 0;          // for blur: the standard deviation of the Gaussian in samples; 0: two cells
  int dilation = 0;             // boxes and masks grow by this many pixels in every direction
  bool inverse = false;         // hides everything but the targets

  friend bool operator==(const RedactParams &, const RedactParams &) = default;
};

struct RedactRanges {
  static constexpr Range<int> cells{1, 32};
  static constexpr Range<double> strength{1, 64};
  static constexpr Range<int> dilation = RemovalRanges::dilation;
  static constexpr Range<int> edge{-16384, 32767};  // the edges of a box, in pixels
};
constexpr int kMostRedactBoxes = 1024, kMostRedactMasks = 8;
constexpr int kLeastCellSide = 4;  // the least side of a cell of RedactMode::pixelate, in pixels

// Fails if a parameter is out of its range.
Status validate(const RedactParams &params);

// A map in the backend's memory. If its element (i, j) is not 0, it selects a square of step x step pixels, whose upper
// left pixel is (x + i * step, y + j * step).
struct RedactMask {
  ImageView<const std::uint8_t> bytes;
  int x = 0, y = 0, step = 1;
};

struct RedactTargets {
  const Region *boxes = nullptr;      // in host memory; may reach beyond the frame, up to RedactRanges::edge
  int box_count = 0;                  // at most kMostRedactBoxes
  const RedactMask *masks = nullptr;  // the structs are in host memory
  int mask_count = 0;                 // at most kMostRedactMasks
  Region limit;                       // see run(); width 0: no limit
  // A byte a pixel in the backend's memory, or no data: pixels whose byte is not 0 are hidden whatever else selects.
  ImageView<const std::uint8_t> always = {};
  bool fields = false;  // the rows of the frame belong to two fields in turn, or may do so
};

// Works on frames of one size. Not thread-safe: use one instance per stream.
class Redact {
 public:
  virtual ~Redact() = default;

  // Hides pixels of the frame. A pixel is selected if it lies in the limit, and in a box or a mask that has grown by
  // `dilation` (RedactShape::ellipse: in the ellipse that touches the four sides of the grown box). Selected pixels are
  // hidden or, with `inverse`, the pixels in the limit that are not selected; and those of `always`. Pixels that share
  // a chroma sample with a hidden pixel are hidden, too, even outside the limit; with `fields`, rows of 4:2:0 share
  // chroma with the next row but one, so that four rows are hidden together. All samples of hidden pixels are replaced;
  // no other byte of the frame changes. Where boxes overlap, the last one counts.
  // pixelate: the box, rounded outwards to whole chroma samples and clipped to the frame, is divided into square cells
  // from its upper left corner on. Their side is the shortest with which at most `cells` cells lie along the longer
  // side of the box, but at least kLeastCellSide pixels, and a whole number of chroma samples. Hidden pixels get the
  // mean of their cell, rounded to nearest, half to even, as by cv::resize with INTER_AREA. Masks, `always` and
  // `inverse` use the cells of a box that is the whole frame.
  // blur: hidden pixels get the samples of smoothed components. Each component is smoothed as a whole, as by
  // cv::GaussianBlur, with a standard deviation of `strength` samples (also if it is subsampled) or, if that is 0, of
  // two cells: twice the longer side of the largest box (as for pixelate; with `inverse` or without boxes: of the
  // frame) divided by `cells`, but at least 1. If that is more than GaussianRanges::sigma.most, the means of squares of
  // n x n samples are smoothed with an n-th of it, for the smallest possible n, and all samples of a square get its
  // smoothed mean.
  // map: height x width bytes in the backend's memory, or no data: set to 255 where a pixel is hidden, to 0 elsewhere.
  // CUDA: enqueues the copy of the boxes, and one kernel; for pixelate one more; for blur the kernels of the Gaussians,
  // and one more for each component that is not a plane; for masks one more, and three more with dilation. The stream
  // must be synchronised before the next call. Errors: parameters out of their ranges, too many targets, boxes beyond
  // RedactRanges::edge, images of another size, and errors of the device.
  virtual Status run(const Frame &frame, const RedactTargets &targets, const RedactParams &params,
                     ImageView<std::uint8_t> map = {}) = 0;
};

// Scratch memory, allocated by the first run() that needs it: 48 bytes per box; for pixelate 3 bytes per cell; for blur
// two bytes per sample; for masks a byte per pixel, and two more with dilation; on the CPU, for `inverse` without a
// map, a byte per pixel.
Status make_redact(const Execution &execution, Size size, std::unique_ptr<Redact> *redact);

}  // namespace cudavision
