// SPDX-License-Identifier: LGPL-2.1-or-later
// Hides parts of a frame in place: fills them with a colour, or makes them coarse or blurred. Both backends give the same
// bytes.
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
  pixelate,  // the mean of each cell of the box
  blur,      // the frame as cv::GaussianBlur smooths it
};
enum class RedactShape { box, ellipse };

struct RedactParams {
  RedactMode mode = RedactMode::fill;
  RedactShape shape = RedactShape::box;
  Color color{{0, 0, 0}, 255};  // of fill, in the components of the frame; its opacity does not count
  int cells = 6;                // of pixelate: at most this many along the longer side of a box
  double strength = 32;         // of blur: the standard deviation of the Gaussian in samples
  int dilation = 0;             // boxes and masks grow by this many pixels in every direction
  bool inverse = false;         // hides everything but the targets

  friend bool operator==(const RedactParams &, const RedactParams &) = default;
};

struct RedactRanges {
  static constexpr Range<int> cells{1, 32};
  static constexpr Range<double> strength{1, 64};
  static constexpr Range<int> dilation = RemovalRanges::dilation;
  static constexpr Range<int> edge{-16384, 32767};  // of a box, in pixels
};
constexpr int kMostRedactBoxes = 1024, kMostRedactMasks = 8;
constexpr int kLeastCellSide = 8;  // pixels of a cell of RedactMode::pixelate

// Fails if a parameter is out of its range.
Status validate(const RedactParams &params);

// A map in the backend's memory: its element (i, j) stands for step x step pixels from (x + i step, y + j step) on, which
// are selected if it is not 0.
struct RedactMask {
  ImageView<const std::uint8_t> bytes;
  int x = 0, y = 0, step = 1;
};

struct RedactTargets {
  const Region *boxes = nullptr;      // in host memory; may leave the frame within RedactRanges::edge
  int box_count = 0;                  // at most kMostRedactBoxes
  const RedactMask *masks = nullptr;  // the structs are in host memory
  int mask_count = 0;                 // at most kMostRedactMasks
  Region limit;                       // no pixel outside of it is selected or hidden; width 0: no limit
};

// Works on frames of one size. Not thread-safe: use one instance per stream.
class Redact {
 public:
  virtual ~Redact() = default;

  // A pixel is selected if it lies in the limit, and in a box (RedactShape::ellipse: in the ellipse that touches the four
  // sides of the box) or mask that has grown by `dilation`. Hidden are the selected pixels, with `inverse` all others in the
  // limit, and all pixels that share a chroma sample with one of them. All samples of hidden pixels are replaced, and no
  // other byte of the frame changes. If boxes overlap, the last one counts.
  // pixelate: the box, grown to whole chroma samples and cut at the edges of the frame, is divided into squares from its upper
  // left corner on. Their sides are as short as they can be so that at most `cells` squares lie along the longer side, but
  // they have kLeastCellSide pixels at least, and hold whole chroma samples. Each square becomes its mean, rounded to the
  // nearest and half to even as by cv::resize with INTER_AREA. The squares of masks and of `inverse` are those of a box that
  // is the frame.
  // blur: each component as cv::GaussianBlur smooths the whole of it with a standard deviation of `strength` samples, also of
  // subsampled chroma. Above GaussianRanges::sigma.most, it is smoothed n times with strength / sqrt(n), for the least n.
  // map: height x width bytes in the backend's memory, set to 255 where a pixel is hidden, and to 0 elsewhere; may be without
  // data. CUDA: enqueues the copy of the boxes, and 1 kernel; for pixelate one more; for blur the kernels of the Gaussians and
  // one more for each component that is no plane; for masks one more, and three more if they grow. The stream must be
  // synchronised before the next call. Errors: parameters out of their ranges, too many targets, boxes beyond
  // RedactRanges::edge, images of another size, and errors of the device.
  virtual Status run(const Frame &frame, const RedactTargets &targets, const RedactParams &params,
                     ImageView<std::uint8_t> map = {}) = 0;
};

// Scratch memory: 48 bytes per box. The first run() that needs more allocates it, for pixelate the means of all cells, for
// blur two bytes per sample, for masks a byte per pixel, and two more if they grow. On
// the CPU, `inverse` takes a byte per pixel.
Status make_redact(const Execution &execution, Size size, std::unique_ptr<Redact> *redact);

}  // namespace cudavision
